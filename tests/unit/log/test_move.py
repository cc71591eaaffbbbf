"""Moving a log: the copy is what the log was, whatever happens meanwhile."""

from collections.abc import Callable

import pytest

from moldau.config.topic import TopicConfig
from moldau.log import flush
from moldau.log.directory import LogDirectory
from moldau.log.log import Log
from moldau.log.meta_properties import MetaProperties
from moldau.log.move import LogMove
from moldau.log.shared import Shared
from moldau.log.volume import Volume
from moldau.model import TopicPartition
from moldau.records.batch import Producer, write_batch
from moldau.records.record import Record
from moldau.testing.disk import MemoryDisk, PowerLost, keep_all, lose_all

NAME = TopicPartition("t", 0)
UNIQUE = "0123456789abcdef" * 2


class Places:
    """Two log directories on one disk, and a log in the first."""

    def __init__(self, disk: MemoryDisk | None = None) -> None:
        self.disk = disk or MemoryDisk()
        self.first, self.second = (self._directory(path) for path in ("/a", "/b"))

    def _directory(self, path: str) -> LogDirectory:
        self.disk.make_directory(path)
        self.disk.sync_directory("/")
        directory = LogDirectory(Volume(self.disk, path), Shared())
        directory.claim(MetaProperties(0, "cluster"))
        for _ in directory.load(lambda _: TopicConfig(segment_bytes=300), now_ms=0):
            pass
        return directory

    def log(self) -> Log:
        return self.first.create(NAME, TopicConfig(segment_bytes=300), now_ms=0)

    def move(self) -> LogMove:
        return LogMove(NAME, self.first, self.second, unique=UNIQUE, now_ms=0)


def append(log: Log, count: int = 1, *, epoch: int = 0, producer: Producer | None = None) -> None:
    records = [Record(number, 1000, None, b"value", ()) for number in range(count)]
    batch = write_batch(records) if producer is None else write_batch(records, producer=producer)
    log.append_as_leader(batch, leader_epoch=epoch, now_ms=0)
    log.raise_high_watermark(log.log_end_offset)


def copy_all(move: LogMove, max_bytes: int = 100) -> None:
    while (found := move.next_range(max_bytes, now_ms=0)) is not None:
        move.append(found.read(), now_ms=0)


def contents(log: Log) -> bytes:
    found = b""
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        segment = log.segments.since(offset)[0]
        found += segment.file().read(0, segment.size)
        offset = log.segments.end_of(segment)
    return found


def test_a_copy_has_the_same_bytes_and_bounds() -> None:
    places = Places()
    log = places.log()
    for epoch in range(20):
        append(log, 2, epoch=epoch // 7, producer=Producer(5, 0, epoch * 2))
    log.begin_epoch(9)
    move = places.move()
    copy_all(move)
    copy = move.complete(now_ms=0)
    assert contents(copy) == contents(log)
    assert (copy.log_end_offset, copy.high_watermark) == (40, 40)
    assert list(copy.epochs) == list(log.epochs)
    assert [one.last_sequence for one in copy.producers] == [39]


def test_the_copy_takes_the_place_of_the_log() -> None:
    places = Places()
    append(places.log())
    move = places.move()
    assert places.second.futures == {NAME: move.copy}
    copy_all(move)
    copy = move.complete(now_ms=0)
    assert (places.first.logs, places.second.logs) == ({}, {NAME: copy})
    assert places.second.futures == {}
    assert copy.folder.path == "/b/t-0"
    append(copy, epoch=3)
    copy.truncate_to(1, now_ms=0)
    assert len(copy.epochs) == 1


def make_durable(log: Log) -> None:
    work = flush.prepare(log)
    work.run(log.folder.disk)
    flush.complete(log, work, now_ms=0)


@pytest.mark.parametrize("keep", [lose_all, keep_all])
def test_a_loss_of_power_at_any_call_leaves_a_log(keep: Callable[[int], int]) -> None:
    call = 0
    while True:
        call += 1
        places = Places()
        log = places.log()
        append(log, 3)
        make_durable(log)
        move = places.move()
        copy_all(move)
        make_durable(move.copy)
        places.disk.lose_power_at_call(call)
        try:
            move.complete(now_ms=0)
        except PowerLost:
            again = Places(places.disk.restart(keep))
        else:
            break
        kept = [one.logs[NAME] for one in (again.first, again.second) if NAME in one.logs]
        assert kept
        assert {log.log_end_offset for log in kept} == {3}
    assert call > 5


def test_a_log_that_is_cut_is_copied_anew() -> None:
    places = Places()
    log = places.log()
    for _ in range(5):
        append(log)
    move = places.move()
    copy_all(move)
    log.truncate_to(2, now_ms=0)
    append(log, epoch=1)
    assert not move.is_caught_up
    copy_all(move)
    assert contents(move.complete(now_ms=0)) == contents(log)


def test_what_was_read_before_a_cut_is_not_appended() -> None:
    places = Places()
    log = places.log()
    for _ in range(5):
        append(log)
    move = places.move()
    found = move.next_range(1000, now_ms=0)
    assert found is not None
    log.truncate_to(1, now_ms=0)
    move.append(found.read(), now_ms=0)
    assert move.copy.log_end_offset == 0


def test_retention_that_overtakes_the_copy_is_followed() -> None:
    places = Places()
    log = places.log()
    for _ in range(20):
        append(log)
    move = places.move()
    log.drop_first_segments(2, now_ms=0)
    copy_all(move)
    copy = move.complete(now_ms=0)
    assert copy.log_start_offset == log.log_start_offset > 0
    assert contents(copy) == contents(log)


def test_a_log_that_begins_in_a_batch_is_copied_from_the_start_of_it() -> None:
    places = Places()
    log = places.log()
    append(log, 3)
    log.raise_log_start(2)
    move = places.move()
    copy_all(move)
    copy = move.complete(now_ms=0)
    assert (copy.log_start_offset, copy.log_end_offset) == (2, 3)


def test_a_move_is_over_when_the_log_is_gone() -> None:
    places = Places()
    places.log()
    move = places.move()
    places.first.delete(NAME, unique=UNIQUE, now_ms=0)
    assert not move.is_possible
    move.abandon(now_ms=7)
    assert places.second.futures == {}
    assert [path for path in places.second.expire(now_ms=7) if path.endswith("-future")]


@pytest.mark.parametrize("path", ["/a", "/b"])
def test_a_move_is_over_when_a_volume_is_offline(path: str) -> None:
    places = Places()
    places.log()
    move = places.move()
    directory = places.first if path == "/a" else places.second
    directory.volume.fail(OSError("broken"))
    assert not move.is_possible


def test_a_copy_that_was_not_finished_is_found_again() -> None:
    places = Places()
    places.log()
    places.move()
    reopened = LogDirectory(Volume(places.disk, "/b"), Shared())
    for _ in reopened.load(lambda _: TopicConfig(), now_ms=0):
        pass
    assert reopened.interrupted == [NAME]
    assert reopened.logs == {}
