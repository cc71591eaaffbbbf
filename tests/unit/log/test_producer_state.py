"""Which batch a partition takes next from which producer."""

import pytest

from moldau.errors import ErrorCode, KafkaError
from moldau.log.producer_state import KeptBatch, LastRecord, Origin, ProducerEntry, Producers
from unit.log.producing import ABORT, COMMIT, batch, check, data, end, producers_after, refusal

SEQUENCE_MAX = 2**31 - 1


def test_a_batch_without_a_producer_leaves_no_trace() -> None:
    producers = Producers()
    header = batch(pid=-1, epoch=-1, sequence=-1)

    assert check(producers, header) is None
    assert producers.apply(header, None) is None
    assert len(producers) == 0
    assert producers.first_unstable_offset is None


def test_checking_changes_nothing() -> None:
    producers = Producers()

    check(producers, batch())

    assert list(producers) == []


@pytest.mark.parametrize("sequence", [0, 5, SEQUENCE_MAX])
def test_an_unknown_producer_may_begin_anywhere(sequence: int) -> None:
    assert check(Producers(), batch(sequence=sequence)) is None


def test_the_next_sequence_is_taken_and_a_gap_is_not() -> None:
    producers = producers_after(batch(0, sequence=0, count=3))

    assert check(producers, batch(3, sequence=3)) is None
    assert refusal(producers, batch(3, sequence=4)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_after_the_last_sequence_comes_zero() -> None:
    producers = producers_after(batch(0, sequence=SEQUENCE_MAX - 1, count=2))

    assert check(producers, batch(2, sequence=0)) is None
    assert refusal(producers, batch(2, sequence=1)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_batch_may_wrap_around_and_is_recognised_again() -> None:
    wrapping = batch(10, sequence=SEQUENCE_MAX, count=3, timestamp=7)
    producers = producers_after(wrapping)

    assert check(producers, batch(13, sequence=SEQUENCE_MAX, count=3)) == KeptBatch(1, 12, 2, 7)
    assert check(producers, batch(13, sequence=2)) is None


def test_each_of_the_last_five_batches_is_recognised_with_its_offset_and_time() -> None:
    producers = producers_after(
        *(batch(10 * n, sequence=2 * n, count=2, timestamp=n) for n in range(7))
    )

    for n in range(2, 7):
        repeated = check(producers, batch(70, sequence=2 * n, count=2))
        assert repeated is not None
        assert (repeated.first_offset, repeated.last_offset) == (10 * n, 10 * n + 1)
        assert repeated.timestamp == n


def test_a_repetition_older_than_five_batches_is_out_of_order() -> None:
    producers = producers_after(*(batch(n, sequence=n) for n in range(6)))

    assert refusal(producers, batch(6, sequence=0)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_batch_that_only_overlaps_is_not_a_repetition() -> None:
    producers = producers_after(batch(0, sequence=0, count=4))

    code = refusal(producers, batch(4, sequence=0, count=3))
    assert code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    code = refusal(producers, batch(4, sequence=1, count=3))
    assert code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_an_old_epoch_is_fenced() -> None:
    producers = producers_after(batch(0, epoch=3))

    assert refusal(producers, batch(1, epoch=2)) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert refusal(producers, batch(0, epoch=2)) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_new_epoch_begins_with_sequence_zero_and_forgets_the_batches() -> None:
    producers = producers_after(batch(0, sequence=0), batch(1, sequence=1))

    code = refusal(producers, batch(2, epoch=1, sequence=2))
    assert code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert check(producers, batch(2, epoch=1, sequence=0)) is None
    producers.apply(batch(2, epoch=1, sequence=0), None)
    repeated = check(producers, batch(3, epoch=1, sequence=0))
    assert repeated is not None
    assert repeated.last_offset == 2


def test_after_a_marker_of_a_new_epoch_the_sequence_begins_at_zero() -> None:
    producers = producers_after(data(0, sequence=0))
    producers.apply(end(1, epoch=1), ABORT)

    code = refusal(producers, data(2, epoch=1, sequence=1))
    assert code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert check(producers, data(2, epoch=1, sequence=0)) is None


def test_after_a_marker_of_the_same_epoch_the_sequence_goes_on() -> None:
    producers = producers_after(data(0, sequence=0))
    producers.apply(end(1), COMMIT)

    assert check(producers, data(2, sequence=1)) is None
    assert check(producers, data(2, sequence=0)) == KeptBatch(0, 0, 0, 1000)


def test_the_coordinator_has_no_sequences_but_epochs() -> None:
    producers = producers_after(data(0, epoch=1, sequence=-1))

    assert check(producers, data(1, epoch=1, sequence=-1), None, Origin.COORDINATOR) is None
    code = refusal(producers, data(1, epoch=0, sequence=-1), None, Origin.COORDINATOR)
    assert code == ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_batch_without_sequences_is_never_taken_for_a_repetition() -> None:
    producers = producers_after(data(0, sequence=-1))

    producer = producers.get(1)
    assert producer is not None
    assert producer.batches[0].first_sequence == -1
    assert check(producers, data(1, sequence=0)) is None


def test_replication_is_never_refused() -> None:
    producers = producers_after(batch(0, epoch=5))
    odd = batch(1, epoch=2, sequence=77)

    assert check(producers, odd, None, Origin.REPLICATION) is None
    producers.apply(odd, None)
    producer = producers.get(1)
    assert producer is not None
    assert producer.epoch == 2


def test_several_batches_of_one_append_are_checked_in_turn() -> None:
    producers = Producers()
    first, second = batch(0, sequence=0, count=2), batch(2, sequence=2)

    assert producers.check_append([(first, None), (second, None)], Origin.CLIENT) is None
    with pytest.raises(KafkaError):
        producers.check_append([(first, None), (batch(2, sequence=3), None)], Origin.CLIENT)
    assert len(producers) == 0


def test_the_silent_are_forgotten_but_not_in_a_transaction() -> None:
    producers = producers_after(
        batch(0, pid=1, timestamp=100), batch(1, pid=2, timestamp=200), data(2, pid=3, timestamp=0)
    )

    assert producers.expire(now_ms=1099, expiration_ms=1000) == []
    assert producers.expire(now_ms=1100, expiration_ms=1000) == [1]
    assert [p.producer_id for p in producers] == [2, 3]
    assert check(producers, batch(3, pid=1, sequence=99)) is None


def test_a_snapshot_brings_back_open_transactions_in_order_and_no_expired_producers() -> None:
    producers = producers_after(data(50, pid=9))
    loaded = [
        ProducerEntry(1, epoch=0, last_timestamp=1000, transaction_first_offset=30),
        ProducerEntry(2, epoch=0, last_timestamp=0, transaction_first_offset=10),
        ProducerEntry(3, epoch=0, last_timestamp=0),
    ]

    producers.load(loaded, now_ms=1000, expiration_ms=500)

    assert [p.producer_id for p in producers] == [1, 2]
    assert producers.first_unstable_offset == 10
    producers.apply(end(40, pid=2), COMMIT)
    assert producers.first_undecided_offset == 30


def test_compaction_learns_what_to_keep() -> None:
    producers = producers_after(batch(0, pid=1), batch(1, pid=1, sequence=1, count=4))
    producers.apply(end(5, pid=2, epoch=6), ABORT)

    assert producers.last_records() == {1: LastRecord(4, 0), 2: LastRecord(None, 6)}
