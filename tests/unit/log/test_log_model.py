"""A log against a plain list of batches, under everything that can happen to it in any order."""

from typing import NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from moldau.config.topic import TopicConfig
from moldau.errors import ErrorCode, KafkaError
from moldau.log import flush, opening, retention
from moldau.log.shared import Shared
from moldau.log.volume import Folder, Volume
from moldau.model import TopicPartition
from moldau.records.batch import iterate_headers, stamp, write_batch
from moldau.records.record import Record
from moldau.testing.disk import MemoryDisk, keep_all, lose_all

RETENTION_MS = 500
# In a log that is not compacted a hole would be taken for the trace of a power loss.
LIMITS = {"retention_ms": RETENTION_MS, "cleanup_policy": ("compact", "delete")}
CONFIGS = [
    TopicConfig(segment_bytes=700, index_interval_bytes=0, **LIMITS),  # type: ignore[arg-type]
    TopicConfig(segment_bytes=2000, index_interval_bytes=300, **LIMITS),  # type: ignore[arg-type]
    TopicConfig(segment_bytes=100_000, segment_ms=40, **LIMITS),  # type: ignore[arg-type]
]


class Kept(NamedTuple):
    """A batch that the log must have."""

    base_offset: int
    last_offset: int
    timestamps: list[int]
    data: bytes
    epoch: int


