"""Changes of transactions, collected from the events of the log until they are given away.

What is collected ends with a commit, unless a transaction is larger than the limits: then it is
given in parts, each with a place within the transaction. Events that were stored before a restart
are left out; so are tables that nobody wants.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from moldau.connect.connectors.capture.cells import Cells
from moldau.connect.connectors.capture.changes import (
    CREATE,
    DELETE,
    TRUNCATE,
    UPDATE,
    Change,
    RowChange,
    TransactionBegin,
    TransactionCounts,
    TransactionEnd,
    split_key_change,
)
from moldau.connect.connectors.capture.tables import CapturedTable, TableName
from moldau.connect.connectors.mariadb.events import (
    DELETED,
    INSERTED,
    FileBegun,
    GroupBegun,
    GroupEnded,
    Idle,
    LogEvent,
    RowsChanged,
    Statement,
    TableMapped,
)
from moldau.connect.connectors.mariadb.places import BinlogPlace
from moldau.connect.connectors.mariadb.position import BinlogPosition, BinlogProgress
from moldau.connect.connectors.mariadb.row_images import RowDecoder
from moldau.connect.connectors.mariadb.statements import truncated_table
from moldau.connect.errors import ConfigError


@dataclass(frozen=True, slots=True)
class MappedTable:
    """A table that is captured, and what takes its rows apart."""

    table: CapturedTable
    decoder: RowDecoder


@dataclass(frozen=True, slots=True)
class BinlogRules:
    """What is wanted."""

    table_of: Callable[[TableMapped], MappedTable | None]
    """None for a table that is not captured."""
    table_now: Callable[[TableName], CapturedTable | None]
    """As it is now, for a statement that does not name its columns."""
    skipped: frozenset[str] = frozenset({TRUNCATE})
    has_transactions: bool = False
    connector: str = "mariadb"


class BinlogCollector:
    """Takes events, one after the other; `cut` gives what there is."""

    def __init__(self, position: BinlogPosition, rules: BinlogRules) -> None:
        self._rules = rules
        self._progress = BinlogProgress(position)
        self._tables: dict[int, tuple[TableMapped, MappedTable | None]] = {}
        self._changes: list[Change] = []
        self._is_open = False
        self._counts = TransactionCounts()
        self._place = BinlogPlace(position.file, position.pos, 0, None, 0)
        self._has_begun = False
        self.has_moved = False
        """Whether a commit was passed, or a change collected."""
        self.size_bytes = 0
        """Of the events that were collected."""

    def __len__(self) -> int:
        return len(self._changes)

    @property
    def is_within(self) -> bool:
        """Whether the last event is part of a transaction that goes on."""
        return self._is_open

    @property
    def position(self) -> BinlogPosition:
        """The end of the last transaction."""
        return self._progress.position

    @property
    def time_s(self) -> int:
        """When the last transaction was."""
        return self._progress.time_s

    def offset(self) -> dict[str, object]:
        """For what was collected up to here."""
        return self._progress.offset(is_within=self._is_open)

    def cut(self) -> list[Change]:
        """What was collected; it is forgotten here."""
        found, self._changes, self.size_bytes = self._changes, [], 0
        return found

    def take(self, event: LogEvent) -> None:
        """The next event of the log."""
        match event:
            case RowsChanged():
                self._rows(event)
            case TableMapped():
                self._map(event)
            case GroupBegun():
                self._begin(event)
            case GroupEnded():
                self._end(event.end_position)
            case Statement():
                self._statement(event)
            case FileBegun():
                # Ids of tables are given anew when the server starts, and so begins a file.
                self._tables.clear()
                self._progress.file(event.file, event.position)
            case Idle():
                pass

    def _begin(self, event: GroupBegun) -> None:
        self._progress.begin(event.gtid, event.position, event.time_s)
        self._progress.server_id = event.server_id
        self._is_open = True
        self._has_begun, self._counts = False, TransactionCounts()
        file = self._progress.position.file
        self._place = BinlogPlace(
            file,
            event.position,
            event.server_id,
            event.gtid,
            event.time_s * 1_000_000,
            connector=self._rules.connector,
        )

    def _end(self, position: int) -> None:
        if not self._is_open:
            return
        if self._has_begun:
            self._changes.append(TransactionEnd(self._place, dict(self._counts.counts)))
        self._progress.end(position)
        self._is_open = False
        self.has_moved = True

    def _map(self, event: TableMapped) -> None:
        known = self._tables.get(event.id)
        if known is None or known[0] != event:
            self._tables[event.id] = (event, self._rules.table_of(event))

    def _rows(self, event: RowsChanged) -> None:
        is_new = self._progress.event()
        _, mapped = self._tables[event.table_id]
        if mapped is None:
            return
        if not event.is_whole:
            raise ConfigError(
                f"binlog_row_image: changes of {mapped.table.name} have only some of their "
                "columns: set it to FULL"
            )
        rows = mapped.decoder.rows(event.data)
        if event.operation == INSERTED:
            pairs: list[tuple[Cells | None, Cells | None]] = [(None, each) for each in rows]
        elif event.operation == DELETED:
            pairs = [(each, None) for each in rows]
        else:
            pairs = list(zip(rows[::2], rows[1::2], strict=True))
        operation = {INSERTED: CREATE, DELETED: DELETE}.get(event.operation, UPDATE)
        before = len(self._changes)
        for number, (old, new) in enumerate(pairs):
            place = replace(self._place, pos=event.position, row=number)
            has_old = old is not None
            self._add(RowChange(mapped.table, operation, place, old, has_old, new))
        if is_new:
            self.size_bytes += len(event.data)
        else:
            # They count, though they are not given again.
            del self._changes[before:]

    def _statement(self, event: Statement) -> None:
        name = truncated_table(event.text, event.database)
        if name is not None and TRUNCATE not in self._rules.skipped:
            table = self._rules.table_now(name)
            if table is not None:
                self._add(RowChange(table, TRUNCATE, self._place))
        if not event.is_within:
            self._end(event.end_position)

    def _add(self, change: RowChange) -> None:
        for each in split_key_change(change):
            if each.operation in self._rules.skipped:
                continue
            if not self._rules.has_transactions:
                self._changes.append(each)
                continue
            if not self._has_begun:
                self._has_begun = True
                self._changes.append(TransactionBegin(self._place))
            order = self._counts.next(str(each.table.name))
            self._changes.append(replace(each, order=order))
