"""Taking compacted segments into the log, whatever happens meanwhile."""

from collections.abc import Callable

import pytest

from moldau.errors import ErrorCode, KafkaError
from moldau.log import names
from moldau.log.cleaning_swap import swap_in
from moldau.records.record import Record
from moldau.testing.disk import Choice, PowerLost, keep_all, lose_all
from unit.log.compaction import Compacted, table


def busy_topic() -> Compacted:
    """Four durable segments with duplicates, tombstones and a transaction of either kind."""
    topic = Compacted()
    for value in (b"1", b"2"):
        for key in (b"a", b"b", b"c"):
            topic.put((key, value), (b"old-" + key, value), pid=9)
        topic.roll()
    topic.put_open((b"d", b"3"), pid=1)
    topic.put_open((b"a", b"aborted"), pid=2)
    topic.put((b"b", None))
    topic.roll()
    topic.end(pid=1, is_commit=True)
    topic.end(pid=2, is_commit=False)
    topic.roll()
    topic.put((b"e", b"5"))
    topic.flush()
    return topic


def names_of(topic: Compacted) -> list[str]:
    return [entry.name for entry in topic.disk.list_directory(topic.folder.path)]


def test_the_new_segment_takes_the_place_and_the_old_files_wait_for_their_end() -> None:
    topic = busy_topic()
    known = table(topic.committed())
    old_snapshots = [name for name in names_of(topic) if name.endswith(names.SNAPSHOT)]

    (cleaned,) = topic.clean()

    assert [segment.base_offset for segment in topic.log.segments] == [0, 17]
    assert table(topic.committed()) == known
    assert cleaned.replaced == (0, 6, 12, 15)
    assert len(old_snapshots) == 4
    assert [name for name in names_of(topic) if name.endswith(names.SNAPSHOT)] == [
        names.segment_file(17, names.SNAPSHOT)
    ]
    due = topic.log.expire(now_ms=topic.now_ms + topic.config.file_delete_delay_ms)
    assert sorted(due) == sorted(
        f"{topic.folder.path}/{name}" for name in names_of(topic) if name.endswith(names.DELETED)
    )


def test_a_reader_that_holds_the_old_file_goes_on_reading_it() -> None:
    topic = busy_topic()
    fetched = topic.log.read(0, max_bytes=10_000)
    assert fetched.range is not None
    before = fetched.range.file.read(0, fetched.range.size)

    topic.clean()

    assert fetched.range.file.read(0, fetched.range.size) == before


def test_after_a_truncation_the_result_is_dropped() -> None:
    topic = busy_topic()
    made = topic.plan()
    (cleaned,) = topic.cleaner(made).segments()
    topic.log.truncate_to(13, now_ms=topic.now_ms)
    before = names_of(topic)

    assert not swap_in(topic.log, made, cleaned, now_ms=topic.now_ms)

    assert sorted(names_of(topic)) == sorted(n for n in before if not n.endswith(names.CLEANED))
    assert topic.log.log_end_offset == 13


def test_when_retention_took_a_segment_the_result_is_dropped() -> None:
    topic = busy_topic()
    made = topic.plan()
    (cleaned,) = topic.cleaner(made).segments()
    topic.log.drop_first_segments(1, now_ms=topic.now_ms)

    assert not swap_in(topic.log, made, cleaned, now_ms=topic.now_ms)

    assert topic.log.segments.first.base_offset == 6
    assert not [name for name in names_of(topic) if name.endswith(names.CLEANED)]


def clean_with(topic: Compacted, prepare: Callable[[], None]) -> None:
    """Do the work, then `prepare`, then the swap."""
    made = topic.plan()
    for cleaned in topic.cleaner(made).segments():
        prepare()
        swap_in(topic.log, made, cleaned, now_ms=topic.now_ms)


def swap_call_count() -> int:
    topic = busy_topic()
    start = 0

    def note() -> None:
        nonlocal start
        start = len(topic.disk.calls)

    clean_with(topic, note)
    return len(topic.disk.calls) - start


CALLS = swap_call_count()


def keep_half(count: int) -> int:
    return count // 2


def keep_all_but_one(count: int) -> int:
    return max(0, count - 1)


@pytest.mark.parametrize("choice", [lose_all, keep_half, keep_all_but_one, keep_all])
@pytest.mark.parametrize("number", range(1, CALLS + 1))
def test_power_loss_at_any_step_of_the_swap_loses_no_key(number: int, choice: Choice) -> None:
    topic = busy_topic()
    known = table(topic.committed())
    written: dict[int, Record] = {record.offset: record for record in topic.records()}

    with pytest.raises(PowerLost):
        clean_with(topic, lambda: topic.disk.lose_power_at_call(number))
    topic.lose_power(choice)

    assert table(topic.committed()) == known
    assert topic.log.log_end_offset == 18
    offsets = [record.offset for record in topic.records()]
    assert offsets == sorted(set(offsets))
    assert all(written[record.offset] == record for record in topic.records())
    suffixes = (names.CLEANED, names.SWAP, names.DELETED)
    assert not [name for name in names_of(topic) if name.endswith(suffixes)]
    topic.clean()
    assert table(topic.committed()) == known
    assert len(topic.records()) == 8


@pytest.mark.parametrize("number", range(1, CALLS + 1))
def test_a_disk_that_fails_at_any_step_takes_the_volume_offline(number: int) -> None:
    topic = busy_topic()
    known = table(topic.committed())

    with pytest.raises(KafkaError) as caught:
        clean_with(topic, lambda: topic.disk.fail_call(number))

    assert caught.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    assert not topic.folder.volume.is_online
    topic.lose_power(keep_all)
    assert table(topic.committed()) == known


def test_power_loss_at_any_step_of_the_work_changes_nothing() -> None:
    topic = busy_topic()
    made = topic.plan()
    start = len(topic.disk.calls)
    list(topic.cleaner(made).segments())
    for number in range(1, len(topic.disk.calls) - start + 1, 3):
        topic = busy_topic()
        before = [found.data for found in topic.batches()]
        made = topic.plan()
        topic.disk.lose_power_at_call(number)
        with pytest.raises(PowerLost):
            list(topic.cleaner(made).segments())
        topic.lose_power(keep_all)
        assert [found.data for found in topic.batches()] == before
