"""The first part of a capture: rows of all tables as batches, each with an offset of its own."""

from moldau.connect.connector import SourceBatch
from moldau.connect.connectors.capture.snapshot_rows import SnapshotRecords
from moldau.connect.connectors.mariadb.capture import BinlogCapture
from moldau.connect.connectors.mariadb.places import BinlogPlace
from moldau.connect.connectors.mariadb.position import BinlogPosition, snapshot_offset
from moldau.connect.connectors.mariadb.snapshot import ConsistentRead


class TablesRead:
    """Gives batches until all rows were given."""

    def __init__(
        self, capture: BinlogCapture, snapshot: ConsistentRead, position: BinlogPosition
    ) -> None:
        """`position` is where the stream goes on."""
        self._capture = capture
        self._snapshot = snapshot
        self._position = position
        tables = [each for each in capture.tables() if capture.filters.in_snapshot(each.name)]
        seen = snapshot.position
        place = BinlogPlace(
            seen.file, seen.pos, 0, None, snapshot.time_s * 1_000_000, connector=capture.connector
        )
        rows = snapshot.rows(tables, capture.table)
        self._records = SnapshotRecords(rows, capture.records, place)
        self.is_complete = False

    def batch(self, limit: int) -> SourceBatch:
        """The next rows, so many at most; the last batch says that it is."""
        count = min(limit, self._capture.settings.limits.batch_rows)
        records = list(self._records.take(count))
        self.is_complete = self._records.is_complete
        if self.is_complete:
            self._snapshot.close()
        return SourceBatch([], self.offset(), records)

    def offset(self) -> dict[str, object]:
        """Where a reader goes on that is made after this batch."""
        time_s = self._snapshot.time_s
        return snapshot_offset(self._position, time_s, is_complete=self.is_complete)

    def close(self) -> None:
        """Give up."""
        self._snapshot.close()
