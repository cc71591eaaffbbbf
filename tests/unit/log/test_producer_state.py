"""Which batch a partition takes next from which producer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.errors import ErrorCode, KafkaError
from moldau.log.producer_state import (
    CompletedTransaction,
    KeptBatch,
    LastRecord,
    Origin,
    Producer,
    Producers,
)
from moldau.records.batch import CONTROL, TRANSACTIONAL, BatchHeader
from moldau.records.control import EndMarker

SEQUENCE_MAX = 2**31 - 1


def batch(
    offset: int = 0,
    *,
    pid: int = 1,
    epoch: int = 0,
    sequence: int = 0,
    count: int = 1,
    attributes: int = 0,
    timestamp: int = 1000,
) -> BatchHeader:
    """The header of a batch of `count` records at `offset`."""
    return BatchHeader(
        base_offset=offset,
        size=100,
        leader_epoch=0,
        magic=2,
        crc=0,
        attributes=attributes,
        last_offset_delta=count - 1,
        base_timestamp=timestamp,
        max_timestamp=timestamp,
        producer_id=pid,
        producer_epoch=epoch,
        base_sequence=sequence,
        record_count=count,
    )


def data(offset: int, **fields: int) -> BatchHeader:
    return batch(offset, attributes=TRANSACTIONAL, **fields)


def end(offset: int, *, pid: int = 1, epoch: int = 0) -> BatchHeader:
    return batch(offset, pid=pid, epoch=epoch, sequence=-1, attributes=TRANSACTIONAL | CONTROL)


COMMIT = EndMarker(is_commit=True, coordinator_epoch=0)
ABORT = EndMarker(is_commit=False, coordinator_epoch=0)


def check(
    producers: Producers,
    header: BatchHeader,
    marker: EndMarker | None = None,
    origin: Origin = Origin.CLIENT,
) -> KeptBatch | None:
    return producers.check_append([(header, marker)], origin)


def refusal(*arguments: object) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        check(*arguments)
    return caught.value.code


def producers_after(*headers: BatchHeader) -> Producers:
    producers = Producers()
    for header in headers:
        producers.apply(header, None)
    return producers


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

    assert producers.get(1).batches[0].first_sequence == -1
    assert check(producers, data(1, sequence=0)) is None


def test_replication_is_never_refused() -> None:
    producers = producers_after(batch(0, epoch=5))
    odd = batch(1, epoch=2, sequence=77)

    assert check(producers, odd, None, Origin.REPLICATION) is None
    producers.apply(odd, None)
    assert producers.get(1).epoch == 2


def test_several_batches_of_one_append_are_checked_in_turn() -> None:
    producers = Producers()
    first, second = batch(0, sequence=0, count=2), batch(2, sequence=2)

    assert producers.check_append([(first, None), (second, None)], Origin.CLIENT) is None
    with pytest.raises(KafkaError):
        producers.check_append([(first, None), (batch(2, sequence=3), None)], Origin.CLIENT)
    assert len(producers) == 0


def test_a_plain_batch_inside_an_open_transaction_is_refused() -> None:
    producers = producers_after(data(0, sequence=0))

    assert refusal(producers, batch(1, sequence=1)) == ErrorCode.INVALID_TXN_STATE
    assert check(producers, data(1, sequence=1)) is None


def test_a_marker_of_an_old_producer_epoch_is_refused() -> None:
    producers = producers_after(data(0, epoch=2))

    code = refusal(producers, end(1, epoch=1), COMMIT, Origin.COORDINATOR)
    assert code == ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_marker_of_a_deposed_coordinator_is_refused() -> None:
    producers = producers_after(data(0))
    producers.apply(end(1), EndMarker(is_commit=True, coordinator_epoch=7))

    late = EndMarker(is_commit=False, coordinator_epoch=6)
    code = refusal(producers, end(2), late, Origin.COORDINATOR)
    assert code == ErrorCode.TRANSACTION_COORDINATOR_FENCED
    again = EndMarker(is_commit=True, coordinator_epoch=7)
    assert check(producers, end(2), again, Origin.COORDINATOR) is None


def test_a_transaction_is_unstable_until_its_marker_is_replicated() -> None:
    producers = producers_after(data(5))
    assert producers.first_unstable_offset == 5
    assert producers.has_open_transaction(1)

    completed = producers.apply(end(8), ABORT)

    assert completed == CompletedTransaction(1, 5, 8, 9, is_aborted=True)
    assert not producers.has_open_transaction(1)
    assert producers.first_undecided_offset is None
    assert producers.first_unstable_offset == 5
    producers.replicated_to(8)
    assert producers.first_unstable_offset == 5
    producers.replicated_to(9)
    assert producers.first_unstable_offset is None


def test_the_oldest_open_transaction_holds_the_stable_offset() -> None:
    producers = producers_after(data(0, pid=1), data(1, pid=2), data(2, pid=3))

    middle = producers.apply(end(3, pid=2), COMMIT)
    assert middle == CompletedTransaction(2, 1, 3, 0, is_aborted=False)
    first = producers.apply(end(4, pid=1), ABORT)
    assert first == CompletedTransaction(1, 0, 4, 2, is_aborted=True)
    producers.replicated_to(5)
    assert producers.first_unstable_offset == 2


def test_a_marker_of_an_empty_transaction_completes_nothing() -> None:
    producers = Producers()

    assert producers.apply(end(0, epoch=4), COMMIT) is None
    assert producers.first_unstable_offset is None
    assert producers.get(1).epoch == 4


def test_a_control_batch_without_a_marker_says_nothing() -> None:
    producers = producers_after(data(0))

    assert producers.apply(end(1), None) is None
    assert producers.has_open_transaction(1)


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
        Producer(1, epoch=0, last_timestamp=1000, transaction_first_offset=30),
        Producer(2, epoch=0, last_timestamp=0, transaction_first_offset=10),
        Producer(3, epoch=0, last_timestamp=0),
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


def test_a_transaction_opens_only_under_its_current_guard() -> None:
    producers = Producers()
    guard = producers.verifications.begin(1, sequence=0, epoch=0, now_ms=0)

    def outcome(with_guard: object) -> ErrorCode:
        try:
            producers.check_append([(data(0), None)], Origin.CLIENT, with_guard)
        except KafkaError as error:
            return error.code
        return ErrorCode.NONE

    assert outcome(guard) == ErrorCode.NONE
    assert outcome(None) == ErrorCode.INVALID_TXN_STATE
    # A marker in between ends the transaction that was asked about.
    producers.apply(end(0), ABORT)
    assert outcome(guard) == ErrorCode.INVALID_TXN_STATE


def test_a_guard_that_was_never_used_expires() -> None:
    producers = Producers()
    guard = producers.verifications.begin(1, sequence=0, epoch=0, now_ms=0)

    producers.expire(now_ms=1000, expiration_ms=1000)

    assert not producers.verifications.holds(1, guard)


def test_an_open_transaction_needs_no_guard_and_plain_batches_neither() -> None:
    producers = Producers()
    guard = producers.verifications.begin(1, sequence=0, epoch=0, now_ms=0)
    producers.check_append([(data(0), None)], Origin.CLIENT, guard)
    producers.apply(data(0), None)

    assert check(producers, data(1, sequence=1)) is None
    assert check(producers, batch(1, pid=2, sequence=0)) is None
    assert check(producers, end(1), COMMIT, Origin.COORDINATOR) is None


def test_a_transaction_begins_with_the_lowest_sequence_asked_about() -> None:
    producers = Producers()
    producers.verifications.begin(1, sequence=4, epoch=0, now_ms=0)
    guard = producers.verifications.begin(1, sequence=0, epoch=0, now_ms=0)

    with pytest.raises(KafkaError) as caught:
        producers.check_append([(data(0, sequence=4), None)], Origin.CLIENT, guard)

    assert caught.value.code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.sampled_from(["data", "commit", "abort", "replicate"])),
        max_size=40,
    )
)
def test_the_first_unstable_offset_is_the_oldest_undecided_or_unreplicated_one(
    steps: list[tuple[int, str]],
) -> None:
    producers = Producers()
    sequences = dict.fromkeys((1, 2, 3), 0)
    open_from: dict[int, int] = {}
    ended: list[tuple[int, int]] = []
    offset = high_watermark = 0
    for pid, verb in steps:
        if verb == "replicate":
            high_watermark = min(offset, high_watermark + pid)
            producers.replicated_to(high_watermark)
            ended = [(first, last) for first, last in ended if last >= high_watermark]
        elif verb == "data":
            producers.apply(data(offset, pid=pid, sequence=sequences[pid]), None)
            sequences[pid] += 1
            open_from.setdefault(pid, offset)
            offset += 1
        else:
            completed = producers.apply(end(offset, pid=pid), COMMIT if verb == "commit" else ABORT)
            assert (completed is None) == (pid not in open_from)
            if pid in open_from:
                ended.append((open_from.pop(pid), offset))
                assert completed.last_stable_offset == min(open_from.values(), default=offset + 1)
            offset += 1
        unstable = [*open_from.values(), *(first for first, _ in ended)]
        assert producers.first_unstable_offset == min(unstable, default=None)
        assert producers.first_undecided_offset == min(open_from.values(), default=None)
