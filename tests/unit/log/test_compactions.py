"""Which log is compacted next."""

import pytest

from moldau.errors import ProtocolError
from moldau.log.cleaning_swap import swap_in
from moldau.log.compactions import Compactions, Job
from moldau.model import TopicPartition
from moldau.testing.disk import lose_all
from unit.log.compaction import Compacted

FIRST, SECOND = TopicPartition("t", 0), TopicPartition("t", 1)


def dirty(partition: TopicPartition) -> Compacted:
    topic = Compacted(partition)
    topic.put((b"a", b"1"))
    topic.put((b"a", b"2"))
    topic.roll()
    return topic


def begin(compactions: Compactions, *topics: Compacted) -> Job | None:
    return compactions.begin([topic.log for topic in topics], now_ms=topics[0].now_ms)


def run(compactions: Compactions, topic: Compacted, job: Job) -> None:
    cleaner = topic.cleaner(job.plan)
    for segment in cleaner.segments():
        assert swap_in(job.log, job.plan, segment, now_ms=topic.now_ms)
    compactions.finish(job, cleaner.end_offset)


def test_a_compacted_log_is_clean_until_more_is_written() -> None:
    compactions, topic = Compactions({}), dirty(FIRST)
    job = begin(compactions, topic)
    assert job is not None

    run(compactions, topic, job)

    assert topic.rows() == [(1, b"a", b"2")]
    assert compactions.clean_offset(FIRST) == 2
    assert begin(compactions, topic) is None
    topic.put((b"a", b"3"))
    topic.roll()
    assert begin(compactions, topic) is not None


def test_a_log_is_compacted_once_at_a_time() -> None:
    compactions, first, second = Compactions({}), dirty(FIRST), dirty(SECOND)

    jobs = [begin(compactions, first, second) for _ in range(3)]

    assert sorted(job.log.partition for job in jobs if job) == [FIRST, SECOND]
    assert jobs[2] is None


def test_abandoned_work_starts_over() -> None:
    compactions, topic = Compactions({}), dirty(FIRST)
    job = begin(compactions, topic)
    assert job is not None

    compactions.abandon(job)

    assert compactions.clean_offset(FIRST) is None
    assert begin(compactions, topic) is not None


def test_a_log_that_cannot_be_compacted_is_left_alone_until_it_comes_anew(
    caplog: pytest.LogCaptureFixture,
) -> None:
    compactions, topic = Compactions({}), dirty(FIRST)
    job = begin(compactions, topic)
    assert job is not None

    compactions.give_up(job, ProtocolError("a batch has a wrong checksum"))

    assert "t-0 is not compacted any more: a batch has a wrong checksum" in caplog.text
    assert begin(compactions, topic) is None
    compactions.forget(FIRST)
    assert begin(compactions, topic) is not None


def test_what_is_written_after_a_truncation_is_dirty() -> None:
    compactions = Compactions({FIRST: 10})

    compactions.truncated(FIRST, 12)
    assert compactions.clean_offset(FIRST) == 10
    compactions.truncated(FIRST, 7)
    assert compactions.clean_offset(FIRST) == 7
    compactions.truncated(SECOND, 7)
    assert compactions.clean_offset(SECOND) is None


def test_a_truncation_during_the_work_is_not_overlooked() -> None:
    compactions, topic = Compactions({}), dirty(FIRST)
    job = begin(compactions, topic)
    assert job is not None
    topic.log.truncate_to(1, now_ms=topic.now_ms)

    compactions.finish(job, 2)

    assert compactions.clean_offset(FIRST) is None


def test_clean_offsets_survive_and_a_malformed_file_makes_all_dirty() -> None:
    topic = Compacted()
    compactions = Compactions({FIRST: 10, SECOND: 20})
    compactions.forget(SECOND)
    compactions.save(topic.disk, "/data")

    after = topic.disk.restart(lose_all)
    assert after.read_file("/data/cleaner-offset-checkpoint") == b"0\n1\nt 0 10\n"
    assert Compactions.load(after, "/data").clean_offset(FIRST) == 10

    after.open_append("/data/cleaner-offset-checkpoint").append(b"rubbish")
    assert Compactions.load(after, "/data").clean_offset(FIRST) is None
