"""When a log is worth compacting, and how much of it."""

import pytest

from moldau.log.cleaning_plan import Dirtiness, choose, is_due, measure, plan
from moldau.model import TopicPartition
from unit.log.compaction import Compacted


def four_segments(partition: int = 0, **settings: object) -> Compacted:
    """Segments at offsets 0, 10, 20 and 30, the last one active; a second between them."""
    topic = Compacted(TopicPartition("t", partition), **settings)
    for _ in range(4):
        for number in range(10):
            topic.put((b"%d" % number, b"v"))
        topic.now_ms += 1000
        topic.roll()
    topic.put((b"x", b"v"))
    return topic


def dirtiness(topic: Compacted, clean_offset: int | None = None) -> Dirtiness:
    return measure(topic.log, clean_offset, now_ms=topic.now_ms)


def test_everything_before_the_active_segment_is_dirty_at_first() -> None:
    topic = four_segments()

    found = dirtiness(topic)

    assert (found.first_dirty_offset, found.first_uncleanable_offset) == (0, 40)
    assert found.clean_size == 0
    assert found.dirty_size == topic.log.size - topic.log.segments.active.size
    assert found.ratio == 1


def test_what_was_cleaned_counts_as_clean() -> None:
    topic = four_segments()

    found = dirtiness(topic, 20)

    assert found.first_dirty_offset == 20
    assert found.clean_size == found.dirty_size
    assert found.ratio == pytest.approx(0.5)


@pytest.mark.parametrize("clean_offset", [1_000, 5])
def test_a_clean_offset_outside_the_log_is_not_believed(clean_offset: int) -> None:
    topic = four_segments()
    topic.log.raise_log_start(10)

    assert dirtiness(topic, clean_offset).first_dirty_offset == 10


def test_an_undecided_transaction_ends_it_at_its_segment() -> None:
    topic = Compacted()
    topic.put((b"a", b"1"))
    topic.roll()
    topic.put((b"a", b"2"))
    topic.put_open((b"a", b"3"), pid=1)
    topic.roll()
    topic.put((b"a", b"4"))
    topic.roll()

    assert dirtiness(topic).first_uncleanable_offset == 1
    topic.end(pid=1, is_commit=True)
    assert dirtiness(topic).first_uncleanable_offset == 4


def test_what_is_not_replicated_is_not_cleaned() -> None:
    topic = four_segments()
    topic.log.high_watermark = 25

    assert dirtiness(topic).first_uncleanable_offset == 20


def test_young_records_wait_for_the_minimum_lag() -> None:
    topic = four_segments(min_compaction_lag_ms=2500)

    assert dirtiness(topic).first_uncleanable_offset == 20
    topic.now_ms += 10_000
    assert dirtiness(topic).first_uncleanable_offset == 40


def test_a_log_is_due_when_enough_of_it_is_dirty() -> None:
    topic = four_segments(min_cleanable_dirty_ratio=0.5)

    assert is_due(topic.log, dirtiness(topic))
    assert is_due(topic.log, dirtiness(topic, 10))
    assert not is_due(topic.log, dirtiness(topic, 20))
    assert not is_due(topic.log, dirtiness(topic, 40))


def test_a_record_that_has_waited_the_maximum_lag_makes_it_due() -> None:
    topic = four_segments(min_cleanable_dirty_ratio=0.99, max_compaction_lag_ms=5000)
    assert not dirtiness(topic, 30).is_overdue

    topic.now_ms += 5001

    assert dirtiness(topic, 30).is_overdue
    assert is_due(topic.log, dirtiness(topic, 30))
    assert not is_due(topic.log, dirtiness(topic, 40))


def test_a_topic_that_only_deletes_is_never_due() -> None:
    topic = four_segments(cleanup_policy=("delete",))

    assert not is_due(topic.log, dirtiness(topic))
    assert choose([topic.log], {}, now_ms=topic.now_ms) is None


def test_a_topic_that_compacts_and_deletes_is_compacted() -> None:
    topic = four_segments(cleanup_policy=("compact", "delete"))

    assert is_due(topic.log, dirtiness(topic))


def test_the_dirtiest_log_is_chosen() -> None:
    topics = [four_segments(number) for number in range(3)]
    clean_offsets = {topics[number].log: offset for number, offset in enumerate((20, 10, 30))}

    chosen = choose([topic.log for topic in topics], clean_offsets, now_ms=topics[0].now_ms)

    assert chosen is not None
    assert chosen[0] is topics[1].log
    assert choose([], {}, now_ms=0) is None


def test_a_plan_names_the_segments_and_all_that_is_needed_without_the_log() -> None:
    topic = four_segments()
    topic.put((b"a", b"1"), pid=5)

    made = plan(topic.log, dirtiness(topic, 20), now_ms=topic.now_ms)

    assert [source.base_offset for source in made.sources] == [0, 10, 20, 30]
    assert [source.end_offset for source in made.sources] == [10, 20, 30, 40]
    assert sum(source.size for source in made.sources) == topic.log.size - (
        topic.log.segments.active.size
    )
    assert made.first_dirty_offset == 20
    assert made.last_records[5].last_data_offset == 41
    assert made.delete_retention_ms == topic.config.delete_retention_ms


def test_a_plan_knows_aborted_transactions_that_end_in_later_segments() -> None:
    topic = Compacted()
    topic.put_open((b"a", b"1"), pid=1)
    topic.roll()
    topic.put((b"a", b"2"))
    topic.end(pid=1, is_commit=False)
    topic.put_open((b"a", b"3"), pid=2)
    topic.end(pid=2, is_commit=False)

    made = plan(topic.log, dirtiness(topic), now_ms=topic.now_ms)

    assert made.first_uncleanable_offset == 1
    assert [transaction.producer_id for transaction in made.aborted] == [1]
