"""The first read, shared out: the worker reads the first part of all tables, and the last one.

Between these, other tasks read all others, on connections that share the snapshot. So the
record that is marked as the first one is stored before all others, and the one that is marked as
the last one after them, with the offset that says that all is read.
"""

import logging
from collections.abc import Sequence
from itertools import chain

from moldau.connect.connector import Offset, ReaderLender, Readers, SourceBatch, reader_partition
from moldau.connect.connectors.capture.snapshot_rows import SnapshotRecords
from moldau.connect.connectors.capture.tables import TableName
from moldau.connect.connectors.postgresql.capture import Capture
from moldau.connect.connectors.postgresql.initial_read import InitialRead, ReadFrom
from moldau.connect.connectors.postgresql.part_source import PartSource, SharedParts
from moldau.connect.connectors.postgresql.position import VisibleTransactions
from moldau.connect.connectors.postgresql.table_parts import TableParts

_log = logging.getLogger(__name__)

_OF_WORKER = 2
"""Parts that are not shared out: the first one and the last one."""


def first_read(
    capture: Capture, start: ReadFrom, lender: ReaderLender | None
) -> "InitialRead | SharedRead":
    """Shared out, if there are readers, and enough to read."""
    wanted = capture.settings.threads
    if lender is None or wanted == 1:
        return InitialRead(capture, start)
    cuts, rest = start.snapshot.cut(capture.tables_read_first())
    parts = TableParts(cuts)
    if len(parts) <= _OF_WORKER:
        return InitialRead(capture, start)
    count = min(wanted or lender.count(), len(parts) - _OF_WORKER)
    shared = SharedParts(start.snapshot.share(), start.place, parts, count)
    partition = {"server": capture.settings.prefix}
    readers = lender.begin(
        PartSource,
        {**capture.config, **shared.setting()},
        [reader_partition(partition, number) for number in shared.numbers],
    )
    _log.info(
        "tables are read in %d parts by %d tasks; as a whole by the worker: %s",
        *(len(parts), count, ", ".join(map(str, rest)) or "none"),
    )
    return SharedRead(capture, start, shared, rest, readers)


class SharedRead:
    """States: the first part, the readers' parts, what is left, complete."""

    def __init__(
        self,
        capture: Capture,
        start: ReadFrom,
        shared: SharedParts,
        rest: Sequence[TableName],
        readers: Readers,
    ) -> None:
        """`rest` are tables that have no parts: they are read as a whole, before the last part."""
        self._capture, self._start = capture, start
        self._shared, self._rest = shared, rest
        self._readers = readers
        rows = start.snapshot.part_rows(shared.parts.part(0), capture.table)
        self._records = SnapshotRecords(rows, capture.records, start.place, ends=False)
        self._is_read_by_others = False
        self.is_complete = False

    @property
    def visible(self) -> VisibleTransactions | None:
        """What the stream leaves out."""
        return self._start.visible

    def batch(self, limit: int) -> SourceBatch | None:
        """The next rows, so many at most; None while others read."""
        if self._records.is_complete and not self._is_read_by_others:
            if self._readers.step():
                return None
            self._is_read_by_others = True
            self._records = self._left()
        count = min(limit, self._capture.settings.limits.batch_rows)
        records = list(self._records.take(count))
        self.is_complete = self._is_read_by_others and self._records.is_complete
        if self.is_complete:
            self.close()
        return SourceBatch([], self.offset(), records, others=self._others())

    def offset(self) -> dict[str, object]:
        """Where a reader goes on that is made after a batch."""
        if self.is_complete:
            return self._start.offset(is_complete=True)
        readers = max(self._shared.readers, self._start.former_readers)
        return self._start.offset(is_complete=False, readers=readers)

    def close(self) -> None:
        """Give up."""
        self._readers.close()
        self._start.snapshot.close()

    def _others(self) -> dict[int, Offset | None]:
        """ReaderLender' offsets are there before they begin, and gone once all is read."""
        if self._is_read_by_others:
            return dict.fromkeys(self._shared.numbers) if self.is_complete else {}
        begun = dict.fromkeys(self._shared.numbers, self._shared.start())
        return {**self._start.forgotten, **begun}

    def _left(self) -> SnapshotRecords:
        snapshot, make = self._start.snapshot, self._capture.table
        parts = self._shared.parts
        rows = chain(
            snapshot.rows(self._rest, make), snapshot.part_rows(parts.part(len(parts) - 1), make)
        )
        return SnapshotRecords(rows, self._capture.records, self._start.place, begins=False)
