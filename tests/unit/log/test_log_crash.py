"""Every disk call of a workload fails once, is cut short once, and is once the last before a crash.

After each the log is opened again: what was flushed is there, offsets have no holes, and
the indexes lead to the batches.
"""

import errno
from collections.abc import Callable, Iterator

import pytest

from moldau.config.topic import TopicConfig
from moldau.errors import ErrorCode, KafkaError
from moldau.log import flush, retention
from moldau.log.directory import LogDirectory
from moldau.log.log import Log
from moldau.log.meta_properties import MetaProperties
from moldau.log.shared import Shared
from moldau.log.volume import Volume
from moldau.model import TopicPartition
from moldau.records.batch import TRANSACTIONAL, Producer, crc_is_valid, write_batch
from moldau.records.control import EndMarker, write_end_marker
from moldau.records.record import Record
from moldau.testing.disk import MemoryDisk, PowerLost, keep_all, lose_all

PARTITION = TopicPartition("orders", 0)
CONFIG = TopicConfig(segment_bytes=500, index_interval_bytes=100, retention_bytes=1000)
OWNER = MetaProperties(1, "cluster")


class Workload:
    """Appends, flushes, cuts and restarts; remembers what must survive."""

    def __init__(self, disk: MemoryDisk) -> None:
        self.disk = disk
        self.batches: dict[int, bytes] = {}  # base offset -> bytes, as far as acknowledged
        self.flushed_end = 0
        self.log_start = 0

    def run(self) -> None:
        self.open()
        self.append(7)
        self.flush()
        self.append(5)
        self.truncate(10)
        self.append(4)
        self.flush()
        self.abort_a_transaction()
        self.append(3)
        self.retain()
        self.directory.save_high_watermarks()
        self.directory.save_log_starts()
        self.directory.close(now_ms=0)
        self.flushed_end = self.log.log_end_offset
        self.open()
        self.append(2)
        for path in self.directory.expire(now_ms=10**9):
            self.disk.remove(path)

    def open(self) -> None:
        self.directory = LogDirectory(Volume(self.disk, "/data"), Shared())
        self.directory.claim(OWNER)
        for _ in self.directory.load(lambda _: CONFIG, now_ms=0):
            pass
        if PARTITION not in self.directory.logs:
            self.directory.create(PARTITION, CONFIG, now_ms=0, topic_id=b"0123456789abcdef")

    @property
    def log(self) -> Log:
        return self.directory.logs[PARTITION]

    def append(self, count: int) -> None:
        for _ in range(count):
            records = [Record(number, 1000, None, bytes(30)) for number in range(2)]
            self._append(write_batch(records, producer=Producer(7, 0, self.log.log_end_offset)))

    def _append(self, data: bytearray) -> None:
        # Sequences follow the offsets, so cuts make them jump: a coordinator may do that.
        appended = self.log.append_as_follower(self._stamped(data), now_ms=0)
        self.batches[appended.first_offset] = bytes(data)

    def _stamped(self, data: bytearray) -> bytearray:
        data[:8] = self.log.log_end_offset.to_bytes(8, "big")
        data[12:16] = (3).to_bytes(4, "big")
        return data

    def abort_a_transaction(self) -> None:
        records = [Record(0, 1000, None, b"regretted")]
        self._append(write_batch(records, producer=Producer(8, 0, 0), attributes=TRANSACTIONAL))
        self._append(
            write_end_marker(EndMarker(False, 0), producer_id=8, producer_epoch=0, timestamp_ms=1)
        )

    def flush(self) -> None:
        prepared = flush.prepare(self.log)
        prepared.run(self.disk)
        flush.complete(self.log, prepared, now_ms=0)
        self.directory.save_recovery_points()
        self.flushed_end = prepared.end_offset

    def truncate(self, offset: int) -> None:
        self.flushed_end = min(self.flushed_end, offset)
        for base_offset in [base for base in self.batches if base + 1 >= offset]:
            del self.batches[base_offset]
        self.log.truncate_to(offset, now_ms=0)
        self.flushed_end = min(self.flushed_end, self.log.log_end_offset)

    def retain(self) -> None:
        self.log.raise_high_watermark(self.log.log_end_offset)
        retention.delete_old_segments(self.log, now_ms=0)
        self.log_start = self.log.log_start_offset
        assert self.log_start > 0


