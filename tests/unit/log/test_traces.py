"""What a log looks like, for want of its topic's settings."""

from moldau.config.topic import TopicConfig
from moldau.log.checkpoint import write_offsets
from moldau.log.directory import LogDirectory
from moldau.log.log import Log
from moldau.log.shared import Shared
from moldau.log.traces import Trace, find_traces
from moldau.log.volume import Volume
from moldau.model import TopicPartition
from moldau.records.batch import LOG_APPEND_TIME, write_batch
from moldau.records.record import Record
from moldau.testing.disk import MemoryDisk
from unit.log.logs import batch, fill

CHECKPOINT = "/data/cleaner-offset-checkpoint"


def directory() -> LogDirectory:
    disk = MemoryDisk()
    disk.make_directory("/data")
    return LogDirectory(Volume(disk, "/data"), Shared())


def log_of(place: LogDirectory, topic: str, number: int = 0) -> Log:
    return place.create(TopicPartition(topic, number), TopicConfig(), now_ms=0)


def follow(log: Log, data: bytearray, base_offset: int) -> None:
    """Append a batch with the offset that a leader, or compaction, gave it."""
    data[:8] = base_offset.to_bytes(8, "big")
    log.append_as_follower(data, now_ms=0)


def test_a_log_without_holes_looks_like_nothing() -> None:
    place = directory()
    fill(log_of(place, "plain"), 5)
    log_of(place, "empty")
    assert find_traces(place) == {"plain": Trace.NONE, "empty": Trace.NONE}


def test_compaction_shows_between_batches_and_within_them() -> None:
    place = directory()
    between = log_of(place, "between")
    follow(between, batch(b"a"), 0)
    follow(between, batch(b"b"), 7)
    within = log_of(place, "within")
    follow(within, write_batch([Record(0, 1, None, b"a"), Record(5, 1, None, b"b")]), 0)
    before = log_of(place, "before")
    follow(before, batch(b"a"), 3)
    assert set(find_traces(place).values()) == {Trace.COMPACTED}


def test_one_partition_is_enough_for_its_topic() -> None:
    place = directory()
    fill(log_of(place, "t", 0), 2)
    follow(log_of(place, "t", 1), batch(b"a"), 3)
    fill(log_of(place, "t", 2), 2)
    assert find_traces(place) == {"t": Trace.COMPACTED}


def test_what_the_cleaner_has_noted_was_compacted() -> None:
    place = directory()
    for topic in ("clean", "begun"):
        fill(log_of(place, topic), 2)
    offsets = {TopicPartition("clean", 0): 2, TopicPartition("begun", 0): 0}
    write_offsets(place.volume.disk, CHECKPOINT, offsets)
    assert find_traces(place) == {"clean": Trace.COMPACTED, "begun": Trace.NONE}


def test_records_that_the_broker_has_stamped_say_so() -> None:
    place = directory()
    follow(log_of(place, "t"), batch(b"a", attributes=LOG_APPEND_TIME), 0)
    assert find_traces(place) == {"t": Trace.LOG_APPEND_TIME}


def test_damage_is_none_of_its_business() -> None:
    place = directory()
    log = log_of(place, "t")
    fill(log, 2)
    place.volume.disk.open_append(f"{log.folder.path}/{0:020}.log").truncate(30)
    place.volume.disk.open_append(CHECKPOINT).append(b"?")
    assert find_traces(place) == {"t": Trace.NONE}
