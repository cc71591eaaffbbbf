"""Chooses the partition of a record that names none."""

from collections.abc import Callable, Sequence

from moldau.runtime.random import Random

Partitioner = Callable[[str, bytes | None, Sequence[int]], int]
"""Topic, key and the partitions that there are; returns one of them."""

_UINT32 = 0xFFFFFFFF
_SEED = 0x9747B28C
_MULTIPLIER = 0x5BD1E995
_SHIFT = 24


def murmur2(data: bytes) -> int:
    """The hash by which Kafka's clients spread keys, as a signed number of 32 bits."""
    size = len(data)
    value = _SEED ^ size
    end = size & ~3
    for position in range(0, end, 4):
        word = int.from_bytes(data[position : position + 4], "little") * _MULTIPLIER & _UINT32
        word = (word ^ word >> _SHIFT) * _MULTIPLIER & _UINT32
        value = value * _MULTIPLIER & _UINT32 ^ word
    if end < size:
        value = (value ^ int.from_bytes(data[end:], "little")) * _MULTIPLIER & _UINT32
    value = (value ^ value >> 13) * _MULTIPLIER & _UINT32
    value ^= value >> 15
    return value - 2**32 if value >= 2**31 else value


def partition_of_key(key: bytes, partitions: Sequence[int]) -> int:
    """The partition of a key, the same as in Java: without a leader it is still this one."""
    return partitions[(murmur2(key) & 0x7FFFFFFF) % len(partitions)]


class StickyPartitioner:
    """The default: keys by their hash, the rest to one partition until a batch is full.

    Records without a key then fill whole batches instead of a little of each (KIP-480,
    KIP-794).
    """

    def __init__(self, random: Random, *, batch_size: int) -> None:
        self._random = random
        self._batch_size = batch_size
        self._current: dict[str, int] = {}
        self._filled_bytes: dict[str, int] = {}

    def __call__(self, topic: str, key: bytes | None, partitions: Sequence[int]) -> int:
        if key is not None:
            return partition_of_key(key, partitions)
        current = self._current.get(topic)
        if current is None or current not in partitions:
            current = partitions[self._random.below(len(partitions))]
            self._current[topic] = current
        return current

    def fill(self, topic: str, size_bytes: int, partitions: Sequence[int]) -> None:
        """Count a record without a key; after a batch of them another partition is due."""
        filled_bytes = self._filled_bytes.get(topic, 0) + size_bytes
        if filled_bytes >= self._batch_size and len(partitions) > 1:
            others = [each for each in partitions if each != self._current[topic]]
            self._current[topic] = others[self._random.below(len(others))]
            filled_bytes = 0
        self._filled_bytes[topic] = filled_bytes


class RoundRobinPartitioner:
    """Each record to the next partition, whatever its key."""

    def __init__(self) -> None:
        self._count: dict[str, int] = {}

    def __call__(self, topic: str, _key: bytes | None, partitions: Sequence[int]) -> int:
        count = self._count.get(topic, 0)
        self._count[topic] = count + 1
        return partitions[count % len(partitions)]
