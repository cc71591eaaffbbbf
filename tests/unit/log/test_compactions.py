"""Which log is compacted next, and what is known of it afterwards."""

import pytest

from moldau.log import checkpoint
from moldau.log.cleaning_swap import swap_in
from moldau.log.compactions import Compactions, Job
from moldau.model import TopicPartition
from unit.log.compaction import Compacted

FIRST, SECOND = TopicPartition("t", 0), TopicPartition("t", 1)
FILE = f"/data/{checkpoint.CLEANER_OFFSETS}"


def dirty(partition: TopicPartition = FIRST) -> Compacted:
    topic = Compacted(partition)
    topic.put((b"a", b"1"))
    topic.put((b"a", b"2"))
    topic.roll()
    return topic


def begin(compactions: Compactions, *topics: Compacted) -> Job | None:
    return compactions.begin([topic.log for topic in topics], now_ms=topics[0].now_ms)


def begun(compactions: Compactions, *topics: Compacted) -> Job:
    job = begin(compactions, *topics)
    assert job is not None
    return job


def compact(compactions: Compactions, topic: Compacted) -> None:
    job = begun(compactions, topic)
    cleaner = topic.cleaner(job.plan)
    for segment in cleaner.segments():
        assert swap_in(job.log, job.plan, segment, now_ms=topic.now_ms)
    compactions.finish(job, cleaner.end_offset)
    compactions.release(job)


def load(compactions: Compactions, topic: Compacted, offsets: dict[TopicPartition, int]) -> None:
    checkpoint.write_offsets(topic.disk, FILE, offsets)
    compactions.load(topic.disk, "/data", {topic.log.partition: topic.log})


def test_a_compacted_log_is_clean_until_more_is_written() -> None:
    compactions, topic = Compactions(), dirty()

    compact(compactions, topic)

    assert topic.rows() == [(1, b"a", b"2")]
    assert compactions.clean_offsets([topic.log]) == {FIRST: 2}
    assert begin(compactions, topic) is None
    topic.put((b"a", b"3"))
    topic.roll()
    assert begun(compactions, topic).plan.first_dirty_offset == 2


def test_a_log_is_compacted_once_at_a_time() -> None:
    compactions, first, second = Compactions(), dirty(FIRST), dirty(SECOND)

    jobs = [begin(compactions, first, second) for _ in range(3)]

    assert sorted(job.log.partition for job in jobs if job) == [FIRST, SECOND]
    assert jobs[2] is None


def test_work_that_was_not_finished_starts_over() -> None:
    compactions, topic = Compactions(), dirty()

    compactions.release(begun(compactions, topic))

    assert compactions.clean_offsets([topic.log]) == {}
    assert begun(compactions, topic).plan.first_dirty_offset == 0


def test_a_log_that_was_given_up_is_left_alone_until_it_is_opened_again() -> None:
    compactions, topic = Compactions(), dirty()
    job = begun(compactions, topic)

    compactions.give_up(job)
    compactions.release(job)

    assert begin(compactions, topic) is None
    assert begin(compactions, topic) is None
    assert begin(compactions, dirty()) is not None


def test_the_dirtiest_of_all_logs_comes_first_in_whatever_directory_it_is() -> None:
    compactions, first, second = Compactions(), dirty(), dirty()
    compact(compactions, first)
    first.put((b"a", b"3"))
    first.roll()

    assert begun(compactions, first, second).log is second.log


def test_a_log_that_was_cut_is_dirty_again() -> None:
    compactions, topic = Compactions(), dirty()
    compact(compactions, topic)

    topic.log.truncate_to(1, now_ms=topic.now_ms)

    assert compactions.clean_offsets([topic.log]) == {}
    topic.put((b"a", b"4"))
    topic.roll()
    assert begun(compactions, topic).plan.first_dirty_offset == 0


def test_a_truncation_during_the_work_is_not_overlooked() -> None:
    compactions, topic = Compactions(), dirty()
    job = begun(compactions, topic)
    topic.log.truncate_to(1, now_ms=topic.now_ms)

    compactions.finish(job, 2)

    assert job.has_changed()
    assert compactions.clean_offsets([topic.log]) == {}


def test_what_is_known_of_a_log_goes_with_it() -> None:
    compactions, gone, other = Compactions(), dirty(), dirty(SECOND)
    compact(compactions, gone)

    begun(compactions, other)

    assert compactions.clean_offsets([gone.log]) == {}


def test_a_plan_holds_until_its_files_are_moved_or_expire() -> None:
    moved, expired = dirty(), dirty(SECOND)
    first, second = begun(Compactions(), moved), begun(Compactions(), expired)
    assert not first.has_changed()
    assert not second.has_changed()

    moved.folder.path = "/data/elsewhere"
    expired.log.drop_first_segments(1, now_ms=expired.now_ms)

    assert first.has_changed()
    assert second.has_changed()


def test_what_a_checkpoint_says_counts_for_logs_that_are_there() -> None:
    compactions, topic = Compactions(), dirty()

    load(compactions, topic, {FIRST: 2, SECOND: 20})

    assert compactions.clean_offsets([topic.log]) == {FIRST: 2}
    assert begin(compactions, topic) is None


def test_a_malformed_checkpoint_makes_all_dirty(caplog: pytest.LogCaptureFixture) -> None:
    compactions, topic = Compactions(), dirty()
    topic.disk.open_append(FILE).append(b"rubbish")

    compactions.load(topic.disk, "/data", {FIRST: topic.log})

    assert "compacting from the start" in caplog.text
    assert compactions.clean_offsets([topic.log]) == {}
