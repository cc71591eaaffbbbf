"""The rows of all tables at one moment, and the place in the log that belongs to it.

MariaDB says the place of a transaction's snapshot by itself. MySQL has to be locked for a moment
(`FLUSH TABLES WITH READ LOCK`), so that nothing is written between the snapshot and the question
for the place. Engines without transactions have no snapshot: their tables are read as they are
then, unless the lock is kept until all is read (`snapshot.locking.mode=extended`).
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence

from moldau.connect.connectors.capture.cells import Cells
from moldau.connect.connectors.capture.snapshot_rows import SnapshotRow, rows_of
from moldau.connect.connectors.capture.tables import CapturedTable, TableName
from moldau.connect.connectors.mariadb.catalog import KnownColumn, KnownTable, ServerCatalog
from moldau.connect.connectors.mariadb.event_reading import json_as_logged
from moldau.connect.connectors.mariadb.gtids import MariaDbGtids, gtids_of
from moldau.connect.connectors.mariadb.position import BinlogPosition
from moldau.connect.connectors.mariadb.row_images import bits_text
from moldau.connect.connectors.mariadb.server import (
    Connection,
    MariaDbServer,
    ServerFacts,
)
from moldau.connect.errors import RetriableConnectError

_log = logging.getLogger(__name__)

MakeTable = Callable[[TableName, Sequence[KnownColumn], Sequence[str]], CapturedTable]
_TRANSACTIONAL = frozenset({"InnoDB", "ROCKSDB", "TokuDB"})
_BYTES = frozenset({"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"})
_SHAPES = frozenset(
    {
        *("geometry", "point", "linestring", "polygon", "multipoint", "multilinestring"),
        *("multipolygon", "geometrycollection"),
    }
)
_LOCK = "FLUSH TABLES WITH READ LOCK"


class ConsistentRead:
    """A transaction that reads; it ends with `close`."""

    def __init__(self, server: MariaDbServer, facts: ServerFacts, locking: str) -> None:
        self._server = server
        self._connection = server.connect()
        self._catalog = ServerCatalog(server, self._connection)
        self._is_locked = locking == "extended"
        locks = self._is_locked or (locking == "minimal" and not facts.is_mariadb)
        try:
            if locks:
                server.run(self._connection, _LOCK)
            server.run(self._connection, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            server.run(self._connection, "START TRANSACTION WITH CONSISTENT SNAPSHOT")
            self.position = snapshot_position(server, self._connection, facts)
            if locks and not self._is_locked:
                server.run(self._connection, "UNLOCK TABLES")
        except BaseException:
            self.close()
            raise
        self.time_s = int(time.time())

    def rows(self, tables: Sequence[KnownTable], make: MakeTable) -> Iterator[SnapshotRow]:
        """All rows, table after table; read as they are taken, so memory has a bound."""
        for each in tables:
            if each.engine not in _TRANSACTIONAL and not self._is_locked:
                _log.warning(
                    "table %s has engine %s, which has no snapshots: rows that change while it is "
                    "read come once more; snapshot.locking.mode=extended keeps changes away",
                    *(each.name, each.engine),
                )
            columns, key = self._catalog.columns(each.name), self._catalog.key(each.name)
            if columns:
                _log.info("reading table %s", each.name)
                yield from rows_of(make(each.name, columns, key), self._cells(each.name, columns))

    def _cells(self, name: TableName, columns: Sequence[KnownColumn]) -> Iterator[Cells]:
        listed = ", ".join(_selected(each) for each in columns)
        statement = f"SELECT {listed} FROM {quoted(name.schema)}.{quoted(name.name)}"  # noqa: S608
        convert = [_text_of(each) for each in columns]
        for row in self._server.streamed(self._connection, statement):
            yield [
                None if value is None else made(value)
                for made, value in zip(convert, row, strict=True)
            ]

    def close(self) -> None:
        """Give the moment up."""
        self._server.close(self._connection)


def snapshot_position(
    server: MariaDbServer, connection: Connection, facts: ServerFacts
) -> BinlogPosition:
    """Of the snapshot that the connection's transaction has, or else of now."""
    if facts.is_mariadb:
        found = server.rows(connection, "SHOW STATUS LIKE 'binlog_snapshot_%'")
        by_name = {str(name).lower(): str(value) for name, value in found}
        file, pos = by_name["binlog_snapshot_file"], int(by_name["binlog_snapshot_position"])
        ((gtids,),) = server.rows(connection, "SELECT BINLOG_GTID_POS(%s, %s)", [file, pos])
        return BinlogPosition(file, pos, gtids_of(gtids or ""))
    return _mysql_position(server, connection, facts)


def _mysql_position(
    server: MariaDbServer, connection: Connection, facts: ServerFacts
) -> BinlogPosition:
    version = facts.variables["version"].split(".")
    is_new = (int(version[0]), int(version[1])) >= (8, 4)
    statement = "SHOW BINARY LOG STATUS" if is_new else "SHOW MASTER STATUS"
    rows = server.rows(connection, statement)
    if not rows:
        raise RetriableConnectError(f"MySQL at {server.name} has no binary log: see log_bin")
    file, pos, *_, gtids = rows[0]
    known = gtids_of((gtids or "").replace("\n", "")) if facts.has_gtids else None
    if isinstance(known, MariaDbGtids):
        known = None  # there is none yet, and an empty set would be MariaDB's
    return BinlogPosition(str(file), int(str(pos)), known)


def quoted(name: str) -> str:
    """A name as SQL writes it, whatever is in it."""
    return "`{}`".format(name.replace("`", "``"))


def _selected(column: KnownColumn) -> str:
    name = quoted(column.name)
    # As it is printed, a number of four bytes has lost its last digits.
    return f"{name} + 0e0" if column.kind.word == "float" else name


def _text_of(column: KnownColumn) -> Callable[[bytes], str]:
    kind = column.kind
    if kind.word in _BYTES or kind.word in _SHAPES:
        return bytes.hex
    if kind.word == "bit":
        return lambda value: bits_text(value, kind.size)
    if kind.word == "json":
        return json_as_logged
    return bytes.decode
