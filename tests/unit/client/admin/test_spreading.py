"""Where partitions should be."""

import random
from collections.abc import Mapping, Sequence

import pytest

from moldau.client.admin.spreading import Load, Spreading, loads
from moldau.model import TopicPartition

NO_RACKS: dict[int, str | None] = {}


def partitions(*replicas: Sequence[int]) -> dict[TopicPartition, list[int]]:
    return {TopicPartition("t", at): list(found) for at, found in enumerate(replicas)}


def spread(
    current: Mapping[TopicPartition, Sequence[int]],
    brokers: Sequence[int],
    *,
    racks: Mapping[int, str | None] = NO_RACKS,
    sizes: Mapping[TopicPartition, int] | None = None,
) -> dict[TopicPartition, list[int]]:
    """All partitions as they are afterwards."""
    plan = Spreading(brokers, racks, sizes or {}).plan(current)
    return {**{each: list(found) for each, found in current.items()}, **plan}


def test_what_is_even_stays() -> None:
    current = partitions([0, 1], [1, 2], [2, 0])
    assert Spreading([0, 1, 2], NO_RACKS, {}).plan(current) == {}


def test_new_brokers_get_their_share_and_no_more_is_moved_than_that() -> None:
    current = partitions(*[[0]] * 6)
    after = spread(current, [0, 1, 2])
    assert [load.replicas for load in loads(after, {}, [0, 1, 2]).values()] == [2, 2, 2]
    assert sum(after[each] != found for each, found in current.items()) == 4


def test_brokers_that_are_to_go_are_emptied() -> None:
    after = spread(partitions([2], [2, 0], [1, 2]), [0, 1])
    assert all(2 not in replicas for replicas in after.values())
    assert all(len(set(replicas)) == len(replicas) for replicas in after.values())


def test_a_replica_that_nobody_else_can_have_stays() -> None:
    assert spread(partitions([0, 1, 2]), [0, 1]) == partitions([0, 1, 2])


def test_leaders_are_spread_without_moving_replicas() -> None:
    after = spread(partitions([0, 1], [0, 1], [0, 1], [0, 1]), [0, 1])
    assert sorted(after.values()) == [[0, 1], [0, 1], [1, 0], [1, 0]]


def test_bytes_are_spread_by_exchanging_large_for_small() -> None:
    current = partitions([0], [0], [1], [1])
    sizes = dict(zip(current, (100, 90, 1, 2), strict=True))
    after = loads(spread(current, [0, 1], sizes=sizes), sizes, [0, 1])
    assert [load.replicas for load in after.values()] == [2, 2]
    assert abs(after[0].size_bytes - after[1].size_bytes) < 20


def test_two_replicas_do_not_come_into_one_rack() -> None:
    racks = {0: "a", 1: "a", 2: "b", 3: "b"}
    after = spread(partitions(*[[0, 2]] * 4), [0, 1, 2, 3], racks=racks)
    assert all({racks[each] for each in replicas} == {"a", "b"} for replicas in after.values())
    assert [load.replicas for load in loads(after, {}, racks).values()] == [2, 2, 2, 2]


@pytest.mark.parametrize("seed", range(20))
def test_whatever_there_is_becomes_even_and_stays_so(seed: int) -> None:
    drawn = random.Random(seed)
    count = drawn.randint(2, 6)
    brokers = list(range(count))
    current = partitions(
        *(
            drawn.sample(brokers, drawn.randint(1, min(3, count)))
            for _ in range(drawn.randint(1, 40))
        )
    )
    sizes = {each: drawn.randint(0, 10**6) for each in current}
    after = spread(current, brokers, sizes=sizes)
    for each, replicas in after.items():
        assert len(set(replicas)) == len(current[each])
    counts = [load.replicas for load in loads(after, sizes, brokers).values()]
    assert max(counts) - min(counts) <= 1
    assert [len(found) for found in after.values()] == [len(found) for found in current.values()]
    again = loads(spread(after, brokers, sizes=sizes), sizes, brokers)
    assert [load.replicas for load in again.values()] == counts


def test_loads_count_replicas_preferred_leaders_and_bytes() -> None:
    found = loads(partitions([0, 1], [1]), {TopicPartition("t", 0): 5}, [0, 1, 2])
    assert found == {0: Load(1, 1, 5), 1: Load(2, 1, 5), 2: Load(0, 0, 0)}
