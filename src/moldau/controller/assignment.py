"""Where the replicas of new partitions go.

Leaders go round the brokers; the other replicas of a partition are shifted, further with
each round, so that the partitions of a failed broker spread over all others. With racks
the brokers are first arranged so that neighbours are in different racks.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from moldau.errors import ErrorCode, KafkaError


class BrokerCandidate(NamedTuple):
    """A broker that may hold replicas."""

    id: int
    rack: str | None = None


class Start(NamedTuple):
    """Where the round begins; drawn at random so that topics do not all start alike."""

    broker_index: int
    shift: int
    first_partition: int = 0


def assign_replicas(
    brokers: Sequence[BrokerCandidate],
    *,
    partition_count: int,
    replication_factor: int,
    start: Start,
) -> dict[int, tuple[int, ...]]:
    """Replicas by partition, the preferred leader first."""
    if partition_count <= 0:
        message = "the number of partitions must be larger than 0"
        raise KafkaError(ErrorCode.INVALID_PARTITIONS, message)
    if replication_factor <= 0:
        message = "the replication factor must be larger than 0"
        raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, message)
    if replication_factor > len(brokers):
        count = len(brokers)
        message = (
            f"Replication factor: {replication_factor} larger than available brokers: {count}."
        )
        raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, message)
    ring = _ring(brokers)
    return {
        partition: ring.replicas(partition, replication_factor, start)
        for partition in range(start.first_partition, start.first_partition + partition_count)
    }


class _Ring(NamedTuple):
    """The brokers in the order in which they take turns."""

    arranged: Sequence[int]
    places: Mapping[int, object]
    """What two replicas should not share."""
    stride: int

    def replicas(self, partition: int, replication_factor: int, start: Start) -> tuple[int, ...]:
        count = len(self.arranged)
        first = (partition + start.broker_index) % count
        # Kafka shifts at every multiple of the broker count that it comes by.
        rounds = partition // count - max(start.first_partition - 1, 0) // count
        shift = (start.shift + rounds) * self.stride
        chosen = [self.arranged[first]]
        places = {self.places[chosen[0]]}
        place_count = len(set(self.places.values()))
        step = 0
        while len(chosen) < replication_factor:
            broker = self.arranged[(first + 1 + (shift + step) % (count - 1)) % count]
            step += 1
            is_elsewhere = self.places[broker] not in places or len(places) == place_count
            if broker not in chosen and is_elsewhere:
                chosen.append(broker)
                places.add(self.places[broker])
        return tuple(chosen)


def _ring(brokers: Sequence[BrokerCandidate]) -> _Ring:
    racks = {broker.id: broker.rack for broker in brokers}
    if all(rack is None for rack in racks.values()):
        # Every broker in a place of its own: the rule about places then never binds.
        arranged = sorted(racks)
        return _Ring(arranged, dict(zip(arranged, arranged, strict=True)), stride=1)
    if None in racks.values():
        message = "some brokers have a rack and others have none: set broker.rack on all of them"
        raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, message)
    return _Ring(_alternating(racks), racks, stride=len(set(racks.values())))


def _alternating(racks: Mapping[int, str | None]) -> list[int]:
    """The brokers in an order in which the racks take turns."""
    by_rack: dict[str, list[int]] = {}
    for broker in sorted(racks):
        by_rack.setdefault(str(racks[broker]), []).append(broker)
    lists = [by_rack[rack] for rack in sorted(by_rack)]
    longest = max(map(len, lists))
    return [brokers[turn] for turn in range(longest) for brokers in lists if turn < len(brokers)]
