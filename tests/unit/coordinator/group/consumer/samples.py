"""Topics, members, heartbeats and groups to begin with."""

from collections.abc import Iterable

from moldau.config.broker.groups import GroupConfig
from moldau.coordinator.decision import Decision, Reply
from moldau.coordinator.group.attendance import Surroundings
from moldau.coordinator.group.consumer.assignment import Assignment
from moldau.coordinator.group.consumer.group import ConsumerGroup
from moldau.coordinator.group.consumer.machine import ConsumerMachine
from moldau.coordinator.group.consumer.member import ClassicMember, ConsumerMember
from moldau.coordinator.group.consumer.messages import Heartbeat, HeartbeatReply
from moldau.coordinator.group.consumer.records import ConsumerRecord
from moldau.coordinator.group.offsets import Offsets
from moldau.coordinator.group.records import GroupsRecord
from moldau.coordinator.timers import Timers
from moldau.metadata.image import BrokerNode, ClusterImage, PartitionImage, TopicImage
from moldau.protocol.messages.consumer_protocol import (
    ConsumerProtocolSubscription,
    TopicPartition,
)
from moldau.protocol.versioned import encode_versioned
from moldau.runtime.clock import Moment

NOW = Moment(1000, 5000)
T, U, V = (bytes([number]) * 16 for number in (1, 2, 3))
"""Ids of the topics `t`, `u` and `v`."""

_IDS = {"t": T, "u": U, "v": V}


def image(*, racks: Iterable[str | None] = (None,), **partition_counts: int) -> ClusterImage:
    """A cluster with topics of so many partitions, each on all brokers."""
    brokers = {index: BrokerNode(index, {}, rack) for index, rack in enumerate(racks)}
    replicas = tuple(brokers)
    topics = {
        name: TopicImage(
            name,
            _IDS[name],
            {number: PartitionImage(0, 0, replicas, replicas) for number in range(count)},
        )
        for name, count in partition_counts.items()
    }
    names_by_id = {topic.topic_id: name for name, topic in topics.items()}
    return ClusterImage(0, brokers, topics, names_by_id)


class World:
    """A machine, and the cluster that it sees."""

    def __init__(self, cluster: ClusterImage | None = None, **settings: object) -> None:
        self.image = cluster or image(t=4)
        config = GroupConfig(**settings)  # type: ignore[arg-type]
        self.around = Surroundings(config, Timers(), [], lambda: self.image)
        self.machine = ConsumerMachine(ConsumerGroup("g", Offsets()), self.around)

    @property
    def group(self) -> ConsumerGroup:
        return self.machine.group

    def beat(self, heartbeat: Heartbeat, now: Moment = NOW) -> HeartbeatReply:
        """Say something, have it written, and hear the answer."""
        return self.write(self.machine.heartbeat(heartbeat, now=now))

    def write(self, decision: Decision[GroupsRecord, Reply]) -> Reply:
        apply(self.machine, decision.records)
        return decision.reply


def apply(machine: ConsumerMachine, records: Iterable[GroupsRecord]) -> None:
    for record in records:
        assert isinstance(record, ConsumerRecord)
        machine.apply(record, now=NOW)


def joining(
    member_id: str, *topics: str, instance_id: str | None = None, pattern: str | None = None
) -> Heartbeat:
    """A member joins; it says all that it must."""
    return Heartbeat(
        member_id=member_id,
        epoch=0,
        instance_id=instance_id,
        rebalance_timeout_ms=20_000,
        topic_names=topics or ("t",) if pattern is None else topics,
        topic_pattern=pattern,
        owned={},
        client_id="client",
        client_host="/10.0.0.1",
    )


def beating(
    member_id: str,
    epoch: int,
    owned: Assignment | None = None,
    *,
    topics: tuple[str, ...] | None = None,
    instance_id: str | None = None,
) -> Heartbeat:
    """A member is alive, and may tell what it has."""
    return Heartbeat(
        member_id=member_id,
        epoch=epoch,
        instance_id=instance_id,
        owned=owned,
        topic_names=topics,
        client_id="client",
        client_host="/10.0.0.1",
    )


def subscription(
    *topics: str, owned: dict[str, list[int]] | None = None, version: int = 1
) -> bytes:
    """What a classic consumer tells its leader."""
    has = [TopicPartition(topic=name, partitions=each) for name, each in (owned or {}).items()]
    message = ConsumerProtocolSubscription(topics=list(topics), owned_partitions=has)
    return encode_versioned(message, version)


def classic(member_id: str, **fields: object) -> ConsumerMember:
    """A member of the classic protocol."""
    protocols = (("range", subscription("t")),)
    return ConsumerMember(
        member_id=member_id,
        rebalance_timeout_ms=20_000,
        topic_names=("t",),
        classic=ClassicMember(10_000, protocols),
        **fields,  # type: ignore[arg-type]
    )
