"""Chooses the partition of a record that names none."""

from collections.abc import Callable, Sequence

from moldau.records.murmur import murmur2
from moldau.runtime.random import Random

Partitioner = Callable[[str, bytes | None, Sequence[int]], int]
"""Topic, key and the partitions that there are; returns one of them."""


def partition_of_key(key: bytes, partitions: Sequence[int]) -> int:
    """The partition of a key, the same as in Java: without a leader it is still this one."""
    return partitions[(murmur2(key) & 0x7FFFFFFF) % len(partitions)]


def another_partition(random: Random, current: int | None, partitions: Sequence[int]) -> int:
    """Where records without a key go next, after a batch of them went to `current` (KIP-480)."""
    if len(partitions) == 1:
        return partitions[0]
    others = [each for each in partitions if each != current] or partitions
    return others[random.below(len(others))]


class RoundRobinPartitioner:
    """Each record to the next partition, whatever its key."""

    def __init__(self) -> None:
        self._count: dict[str, int] = {}

    def __call__(self, topic: str, _key: bytes | None, partitions: Sequence[int]) -> int:
        count = self._count.get(topic, 0)
        self._count[topic] = count + 1
        return partitions[count % len(partitions)]
