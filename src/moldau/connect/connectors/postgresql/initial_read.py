"""The first part of a capture: rows of all tables as batches, each with an offset of its own."""

from collections.abc import Mapping
from dataclasses import dataclass

from moldau.connect.connector import SourceBatch
from moldau.connect.connectors.capture.snapshot_rows import SnapshotRecords
from moldau.connect.connectors.postgresql.capture import Capture
from moldau.connect.connectors.postgresql.places import LogPlace
from moldau.connect.connectors.postgresql.position import VisibleTransactions, snapshot_offset
from moldau.connect.connectors.postgresql.snapshot import SnapshotMoment, TableSnapshot


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


class InitialRead:
    """Gives batches until all rows were given."""

    def __init__(self, capture: Capture, start: ReadFrom) -> None:
        self._capture = capture
        self._start = start
        tables = [each for each in capture.tables() if capture.filters.in_snapshot(each)]
        moment = start.moment
        self._place = LogPlace(start.lsn, None, moment.tx_id, moment.time_us)
        rows = start.snapshot.rows(tables, capture.table, capture.settings.threads)
        self._records = SnapshotRecords(rows, capture.records, self._place)
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
        return SourceBatch([], self.offset(), records)

    def offset(self) -> dict[str, object]:
        """Where a reader goes on that is made after this batch."""
        moment = {
            "ts_usec": self._place.time_us,
            "txId": self._place.tx_id,
            "lsn": self._place.lsn,
        }
        start = self._start
        return snapshot_offset(moment, start.before, start.visible, is_complete=self.is_complete)

    def close(self) -> None:
        """Give up."""
        self._start.snapshot.close()
