"""A compacted partition on a disk in memory, for the tests of compaction."""

from collections.abc import Iterator
from typing import NamedTuple

from moldau.config.topic import TopicConfig
from moldau.log import flush, names, opening
from moldau.log.cleaner import CleanedSegment, Cleaner, Workspace
from moldau.log.cleaning_plan import CleaningPlan, measure, plan
from moldau.log.cleaning_swap import swap_in
from moldau.log.pace import Pace, unhurried
from moldau.log.producer_state import Origin
from moldau.log.shared import Shared
from moldau.log.volume import Folder, Volume
from moldau.model import TopicPartition
from moldau.records.batch import (
    TRANSACTIONAL,
    BatchHeader,
    Producer,
    iterate_headers,
    read_records,
    write_batch,
)
from moldau.records.control import EndMarker, read_end_marker, write_end_marker
from moldau.records.record import Record
from moldau.testing.disk import Choice, MemoryDisk, lose_all

PARTITION = TopicPartition("accounts", 0)
RETENTION_MS = 1000

Row = tuple[bytes | None, bytes | None]


class Found(NamedTuple):
    """One batch of the log, as it is on disk."""

    header: BatchHeader
    records: list[Record]
    data: bytes


class Compacted:
    """A log with its clock, and the few moves that compaction is about."""

    def __init__(self, partition: TopicPartition = PARTITION, **settings: object) -> None:
        self.disk = MemoryDisk(now_ms=lambda: self.now_ms)
        self.disk.make_directory("/data")
        self.disk.sync_directory("/")
        self.config = TopicConfig(
            **{
                "cleanup_policy": ("compact",),
                "delete_retention_ms": RETENTION_MS,
                "index_interval_bytes": 150,
                "min_cleanable_dirty_ratio": 0.0,
                **settings,
            }  # type: ignore[arg-type]
        )
        self.now_ms = 1_700_000_000_000
        self.folder = Folder(Volume(self.disk, "/data"), partition)
        self.log = opening.create(self.folder, self.config, Shared(), now_ms=self.now_ms)
        self.clean_offset: int | None = None
        self.sequences: dict[tuple[int, int], int] = {}
        self.workspace = Workspace(seed=bytes(16), key_map_bytes=24 * 1000, chunk_bytes=400)

    # Writing

    def put(
        self, *rows: Row, pid: int = -1, epoch: int = 0, attributes: int = 0, timestamp: int = 0
    ) -> int:
        """Append a batch of keys and values; returns its first offset."""
        records = [
            Record(number, timestamp or self.now_ms, key, value)
            for number, (key, value) in enumerate(rows)
        ]
        producer = Producer(-1, -1, -1)
        if pid >= 0:
            sequence = self.sequences.get((pid, epoch), 0)
            self.sequences[pid, epoch] = sequence + len(rows)
            producer = Producer(pid, epoch, sequence)
        data = write_batch(records, producer=producer, attributes=attributes)
        return self._append(data, Origin.CLIENT)

    def put_open(self, *rows: Row, pid: int, epoch: int = 0, attributes: int = 0) -> int:
        """Append a batch of a transaction."""
        return self.put(*rows, pid=pid, epoch=epoch, attributes=attributes | TRANSACTIONAL)

    def end(self, *, pid: int, is_commit: bool, epoch: int = 0) -> int:
        """End the transaction of a producer; returns the offset of the marker."""
        data = write_end_marker(
            EndMarker(is_commit, coordinator_epoch=0),
            producer_id=pid,
            producer_epoch=epoch,
            timestamp_ms=self.now_ms,
        )
        return self._append(data, Origin.COORDINATOR)

    def _append(self, data: bytearray, origin: Origin) -> int:
        offset = self.log.log_end_offset
        self.log.append_as_leader(data, leader_epoch=0, now_ms=self.now_ms, origin=origin)
        self.log.raise_high_watermark(self.log.log_end_offset)
        return offset

    def roll(self) -> None:
        self.log.roll(now_ms=self.now_ms)

    # Compacting

    def plan(self) -> CleaningPlan:
        dirtiness = measure(self.log, self.clean_offset, now_ms=self.now_ms)
        return plan(self.log, dirtiness, now_ms=self.now_ms)

    def cleaner(self, cleaning_plan: CleaningPlan, pace: Pace | None = None) -> Cleaner:
        return Cleaner(self.disk, cleaning_plan, self.workspace, pace or unhurried())

    def clean(self) -> list[CleanedSegment]:
        """Compact all that can be compacted, and take it into the log."""
        cleaning_plan = self.plan()
        if not cleaning_plan.sources:
            return []
        cleaner = self.cleaner(cleaning_plan)
        swapped = []
        for segment in cleaner.segments():
            assert swap_in(self.log, cleaning_plan, segment, now_ms=self.now_ms)
            swapped.append(segment)
        self.clean_offset = cleaner.end_offset
        return swapped

    def roll_and_clean(self) -> list[CleanedSegment]:
        """Compact everything that was written."""
        self.roll()
        return self.clean()

    # Looking at it

    def batches(self) -> list[Found]:
        """Every batch on disk, in order."""
        found = []
        for segment in self.log.segments:
            data = self.disk.read_file(segment.path(names.LOG))
            for position, header in iterate_headers(data):
                records = list(read_records(data, position, limit_bytes=100_000))
                found.append(Found(header, records, data[position : position + header.size]))
        return found

    def records(self) -> list[Record]:
        """Every record on disk that is not a marker."""
        return [r for found in self.batches() if not found.header.is_control for r in found.records]

    def rows(self) -> list[tuple[int, bytes | None, bytes | None]]:
        return [(record.offset, record.key, record.value) for record in self.records()]

    def markers(self) -> list[int]:
        """The offsets of the control batches that still have a marker."""
        return [
            found.header.base_offset
            for found in self.batches()
            if found.header.is_control and found.records
        ]

    def committed(self) -> Iterator[Record]:
        """What a consumer with isolation level read_committed gets, fetch by fetch."""
        offset, aborted_now = self.log.log_start_offset, set()
        while offset < self.log.last_stable_offset:
            fetched = self.log.read(
                offset, max_bytes=500, end_offset=self.log.last_stable_offset, at_least_one=True
            )
            if fetched.range is None:
                return
            pending = sorted(self.log.aborted_in(fetched), key=lambda t: -t.first_offset)
            data = fetched.range.file.read(fetched.range.position, fetched.range.size)
            for position, header in iterate_headers(data):
                while pending and pending[-1].first_offset <= header.last_offset:
                    aborted_now.add(pending.pop().producer_id)
                if header.is_control:
                    marker = read_end_marker(data, position)
                    if marker and not marker.is_commit:
                        aborted_now.discard(header.producer_id)
                elif not (header.is_transactional and header.producer_id in aborted_now):
                    yield from read_records(data, position, limit_bytes=100_000)
                offset = header.next_offset

    def flush(self) -> None:
        """Make everything durable."""
        prepared = flush.prepare(self.log)
        prepared.run(self.disk)
        flush.complete(self.log, prepared, now_ms=self.now_ms)

    def lose_power(self, choice: Choice = lose_all) -> None:
        """Start again with what is durable."""
        remembered = opening.Remembered(log_start_offset=self.log.log_start_offset)
        self.disk = self.disk.restart(choice)
        self.folder = Folder(Volume(self.disk, "/data"), self.folder.partition)
        self.log = opening.open_log(
            self.folder,
            self.config,
            Shared(),
            remembered=remembered,
            now_ms=self.now_ms,
        )
        self.log.raise_high_watermark(self.log.log_end_offset)


def table(records: Iterator[Record] | list[Record]) -> dict[bytes | None, bytes]:
    """What a reader that replays the records knows in the end."""
    known: dict[bytes | None, bytes] = {}
    for record in records:
        if record.value is None:
            known.pop(record.key, None)
        else:
            known[record.key] = record.value
    return known
