"""What compaction keeps of transactions and of their producers."""

from moldau.log.producer_state import KeptBatch
from moldau.records.batch import crc_is_valid
from unit.log.compaction import RETENTION_MS, Compacted, table


def test_aborted_records_go_at_once_and_committed_ones_stay() -> None:
    topic = Compacted()
    topic.put((b"a", b"old"))
    topic.put_open((b"a", b"aborted"), pid=1)
    topic.put_open((b"b", b"committed"), pid=2)
    topic.end(pid=1, is_commit=False)
    topic.end(pid=2, is_commit=True)
    topic.put((b"z", b"last"))

    topic.roll_and_clean()

    assert topic.rows() == [(0, b"a", b"old"), (2, b"b", b"committed"), (5, b"z", b"last")]
    assert topic.markers() == [3, 4]
    assert table(topic.committed()) == {b"a": b"old", b"b": b"committed", b"z": b"last"}


def test_an_abort_marker_goes_a_retention_after_its_records() -> None:
    topic = Compacted()
    topic.put_open((b"a", b"1"), pid=1)
    topic.end(pid=1, is_commit=False)
    # The producer goes on, so that its last batch is a later one.
    topic.put((b"a", b"2"), pid=1)
    topic.roll_and_clean()
    assert topic.markers() == [1]
    assert len(topic.log.segments.first.indexes.transactions) == 1

    topic.put((b"b", b"3"))
    topic.roll_and_clean()  # finds no record of the transaction: the horizon is set
    assert topic.markers() == [1]
    assert len(topic.log.segments.first.indexes.transactions) == 0
    marker = next(found for found in topic.batches() if found.header.is_control)
    assert marker.header.base_timestamp == topic.now_ms + RETENTION_MS
    assert crc_is_valid(marker.data, 0, marker.header.size)

    topic.now_ms += RETENTION_MS
    topic.put((b"b", b"4"))
    topic.roll_and_clean()
    assert topic.markers() == []


def test_a_producer_that_aborted_before_may_commit_what_is_dirty_now() -> None:
    topic = Compacted()
    topic.put((b"a", b"1"))
    topic.put_open((b"a", b"aborted"), pid=1)
    topic.end(pid=1, is_commit=False)
    topic.roll_and_clean()
    topic.put_open((b"a", b"2"), pid=1)
    topic.end(pid=1, is_commit=True)

    topic.roll_and_clean()

    assert topic.rows() == [(3, b"a", b"2")]


def test_a_commit_marker_stays_while_records_of_its_transaction_do() -> None:
    topic = Compacted()
    topic.put_open((b"a", b"1"), (b"b", b"2"), pid=1)
    topic.end(pid=1, is_commit=True)
    topic.put((b"c", b"3"), pid=1)
    for value in (b"4", b"5", b"6"):
        topic.now_ms += RETENTION_MS
        topic.put((b"a", value))
        topic.roll_and_clean()

    assert topic.markers() == [2]
    topic.put((b"b", b"7"))
    topic.roll_and_clean()  # the last record goes
    topic.put((b"d", b"8"))
    topic.roll_and_clean()  # the horizon is set
    topic.now_ms += RETENTION_MS
    topic.put((b"d", b"9"))
    topic.roll_and_clean()
    assert topic.markers() == []


def test_an_open_transaction_and_all_behind_it_is_not_touched() -> None:
    topic = Compacted()
    topic.put((b"a", b"1"))
    topic.roll()
    topic.put((b"a", b"2"))
    topic.put_open((b"b", b"3"), pid=1)
    topic.put((b"a", b"4"))
    topic.roll()
    topic.put((b"a", b"5"))

    topic.clean()

    assert [offset for offset, _, _ in topic.rows()] == [0, 1, 2, 3, 4]


def test_the_last_batch_of_a_producer_stays_as_an_empty_one() -> None:
    topic = Compacted()
    topic.put((b"a", b"1"), pid=7)
    topic.put((b"a", b"2"), (b"b", b"3"), pid=7)
    topic.put((b"a", b"4"), (b"b", b"5"))

    topic.roll_and_clean()

    empty = topic.batches()[0]
    assert empty.records == []
    assert (empty.header.base_offset, empty.header.last_offset) == (1, 2)
    assert (empty.header.base_sequence, empty.header.last_sequence) == (1, 2)
    assert empty.header.base_timestamp == -1
    assert crc_is_valid(empty.data, 0, empty.header.size)
    topic.flush()
    topic.lose_power()
    producer = topic.log.producers.get(7)
    assert producer is not None
    assert producer.batches == (KeptBatch(2, 2, 1, topic.now_ms),)


def test_the_epoch_of_a_producer_that_only_has_a_marker_stays() -> None:
    topic = Compacted()
    topic.end(pid=3, epoch=5, is_commit=False)
    topic.put((b"a", b"1"))
    for _ in range(3):
        topic.now_ms += RETENTION_MS
        topic.put((b"a", b"2"))
        topic.roll_and_clean()

    assert topic.markers() == []
    control = [found for found in topic.batches() if found.header.is_control]
    assert [found.header.producer_epoch for found in control] == [5]
    assert control[0].records == []
