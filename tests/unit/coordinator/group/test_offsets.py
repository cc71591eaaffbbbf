"""Offsets count when they are stored, in transactions when those commit."""

from moldau.coordinator.group.messages import Committed
from moldau.coordinator.group.offsets import Offsets
from moldau.model import NO_PRODUCER_ID, TopicPartition

A, B = TopicPartition("a", 0), TopicPartition("b", 0)
HOUR = 3_600_000


def at(log_offset: int, commit_timestamp: int = -1, expire_timestamp: int = -1) -> Committed:
    return Committed(log_offset * 10, -1, "", commit_timestamp, expire_timestamp, log_offset)


def test_the_last_one_counts_and_a_tombstone_takes_it_away() -> None:
    offsets = Offsets()
    assert not offsets
    offsets.apply(A, at(1), NO_PRODUCER_ID)
    offsets.apply(A, at(2), NO_PRODUCER_ID)
    assert offsets.committed == {A: at(2)}
    assert offsets
    offsets.apply(A, None, NO_PRODUCER_ID)
    offsets.apply(A, None, NO_PRODUCER_ID)
    assert not offsets


def test_an_open_transaction_makes_a_partition_unstable() -> None:
    offsets = Offsets()
    offsets.apply(A, at(1), 7)
    assert offsets.is_unstable(A)
    assert not offsets.is_unstable(B)
    assert offsets.committed == {}
    offsets.end_transaction(7, is_commit=True)
    assert not offsets.is_unstable(A)
    assert offsets.committed == {A: at(1)}


def test_an_aborted_transaction_leaves_nothing() -> None:
    offsets = Offsets()
    offsets.apply(A, at(1), 7)
    offsets.end_transaction(7, is_commit=False)
    offsets.end_transaction(8, is_commit=True)
    assert not offsets


def test_a_later_commit_wins_over_a_transaction_that_ends_after_it() -> None:
    offsets = Offsets()
    offsets.apply(A, at(1), 7)
    offsets.apply(A, at(2), NO_PRODUCER_ID)
    offsets.apply(B, at(3), NO_PRODUCER_ID)
    offsets.apply(B, at(4), 7)
    offsets.end_transaction(7, is_commit=True)
    assert offsets.committed == {A: at(2), B: at(4)}


def expired(offsets: Offsets, now_ms: int, base: int | None, *topics: str) -> list[TopicPartition]:
    found = offsets.expired(now_ms, until_ms=now_ms - HOUR, base_timestamp=base, subscribed=topics)
    return list(found)


def test_offsets_expire_from_their_commit_or_from_a_common_time() -> None:
    offsets = Offsets()
    offsets.apply(A, at(1, commit_timestamp=0), NO_PRODUCER_ID)
    offsets.apply(B, at(2, commit_timestamp=5), NO_PRODUCER_ID)
    assert expired(offsets, HOUR - 1, None) == []
    assert expired(offsets, HOUR, None) == [A]
    assert expired(offsets, HOUR + 5, None) == [A, B]
    assert expired(offsets, HOUR + 5, None, "a") == [B]
    assert expired(offsets, HOUR + 5, 6) == []
    assert expired(offsets, HOUR + 6, 6) == [A, B]


def test_a_time_of_its_own_goes_before_all_others() -> None:
    offsets = Offsets()
    offsets.apply(A, at(1, commit_timestamp=0, expire_timestamp=9), NO_PRODUCER_ID)
    assert expired(offsets, 8, 0) == []
    assert expired(offsets, 9, 8) == [A]


def test_what_a_transaction_may_change_does_not_expire() -> None:
    offsets = Offsets()
    offsets.apply(A, at(1, commit_timestamp=0), NO_PRODUCER_ID)
    offsets.apply(A, at(2), 7)
    assert expired(offsets, HOUR, None) == []