class LogAgainstModel(RuleBasedStateMachine):
    """The model is `kept`: every batch, whole; the rest of the state is a few numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.disk = MemoryDisk()
        self.disk.make_directory("/data")
        self.disk.sync_directory("/")
        self.kept: list[Kept] = []
        self.start = 0
        self.end = 0
        self.high_watermark = 0
        self.flushed = 0
        self.epoch = 0
        self.now_ms = 0

    @initialize(number=st.sampled_from(range(len(CONFIGS))), warm_max=st.sampled_from([1, 100]))
    def create(self, number: int, warm_max: int) -> None:
        self.config = CONFIGS[number]
        self.warm_max = warm_max
        self.log = opening.create(self.folder(), self.config, Shared(), now_ms=0)

    def folder(self) -> Folder:
        volume = Volume(self.disk, "/data", warm_max=self.warm_max)
        return Folder(volume, TopicPartition("t", 0))

    def batch(self, base_offset: int, deltas: list[int], size: int) -> bytearray:
        self.now_ms += 10
        records = [
            Record(base_offset + number, self.now_ms + delta, None, bytes(size))
            for number, delta in enumerate(deltas)
        ]
        return write_batch(records, base_offset=base_offset)

    def keep(self, base_offset: int, data: bytearray, deltas: list[int]) -> None:
        stamps = [self.now_ms + delta for delta in deltas]
        last_offset = base_offset + len(deltas) - 1
        self.kept.append(Kept(base_offset, last_offset, stamps, bytes(data), self.epoch))
        self.end = last_offset + 1

    deltas = st.lists(st.integers(-30, 30), min_size=1, max_size=4)

    @rule(deltas=deltas, size=st.integers(0, 100))
    def append_as_leader(self, deltas: list[int], size: int) -> None:
        data = self.batch(0, deltas, size)
        appended = self.log.append_as_leader(data, leader_epoch=self.epoch, now_ms=self.now_ms)
        assert appended.first_offset == self.end
        self.keep(self.end, data, deltas)

    @rule(deltas=deltas, count=st.integers(1, 4), gap=st.integers(0, 3))
    def append_as_follower(self, deltas: list[int], count: int, gap: int) -> None:
        fetched = bytearray()
        base_offset = self.end + gap
        for _ in range(count):
            data = self.batch(base_offset, deltas, 50)
            stamp(data, 0, base_offset=base_offset, leader_epoch=self.epoch)
            self.keep(base_offset, data, deltas)
            fetched += data
            base_offset = self.end
        self.log.append_as_follower(fetched, now_ms=self.now_ms)

    @rule()
    def elect(self) -> None:
        self.epoch += 1
        self.log.begin_epoch(self.epoch)

    @rule()
    def roll(self) -> None:
        self.log.roll(now_ms=self.now_ms)

    @rule(data=st.data())
    def replicate(self, data: st.DataObject) -> None:
        self.high_watermark = data.draw(st.integers(self.high_watermark, self.end))
        self.log.raise_high_watermark(self.high_watermark)

    @rule(data=st.data())
    def delete_records(self, data: st.DataObject) -> None:
        offset = data.draw(st.integers(0, self.end + 1))
        if offset > self.high_watermark:
            with pytest.raises(KafkaError):
                self.log.raise_log_start(offset)
            return
        self.log.raise_log_start(offset)
        self.start = max(self.start, offset)

    @rule(data=st.data())
    def truncate(self, data: st.DataObject) -> None:
        offset = data.draw(st.integers(0, self.end + 1))
        first = self.log.segments.first.base_offset
        self.log.truncate_to(offset, now_ms=self.now_ms)
        if offset >= self.end:
            return
        if offset < first:
            self.start_over(offset)
            return
        # A batch goes whole, also if `offset` is in the middle of it.
        cut = [batch.base_offset for batch in self.kept if batch.last_offset >= offset]
        self.kept = [batch for batch in self.kept if batch.last_offset < offset]
        self.end = min([offset, *cut])
        self.start = min(self.start, self.end)
        self.high_watermark = min(self.high_watermark, self.end)
        self.flushed = min(self.flushed, self.end)

    @rule(offset=st.integers(0, 100))
    def truncate_fully(self, offset: int) -> None:
        self.log.truncate_fully_and_start_at(offset, now_ms=self.now_ms)
        self.start_over(offset)

    def start_over(self, offset: int) -> None:
        self.kept = []
        self.start = self.end = self.high_watermark = offset
        self.flushed = offset

    @rule(passed_ms=st.integers(0, 2 * RETENTION_MS))
    def retain(self, passed_ms: int) -> None:
        self.now_ms += passed_ms
        retention.delete_old_segments(self.log, now_ms=self.now_ms)
        # Which segments there are is the log's business; what it promises is this.
        first = self.log.segments.first.base_offset
        gone = [batch for batch in self.kept if batch.last_offset < first]
        for batch in gone:
            is_old = max(batch.timestamps) < self.now_ms - RETENTION_MS
            assert is_old or batch.last_offset < self.start
            assert batch.last_offset < self.high_watermark
        self.start = max(self.start, first)

    @rule()
    def remove_due_files(self) -> None:
        for path in self.log.expire(now_ms=self.now_ms):
            self.disk.remove(path)

    @rule()
    def flush(self) -> None:
        prepared = flush.prepare(self.log)
        prepared.run(self.disk)
        flush.complete(self.log, prepared, now_ms=self.now_ms)
        self.flushed = self.end

    @rule()
    def stop_and_start(self) -> None:
        last = flush.prepare_close(self.log)
        last.run(self.disk)
        self.flushed = self.end
        self.disk = self.disk.restart(lose_all)
        self.reopen(recovery_point=self.end, was_clean=True)

    @rule()
    def kill_and_start(self) -> None:
        self.disk = self.disk.restart(keep_all)
        self.reopen(recovery_point=self.log.recovery_point, was_clean=False)

    @precondition(lambda self: self.flushed == self.end)
    @rule()
    def lose_power_after_a_flush(self) -> None:
        flush_names = flush.prepare_close(self.log)
        flush_names.run(self.disk)
        self.disk = self.disk.restart(lose_all)
        self.reopen(recovery_point=self.log.recovery_point, was_clean=False)

    def reopen(self, *, recovery_point: int, was_clean: bool) -> None:
        # The bounds of an empty log are in the checkpoints alone.
        remembered = opening.Remembered(self.start, recovery_point, self.high_watermark, was_clean)
        self.log = opening.open_log(
            self.folder(), self.config, Shared(), remembered=remembered, now_ms=self.now_ms
        )
        # A gap at the end, where nothing was appended, is not written anywhere.
        found = max([self.log.segments.active.base_offset, *[b.last_offset + 1 for b in self.kept]])
        self.end = max(found, self.start)
        self.high_watermark = min(self.high_watermark, self.end)
        self.flushed = min(self.flushed, self.end)

    @invariant()
    def bounds_agree(self) -> None:
        if not hasattr(self, "log"):
            return
        log = self.log
        assert log.log_end_offset == self.end
        assert log.log_start_offset == self.start
        assert log.high_watermark == max(self.high_watermark, self.start)
        assert log.recovery_point <= self.end
        assert log.size == sum(
            len(batch.data)
            for batch in self.kept
            if batch.last_offset >= log.segments.first.base_offset
        )

    @rule(data=st.data(), max_bytes=st.integers(0, 3000), at_least_one=st.booleans())
    def read(self, data: st.DataObject, max_bytes: int, at_least_one: bool) -> None:
        offset = data.draw(st.integers(self.start, self.end))
        end_offset = data.draw(st.integers(self.start, self.end))
        fetched = self.log.read(
            offset, max_bytes=max_bytes, end_offset=end_offset, at_least_one=at_least_one
        )
        expected = [b for b in self.kept if b.last_offset >= offset and b.last_offset < end_offset]
        raw = b"" if fetched.range is None else fetched.range.read()
        assert len(raw) == fetched.size
        assert fetched.range is None or raw
        got = [raw[position : position + h.size] for position, h in iterate_headers(raw)]
        assert got == [batch.data for batch in expected[: len(got)]]
        assert len(raw) <= max(max_bytes, len(expected[0].data) if expected else 0)
        if expected and (at_least_one or max_bytes >= len(expected[0].data)):
            assert got
        assert b"".join(batch.data for batch in expected).startswith(raw)

    @rule(data=st.data())
    def read_outside(self, data: st.DataObject) -> None:
        offset = data.draw(st.sampled_from([self.start - 1, self.end + 1]))
        with pytest.raises(KafkaError) as refused:
            self.log.read(offset, max_bytes=1)
        assert refused.value.code == ErrorCode.OFFSET_OUT_OF_RANGE

    @rule(data=st.data())
    def look_up_a_timestamp(self, data: st.DataObject) -> None:
        timestamp = data.draw(st.integers(0, self.now_ms + 40))
        records = [
            (stamp_ms, batch.base_offset + number)
            for batch in self.kept
            for number, stamp_ms in enumerate(batch.timestamps)
            if batch.base_offset + number >= self.start
        ]
        expected = next((record for record in records if record[0] >= timestamp), None)
        assert self.log.offset_for_timestamp(timestamp) == expected

    @rule()
    def epochs_agree(self) -> None:
        for batch in self.kept:
            if batch.base_offset >= self.start:
                assert self.log.epochs.epoch_at(batch.base_offset) == batch.epoch


LogAgainstModel.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
test_a_log_is_what_a_list_of_batches_would_be = LogAgainstModel.TestCase
