"""Offsets count when they are stored, in transactions when those commit."""

from typing import Any

import pytest

from moldau.coordinator.group import offsets as source
from moldau.coordinator.group.messages import Committed
from moldau.coordinator.group.records import GroupRecord, OffsetRecord
from moldau.model import NO_PRODUCER_ID, TopicPartition

A, B = TopicPartition("a", 0), TopicPartition("b", 0)
HOUR = 3_600_000


@pytest.fixture(params=["source", "compiled"])
def new_offsets(request: pytest.FixtureRequest) -> Any:
    if request.param == "source":
        return source.Offsets
    return pytest.importorskip("moldau.coordinator.group._offsets").Offsets


def at(log_offset: int, commit_timestamp: int = -1, expire_timestamp: int = -1) -> Committed:
    return Committed(log_offset * 10, -1, "", commit_timestamp, expire_timestamp, log_offset)


def test_the_last_one_counts_and_a_tombstone_takes_it_away(new_offsets: Any) -> None:
    offsets = new_offsets()
    assert not offsets
    offsets.apply(A, at(1), NO_PRODUCER_ID)
    offsets.apply(A, at(2), NO_PRODUCER_ID)
    assert offsets.committed == {A: at(2)}
    assert offsets
    offsets.apply(A, None, NO_PRODUCER_ID)
    offsets.apply(A, None, NO_PRODUCER_ID)
    assert not offsets


def test_an_open_transaction_makes_a_partition_unstable(new_offsets: Any) -> None:
    offsets = new_offsets()
    offsets.apply(A, at(1), 7)
    assert offsets.is_unstable(A)
    assert not offsets.is_unstable(B)
    assert offsets.committed == {}
    offsets.end_transaction(7, is_commit=True)
    assert not offsets.is_unstable(A)
    assert offsets.committed == {A: at(1)}


def test_one_of_several_open_transactions_is_enough(new_offsets: Any) -> None:
    offsets = new_offsets()
    offsets.apply(A, at(1), 7)
    offsets.apply(B, at(2), 8)
    offsets.end_transaction(8, is_commit=False)
    offsets.apply(B, at(3), 9)
    assert offsets.is_unstable(A)
    assert offsets.is_unstable(B)


def test_an_aborted_transaction_leaves_nothing(new_offsets: Any) -> None:
    offsets = new_offsets()
    offsets.apply(A, at(1), 7)
    offsets.end_transaction(7, is_commit=False)
    offsets.end_transaction(8, is_commit=True)
    assert not offsets


def test_a_later_commit_wins_over_a_transaction_that_ends_after_it(new_offsets: Any) -> None:
    offsets = new_offsets()
    offsets.apply(A, at(1), 7)
    offsets.apply(A, at(2), NO_PRODUCER_ID)
    offsets.apply(B, at(3), NO_PRODUCER_ID)
    offsets.apply(B, at(4), 7)
    offsets.end_transaction(7, is_commit=True)
    assert offsets.committed == {A: at(2), B: at(4)}


def expired(offsets: Any, now_ms: int, base: int | None, *topics: str) -> list[TopicPartition]:
    found = offsets.expired(now_ms, until_ms=now_ms - HOUR, base_timestamp=base, subscribed=topics)
    return list(found)


def test_offsets_expire_from_their_commit_or_from_a_common_time(new_offsets: Any) -> None:
    offsets = new_offsets()
    offsets.apply(A, at(1, commit_timestamp=0), NO_PRODUCER_ID)
    offsets.apply(B, at(2, commit_timestamp=5), NO_PRODUCER_ID)
    assert expired(offsets, HOUR - 1, None) == []
    assert expired(offsets, HOUR, None) == [A]
    assert expired(offsets, HOUR + 5, None) == [A, B]
    assert expired(offsets, HOUR + 5, None, "a") == [B]
    assert expired(offsets, HOUR + 5, 6) == []
    assert expired(offsets, HOUR + 6, 6) == [A, B]


def test_a_time_of_its_own_goes_before_all_others(new_offsets: Any) -> None:
    offsets = new_offsets()
    offsets.apply(A, at(1, commit_timestamp=0, expire_timestamp=9), NO_PRODUCER_ID)
    assert expired(offsets, 8, 0) == []
    assert expired(offsets, 9, 8) == [A]


def test_what_a_transaction_may_change_does_not_expire(new_offsets: Any) -> None:
    offsets = new_offsets()
    offsets.apply(A, at(1, commit_timestamp=0), NO_PRODUCER_ID)
    offsets.apply(A, at(2), 7)
    assert expired(offsets, HOUR, None) == []


def test_what_follows_each_other_of_a_group_is_stored_at_once(new_offsets: Any) -> None:
    offsets = new_offsets()
    given = [
        OffsetRecord("g", A, at(7, 1, 2)),
        OffsetRecord("g", B, at(7)),
        OffsetRecord("g", A, at(8)),
    ]
    assert offsets.store(given, OffsetRecord, 20) == 3
    assert offsets.committed == {A: at(8)._replace(log_offset=22), B: at(7)._replace(log_offset=21)}
    assert {type(each) for each in offsets.committed.values()} == {Committed}


@pytest.mark.parametrize(
    "other", [OffsetRecord("g", B, None), OffsetRecord("h", B, at(9)), GroupRecord("g", None)]
)
def test_what_is_no_offset_of_the_group_ends_it(new_offsets: Any, other: object) -> None:
    offsets = new_offsets()
    given = [OffsetRecord("g", A, at(7)), other, OffsetRecord("g", A, at(8))]
    assert offsets.store(given, OffsetRecord, 7) == 1
    assert offsets.committed == {A: at(7)}
