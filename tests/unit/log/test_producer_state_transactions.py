"""Which transactions of a partition are open, and who may end them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.errors import ErrorCode, KafkaError
from moldau.log.producer_state import CompletedTransaction, Origin, Producers
from moldau.log.verification import Guard
from moldau.records.control import EndMarker
from unit.log.producing import ABORT, COMMIT, batch, check, data, end, producers_after, refusal


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
    producer = producers.get(1)
    assert producer is not None
    assert producer.epoch == 4


def test_a_control_batch_without_a_marker_says_nothing() -> None:
    producers = producers_after(data(0))

    assert producers.apply(end(1), None) is None
    assert producers.has_open_transaction(1)


def test_a_transaction_opens_only_under_its_current_guard() -> None:
    producers = Producers()
    guard = producers.verifications.begin(1, sequence=0, epoch=0, now_ms=0)

    def outcome(with_guard: Guard | None) -> ErrorCode:
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
                assert completed is not None
                assert completed.last_stable_offset == min(open_from.values(), default=offset + 1)
            offset += 1
        unstable = [*open_from.values(), *(first for first, _ in ended)]
        assert producers.first_unstable_offset == min(unstable, default=None)
        assert producers.first_undecided_offset == min(open_from.values(), default=None)
