"""Rows of tables that are read at first, as records that say which is the first and the last."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from moldau.connect.connectors.capture.cells import Cells
from moldau.connect.connectors.capture.envelope import EnvelopeWriter, snapshot_marker
from moldau.connect.connectors.capture.places import Place
from moldau.connect.connectors.capture.tables import CapturedTable
from moldau.connect.data.record import ConnectRecord, FixedStruct


@dataclass(slots=True)
class SnapshotRow:
    """One row, and whether it is the first or last of its table."""

    table: CapturedTable
    cells: Cells
    is_first_of: bool
    is_last_of: bool


def rows_of(
    table: CapturedTable, found: Iterable[Cells], *, begins: bool = True, ends: bool = True
) -> Iterator[SnapshotRow]:
    """All rows of a table, or of a part that begins or ends it, or neither."""
    held: Cells | None = None
    is_first = begins
    for cells in found:
        if held is not None:
            yield SnapshotRow(table, held, is_first, is_last_of=False)
            is_first = False
        held = cells
    if held is not None:
        yield SnapshotRow(table, held, is_first, is_last_of=ends)


class SnapshotRecords:
    """The records of rows, taken as many at a time as are wanted."""

    def __init__(
        self,
        rows: Iterator[SnapshotRow],
        records: EnvelopeWriter,
        place: Place,
        *,
        begins: bool = True,
        ends: bool = True,
    ) -> None:
        """The rows are all of a snapshot, or a part that begins or ends it, or neither."""
        self._rows = rows
        self._records = records
        self._place = place
        self._next: SnapshotRow | None = next(rows, None)
        self._is_first, self._ends = begins, ends
        self._table: CapturedTable | None = None
        self._sources: dict[str, FixedStruct] = {}
        """What rows of the table say of where they are from, by their markers."""

    @property
    def is_complete(self) -> bool:
        """Whether all were taken."""
        return self._next is None

    def take(self, count: int) -> Iterator[ConnectRecord]:
        """So many at most."""
        for _ in range(count):
            row = self._next
            if row is None:
                return
            self._next = next(self._rows, None)
            marker = snapshot_marker(
                is_first=self._is_first,
                is_last=self._ends and self._next is None,
                is_first_of=row.is_first_of,
                is_last_of=row.is_last_of,
            )
            self._is_first = False
            yield self._records.snapshot(row.table, row.cells, self._source(row.table, marker))

    def _source(self, table: CapturedTable, marker: str) -> FixedStruct:
        if table is not self._table:
            self._table, self._sources = table, {}
        found = self._sources.get(marker)
        if found is None:
            found = self._records.snapshot_source(table, self._place, marker)
            self._sources[marker] = found
        return found
