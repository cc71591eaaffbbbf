"""Where records go that name no partition."""

import pytest

from moldau.client.partitioner import (
    RoundRobinPartitioner,
    StickyPartitioner,
    murmur2,
    partition_of_key,
)


class Scripted:
    """Chance that gives the numbers it is told."""

    def __init__(self, *numbers: int) -> None:
        self._numbers = list(numbers)

    def below(self, limit: int) -> int:
        number = self._numbers.pop(0)
        assert number < limit
        return number

    def uuid(self) -> bytes:
        return bytes(16)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("21", -973932308),
        ("foobar", -790332482),
        ("a-little-bit-long-string", -985981536),
        ("a-little-bit-longer-string", -1486304829),
        ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        ("abc", 479470107),
    ],
)
def test_the_hash_is_the_one_of_java(text: str, expected: int) -> None:
    assert murmur2(text.encode()) == expected


def test_a_key_goes_where_java_puts_it() -> None:
    assert partition_of_key(b"foobar", range(10)) == (-790332482 & 0x7FFFFFFF) % 10


def test_records_without_a_key_stay_until_a_batch_is_full() -> None:
    partitioner = StickyPartitioner(Scripted(1, 0, 0), batch_size=100)
    partitions = [0, 1, 2]
    chosen = []
    for _ in range(6):
        chosen.append(partitioner("t", None, partitions))
        partitioner.fill("t", 40, partitions)
    assert chosen == [1, 1, 1, 0, 0, 0]


def test_a_key_does_not_stick() -> None:
    partitioner = StickyPartitioner(Scripted(), batch_size=100)
    assert partitioner("t", b"foobar", range(10)) == partition_of_key(b"foobar", range(10))


def test_the_only_partition_is_stuck_to_for_ever() -> None:
    partitioner = StickyPartitioner(Scripted(0), batch_size=1)
    for _ in range(3):
        assert partitioner("t", None, [0]) == 0
        partitioner.fill("t", 5, [0])


def test_a_partition_that_is_no_more_is_left() -> None:
    partitioner = StickyPartitioner(Scripted(3, 0), batch_size=100)
    assert partitioner("t", None, [0, 1, 2, 3]) == 3
    assert partitioner("t", None, [0]) == 0


def test_round_robin_counts_per_topic() -> None:
    partitioner = RoundRobinPartitioner()
    assert [partitioner("t", b"k", [0, 1]) for _ in range(3)] == [0, 1, 0]
    assert partitioner("u", b"k", [0, 1]) == 0
