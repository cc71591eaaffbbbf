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
    quoted_name,
    quoted_table,
)
from moldau.connect.connectors.postgresql.copy_text import row_cells
from moldau.connect.connectors.postgresql.frames import lsn_of
from moldau.connect.connectors.postgresql.parallel_rows import ParallelRows, ReadTable
from moldau.connect.connectors.postgresql.server import DatabaseServer
from moldau.connect.connectors.postgresql.table_parts import (
    TableCut,
    TablePart,
    cut_table,
    is_partitioned,
)
from moldau.connect.connectors.postgresql.table_schema import CapturedColumn
from moldau.connect.errors import ConfigError

_log = logging.getLogger(__name__)

_MOMENT = """
SELECT pg_current_snapshot()::text, pg_snapshot_xmax(pg_current_snapshot())::text,
  (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
  (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_receive_lsn()
   ELSE pg_current_wal_insert_lsn() END)::text
"""
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


@dataclass(frozen=True, slots=True)
class _Read:
    """How a table is read; without columns, or if it is gone, it is none."""

    table: CapturedTable | None
    select: str


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
        self._known: dict[TableName, _Read] = {}
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

    def share(self) -> str:
        """The name under which others can take over what is seen, until `close`."""
        ((name,),) = self._server.rows(self._connection, "SELECT pg_export_snapshot()")
        return str(name)

    def cut(self, tables: Sequence[TableName]) -> tuple[list[TableCut], list[TableName]]:
        """Parts of tables, which nobody rewrites until `close`; and tables that have no parts."""
        found: list[TableCut] = []
        rest: list[TableName] = []
        for each in tables:
            only = "" if is_partitioned(self._server, self._connection, each) else "ONLY "
            self._server.run(
                self._connection, f"LOCK TABLE {only}{quoted_table(each)} IN ACCESS SHARE MODE"
            )
            cut = cut_table(self._server, self._connection, each)
            if cut is None:
                rest.append(each)
            elif len(cut):
                found.append(cut)
        return found, rest

    def part_rows(self, part: TablePart, make: MakeTable) -> Iterator[SnapshotRow]:
        """The rows of a part of a table that stays as it is."""
        known = self._known.get(part.table)
        if known is None:
            known = self._known[part.table] = self._read(part.table, make)
            # A range of blocks may look like much to the planner, if the table has few.
            self._server.run(self._connection, "SET LOCAL enable_seqscan = off")
        if known.table is not None:
            cells = self._copied(f"{known.select} WHERE {part.condition}")
            yield from rows_of(known.table, cells, begins=part.begins, ends=part.ends)

    def rows(
        self, tables: Sequence[TableName], make: MakeTable, threads: int = 1
    ) -> Iterator[SnapshotRow]:
        """All rows, read as they are taken, so memory has a bound.

        Table after table, or so many at a time by connections that share the moment.
        """
        count = min(threads, len(tables))
        if count > 1:
            name = self.share()
            self._others = ParallelRows(tables, count, lambda: self._reader(name, make))
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
        found = self._read(name, make)
        if found.table is not None:
            _log.info("reading table %s", name)
            yield from rows_of(found.table, self._copied(found.select))

    def _read(self, name: TableName, make: MakeTable) -> "_Read":
        columns, key = self._catalog.columns(name), self._catalog.key(name)
        if not columns:
            return _Read(None, "")
        listed = ", ".join(quoted_name(each.name) for each in columns)
        only = "" if is_partitioned(self._server, self._connection, name) else "ONLY "
        select = f"SELECT {listed} FROM {only}{quoted_table(name)}"  # noqa: S608 - quoted
        return _Read(make(name, columns, key), select)

    def _copied(self, select: str) -> Iterator[Cells]:
        statement = f"COPY ({select}) TO STDOUT"
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
