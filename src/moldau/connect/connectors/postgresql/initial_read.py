"""The first part of a capture: rows of all tables as batches, each with an offset of its own."""

from collections.abc import Mapping
from dataclasses import dataclass

from moldau.connect.connector import Offset, SourceBatch
from moldau.connect.connectors.capture.snapshot_rows import SnapshotRecords
from moldau.connect.connectors.postgresql.capture import Capture
from moldau.connect.connectors.postgresql.places import LogPlace
from moldau.connect.connectors.postgresql.position import VisibleTransactions, snapshot_offset
from moldau.connect.connectors.postgresql.snapshot import SnapshotMoment, TableSnapshot

READERS = "moldau_readers"
"""In an offset: how many readers share the work, whose offsets are stored with it."""


@dataclass(frozen=True, slots=True)
class ReadFrom:
    """Which moment is read, and how the stream goes on."""

    snapshot: TableSnapshot
    moment: SnapshotMoment
    lsn: int
    """What records and offsets name."""
    before: Mapping[str, object]
    """The offset that the stream goes on from."""
    visible: VisibleTransactions | None
    """What the stream leaves out."""
    former_readers: int = 0
    """How many readers there were of a read before this one, which was cut short."""

    @property
    def place(self) -> LogPlace:
        """What records say of it."""
        return LogPlace(self.lsn, None, self.moment.tx_id, self.moment.time_us)

    @property
    def forgotten(self) -> dict[int, Offset | None]:
        """Offsets that mean nothing from now on."""
        return {number + 1: None for number in range(self.former_readers)}

    def offset(self, *, is_complete: bool, readers: int = 0) -> dict[str, object]:
        """Where a reader goes on that is made after a batch."""
        moment = {"ts_usec": self.moment.time_us, "txId": self.moment.tx_id, "lsn": self.lsn}
        found = snapshot_offset(moment, self.before, self.visible, is_complete=is_complete)
        return {**found, READERS: readers} if readers else found


class InitialRead:
    """Gives batches until all rows were given."""

    def __init__(self, capture: Capture, start: ReadFrom) -> None:
        self._capture = capture
        self._start = start
        rows = start.snapshot.rows(
            capture.tables_read_first(), capture.table, capture.settings.threads or 1
        )
        self._records = SnapshotRecords(rows, capture.records, start.place)
        self.is_complete = False

    @property
    def visible(self) -> VisibleTransactions | None:
        """What the stream leaves out."""
        return self._start.visible

    def batch(self, limit: int) -> SourceBatch:
        """The next rows, so many at most; the last batch says that it is."""
        count = min(limit, self._capture.settings.limits.batch_rows)
        records = list(self._records.take(count))
        self.is_complete = self._records.is_complete
        if self.is_complete:
            self._start.snapshot.close()
        offset = self._start.offset(is_complete=self.is_complete)
        return SourceBatch([], offset, records, others=self._start.forgotten)

    def close(self) -> None:
        """Give up."""
        self._start.snapshot.close()
