"""Replica placement: even, deterministic from its start, apart by rack."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.controller.assignment import BrokerCandidate, Start, assign_replicas
from moldau.errors import ErrorCode, KafkaError

FIVE = [BrokerCandidate(n) for n in range(5)]


def test_the_known_example_of_ten_partitions_on_five_brokers() -> None:
    assigned = assign_replicas(FIVE, partition_count=10, replication_factor=3, start=Start(0, 0))
    assert list(assigned.values()) == [
        (0, 1, 2),
        (1, 2, 3),
        (2, 3, 4),
        (3, 4, 0),
        (4, 0, 1),
        (0, 2, 3),
        (1, 3, 4),
        (2, 4, 0),
        (3, 0, 1),
        (4, 1, 2),
    ]


def test_racks_alternate_and_no_rack_has_two_replicas_before_all_have_one() -> None:
    racks = {0: "r1", 1: "r3", 2: "r3", 3: "r2", 4: "r2", 5: "r1"}
    brokers = [BrokerCandidate(broker, rack) for broker, rack in racks.items()]
    assigned = assign_replicas(brokers, partition_count=6, replication_factor=3, start=Start(0, 0))
    assert list(assigned.values()) == [
        (0, 3, 1),
        (3, 1, 5),
        (1, 5, 4),
        (5, 4, 2),
        (4, 2, 0),
        (2, 0, 3),
    ]


def test_added_partitions_continue_after_the_existing_ones() -> None:
    start = Start(0, 0, first_partition=5)
    added = assign_replicas(FIVE, partition_count=2, replication_factor=2, start=start)
    assert added == {5: (0, 2), 6: (1, 3)}


@given(st.data())
def test_replicas_are_distinct_and_leaders_are_even(data: st.DataObject) -> None:
    racks = data.draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=8))
    has_racks = data.draw(st.booleans())
    brokers = [BrokerCandidate(n, rack if has_racks else None) for n, rack in enumerate(racks)]
    factor = data.draw(st.integers(1, len(brokers)))
    assigned = assign_replicas(
        brokers,
        partition_count=data.draw(st.integers(1, 30)),
        replication_factor=factor,
        start=Start(data.draw(st.integers(0, 100)), data.draw(st.integers(0, 100))),
    )
    for replicas in assigned.values():
        assert len(set(replicas)) == factor
        if has_racks:
            assert len({racks[n] for n in replicas}) == min(len(set(racks)), factor)
    leaders = Counter(replicas[0] for replicas in assigned.values())
    assert max(leaders.values()) - min(leaders[n] for n in range(len(brokers))) <= 1


@pytest.mark.parametrize(
    ("partitions", "factor", "code"),
    [
        (0, 1, ErrorCode.INVALID_PARTITIONS),
        (1, 0, ErrorCode.INVALID_REPLICATION_FACTOR),
        (1, 6, ErrorCode.INVALID_REPLICATION_FACTOR),
    ],
)
def test_impossible_wishes_are_refused(partitions: int, factor: int, code: ErrorCode) -> None:
    with pytest.raises(KafkaError) as caught:
        assign_replicas(
            FIVE, partition_count=partitions, replication_factor=factor, start=Start(0, 0)
        )
    assert caught.value.code == code


def test_racks_on_some_brokers_only_are_refused() -> None:
    mixed = [BrokerCandidate(0, "a"), BrokerCandidate(1)]
    with pytest.raises(KafkaError):
        assign_replicas(mixed, partition_count=1, replication_factor=1, start=Start(0, 0))


def test_a_shift_beyond_the_other_brokers_begins_anew() -> None:
    assigned = assign_replicas(FIVE, partition_count=1, replication_factor=3, start=Start(0, 5))
    assert assigned == {0: (0, 2, 3)}
