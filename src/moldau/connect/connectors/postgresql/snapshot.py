"""The rows of all tables at one moment, from which the stream of changes goes on without a gap.

The moment is that of the slot's making, if its snapshot can be taken over. If the slot was there
before, it is any later one, and the transactions that it shows are noted: their changes, which
the stream brings as well, are left out by their numbers.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg

from moldau.connect.connectors.capture.cells import Cells
from moldau.connect.connectors.capture.snapshot_rows import SnapshotRow, rows_of
from moldau.connect.connectors.capture.tables import CapturedTable, TableName
from moldau.connect.connectors.postgresql.catalog import (
    Catalog,
    one_value,
    quoted_name,
    quoted_table,
)
from moldau.connect.connectors.postgresql.copy_text import row_cells
from moldau.connect.connectors.postgresql.frames import lsn_of
from moldau.connect.connectors.postgresql.parallel_rows import ParallelRows, ReadTable
from moldau.connect.connectors.postgresql.server import DatabaseServer
from moldau.connect.connectors.postgresql.table_schema import CapturedColumn
from moldau.connect.errors import ConfigError

_log = logging.getLogger(__name__)

_MOMENT = """
SELECT pg_current_snapshot()::text, pg_snapshot_xmax(pg_current_snapshot())::text,
  (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
  (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_receive_lsn()
   ELSE pg_current_wal_insert_lsn() END)::text
"""
_PARTITIONED = "SELECT relkind = 'p' FROM pg_class WHERE oid = to_regclass(%s)"
ISOLATION_LEVELS = {"serializable": "SERIALIZABLE", "repeatable_read": "REPEATABLE READ"}

MakeTable = Callable[[TableName, Sequence[CapturedColumn], Sequence[str]], CapturedTable]


@dataclass(frozen=True, slots=True)
class SnapshotMoment:
    """What a snapshot shows."""

    visible: str
    """As pg_current_snapshot() gives it."""
    tx_id: int
    time_us: int
    lsn: int
    """No transaction that it shows commits after this."""


class TableSnapshot:
    """A transaction that reads; it ends with `close`."""

    def __init__(self, server: DatabaseServer, purpose: str, isolation: str) -> None:
        level = ISOLATION_LEVELS.get(isolation)
        if level is None:
            raise ConfigError(
                f"snapshot.isolation.mode: {isolation} is none of {', '.join(ISOLATION_LEVELS)}; "
                "weaker ones show no single moment"
            )
        self._server, self._purpose, self._isolation = server, purpose, isolation
        self._others: ParallelRows | None = None
        self._connection = server.connect(f"{purpose} snapshot")
        self._catalog = Catalog(server, self._connection)
        server.run(self._connection, f"BEGIN ISOLATION LEVEL {level} READ ONLY")

    def take_over(self, snapshot: str) -> None:
        """See what the slot's snapshot sees."""
        name = snapshot.replace("'", "''")
        self._server.run(self._connection, f"SET TRANSACTION SNAPSHOT '{name}'")

    def moment(self) -> SnapshotMoment:
        """The place of what is seen."""
        ((visible, xmax, time_us, lsn),) = self._server.rows(self._connection, _MOMENT)
        return SnapshotMoment(str(visible), int(str(xmax)), int(str(time_us)), lsn_of(str(lsn)))

    def rows(
        self, tables: Sequence[TableName], make: MakeTable, threads: int = 1
    ) -> Iterator[SnapshotRow]:
        """All rows, read as they are taken, so memory has a bound.

        Table after table, or so many at a time by connections that share the moment.
        """
        count = min(threads, len(tables))
        if count > 1:
            ((name,),) = self._server.rows(self._connection, "SELECT pg_export_snapshot()")
            self._others = ParallelRows(tables, count, lambda: self._reader(str(name), make))
            yield from self._others.rows()
            return
        for each in tables:
            yield from self._rows_of(each, make)

    @contextmanager
    def _reader(self, snapshot: str, make: MakeTable) -> Iterator[ReadTable]:
        """Another connection that sees what this one sees."""
        other = TableSnapshot(self._server, self._purpose, self._isolation)
        try:
            other.take_over(snapshot)
            yield lambda name: other.rows([name], make)
        finally:
            other.close()

    def _rows_of(self, name: TableName, make: MakeTable) -> Iterator[SnapshotRow]:
        columns, key = self._catalog.columns(name), self._catalog.key(name)
        if columns:
            _log.info("reading table %s", name)
            yield from self._table(make(name, columns, key), columns)

    def _table(
        self, table: CapturedTable, columns: Sequence[CapturedColumn]
    ) -> Iterator[SnapshotRow]:
        listed = ", ".join(quoted_name(each.name) for each in columns)
        place = quoted_table(table.name)
        rows = self._server.rows(self._connection, _PARTITIONED, [place])
        only = "" if one_value(rows) else "ONLY "
        statement = f"COPY (SELECT {listed} FROM {only}{place}) TO STDOUT"  # noqa: S608 - quoted
        yield from rows_of(table, self._copied(statement))

    def _copied(self, statement: str) -> Iterator[Cells]:
        try:
            with self._connection.cursor() as cursor, cursor.copy(statement.encode()) as copy:
                for data in copy:
                    yield row_cells(bytes(data))  # each piece is a row
        except psycopg.Error as error:
            raise self._server.failure(error) from error

    def close(self) -> None:
        """Give the moment up."""
        if self._others is not None:
            self._others.close()
        self._connection.close()
