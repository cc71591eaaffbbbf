"""Reads parts of tables as a snapshot shows them, for a reader that has the snapshot open."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from moldau.connect.connector import READER, Offset, Source, SourceBatch, SourcePartition
from moldau.connect.connectors.capture.snapshot_rows import SnapshotRecords
from moldau.connect.connectors.capture.tables import TableName
from moldau.connect.connectors.postgresql.capture import Capture
from moldau.connect.connectors.postgresql.places import LogPlace
from moldau.connect.connectors.postgresql.snapshot import TableSnapshot
from moldau.connect.connectors.postgresql.table_parts import TableCut, TableParts
from moldau.connect.errors import ConnectError

_SETTING = "moldau.snapshot.parts"
_SNAPSHOT, _PARTS = "snapshot", "parts"


@dataclass(frozen=True, slots=True)
class SharedParts:
    """What readers of one snapshot share: all parts but the first and the last."""

    snapshot: str
    """Its exported name."""
    place: LogPlace
    parts: TableParts
    readers: int

    @property
    def numbers(self) -> range:
        """Of the readers."""
        return range(1, self.readers + 1)

    def start(self) -> Offset:
        """Where each reader begins."""
        return {_SNAPSHOT: self.snapshot, _PARTS: 0}

    def number(self, reader: int, offset: Offset | None) -> int | None:
        """The next part of a reader, from 1 on; None if it has read all of its own."""
        if offset is None or offset.get(_SNAPSHOT) != self.snapshot:
            raise ConnectError(f"snapshot {self.snapshot} is read no longer: {offset} is stored")
        found = reader + int(str(offset[_PARTS])) * self.readers
        return found if found < len(self.parts) - 1 else None

    def after(self, offset: Offset) -> Offset:
        """Where a reader goes on."""
        return {**offset, _PARTS: int(str(offset[_PARTS])) + 1}

    def setting(self) -> dict[str, str]:
        """As a part of a connector's settings."""
        cuts = [
            [each.table.schema, each.table.name, each.blocks, each.first, each.end]
            for each in self.parts.cuts
        ]
        place = [self.place.lsn, self.place.tx_id, self.place.time_us]
        return {_SETTING: json.dumps([self.snapshot, place, cuts, self.readers])}


def shared_parts(config: Mapping[str, str]) -> SharedParts:
    """Of settings."""
    snapshot, (lsn, tx_id, time_us), cuts, readers = json.loads(config[_SETTING])
    found = [TableCut(TableName(schema, name), *blocks) for schema, name, *blocks in cuts]
    return SharedParts(snapshot, LogPlace(lsn, None, tx_id, time_us), TableParts(found), readers)


class PartSource(Source):
    """One reader of several, on a connection of its own."""

    runs_anywhere = True
    poll_interval_s = 0.0

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._shared = shared_parts(config)
        self._capture: Capture | None = None
        self._snapshot: TableSnapshot | None = None

    def partitions(self) -> Sequence[SourcePartition]:
        """The reader of the stream shares parts out."""
        return []

    def read(
        self, partition: SourcePartition, start: Offset | None, limit: int
    ) -> SourceBatch | None:
        """A part."""
        del limit  # a part is small enough
        shared = self._shared
        number = shared.number(int(str(partition[READER])), start)
        if number is None:
            return None
        assert start is not None, "it has a number"
        capture, snapshot = self._opened()
        rows = snapshot.part_rows(shared.parts.part(number), capture.table)
        records = SnapshotRecords(rows, capture.records, shared.place, begins=False, ends=False)
        return SourceBatch([], shared.after(start), records.take(sys.maxsize))

    def close(self) -> None:
        """Hang up."""
        if self._snapshot is not None:
            self._snapshot.close()
        if self._capture is not None:
            self._capture.close()

    def _opened(self) -> tuple[Capture, TableSnapshot]:
        if self._capture is None:
            self._capture = Capture(self.config)
        if self._snapshot is None:
            server, slot = self._capture.server, self._capture.settings.slot
            self._snapshot = TableSnapshot(server, slot, "repeatable_read")
            self._snapshot.take_over(self._shared.snapshot)
        return self._capture, self._snapshot