def disk() -> MemoryDisk:
    empty = MemoryDisk()
    empty.make_directory("/data")
    empty.sync_directory("/")
    return empty


def call_numbers() -> range:
    counted = disk()
    before = len(counted.calls)
    Workload(counted).run()
    return range(1, len(counted.calls) - before + 1)


def check_after_restart(workload: Workload, survivor: MemoryDisk) -> None:
    """Open what the crash has left; nothing that was flushed may be missing or changed."""
    again = Workload(survivor)
    again.open()
    log = again.log
    assert log.log_end_offset >= workload.flushed_end
    expected = log.segments.first.base_offset
    found = {}
    for segment in log.segments:
        assert segment.base_offset == expected
        for position, header, data in segment.batches():
            assert header.base_offset == expected
            assert crc_is_valid(data, 0, header.size)
            assert segment.locate(header.base_offset) == (position, header)
            assert segment.locate(header.last_offset) == (position, header)
            found[header.base_offset] = bytes(data)
            expected = header.next_offset
        times = segment.indexes.times
        stamps = [times.entry(number).timestamp for number in range(len(times))]
        assert stamps == sorted(set(stamps))
    assert log.log_end_offset == expected
    for base_offset, written in workload.batches.items():
        if log.log_start_offset <= base_offset < workload.flushed_end:
            assert found[base_offset] == written
    again.append(3)
    again.flush()


def crashes() -> Iterator[tuple[str, Callable[[MemoryDisk], MemoryDisk]]]:
    yield "the process dies", lambda crashed: crashed.restart(keep_all)
    yield "the power goes", lambda crashed: crashed.restart(lose_all)
    yield "half is lost", lambda crashed: crashed.restart(lambda count: count // 2)
    yield "zeros are left", lambda crashed: crashed.restart(lose_all, lost_bytes_are_zero=True)


@pytest.mark.parametrize("restart", [pytest.param(how, id=name) for name, how in crashes()])
def test_a_crash_at_any_disk_call_loses_nothing_that_was_flushed(
    restart: Callable[[MemoryDisk], MemoryDisk],
) -> None:
    for number in call_numbers():
        crashed = disk()
        crashed.lose_power_at_call(number)
        workload = Workload(crashed)
        with pytest.raises(PowerLost):
            workload.run()
        check_after_restart(workload, restart(crashed))


def run_until_offline(workload: Workload) -> None:
    """Go on until the failure is seen; then the volume is offline and nothing is accepted."""
    with pytest.raises((KafkaError, OSError)) as seen:
        workload.run()
    if isinstance(seen.value, KafkaError):
        assert seen.value.code == ErrorCode.KAFKA_STORAGE_ERROR
        assert not workload.directory.volume.is_online
        before = dict(workload.batches)
        if PARTITION in workload.directory.logs:
            with pytest.raises(KafkaError):
                workload.append(1)
        assert workload.batches == before


def test_a_failure_of_any_disk_call_takes_the_volume_offline_and_loses_nothing_flushed() -> None:
    for number in call_numbers():
        failing = disk()
        failing.fail_call(number, errno.EIO)
        workload = Workload(failing)
        run_until_offline(workload)
        check_after_restart(workload, failing.restart(lose_all))


@pytest.mark.parametrize("kept_bytes", [1, 40, 80])
def test_a_write_cut_short_by_a_full_disk_is_never_acknowledged(kept_bytes: int) -> None:
    counted = disk()
    before = len(counted.calls)
    Workload(counted).run()
    appends = [i for i, call in enumerate(counted.calls[before:], 1) if call == "append"]
    for number in appends:
        full = disk()
        full.cut_call(number, kept_bytes=kept_bytes)
        workload = Workload(full)
        run_until_offline(workload)
        check_after_restart(workload, full.restart(keep_all))
