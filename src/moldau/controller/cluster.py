"""What a controller knows: live brokers, topics, and the leader of each partition."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from moldau.model import TopicPartition

NO_LEADER = -1


class Listening(NamedTuple):
    """One endpoint of a broker."""

    listener: str
    host: str
    port: int
    security_protocol: int


class LiveBroker(NamedTuple):
    """A registered broker; `epoch` distinguishes one registration from the next."""

    id: int
    epoch: int
    endpoints: tuple[Listening, ...]
    rack: str | None = None


class ReplicaAssignment(NamedTuple):
    """The replicas of a partition; while it is reassigned, those being added and removed."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()


class LeaderIsr(NamedTuple):
    """The state of a partition as it stands in its node; `zk_version` is the node's."""

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    controller_epoch: int
    zk_version: int = 0


@dataclass(slots=True)
class Topic:
    """A topic's partitions by number."""

    topic_id: bytes | None
    partitions: dict[int, ReplicaAssignment]


@dataclass(slots=True)
class ClusterPicture:
    """The controller's picture, loaded from the tree and kept up with it."""

    brokers: dict[int, LiveBroker] = field(default_factory=dict)
    stopping: set[int] = field(default_factory=set)
    unproven: set[int] = field(default_factory=set)
    """Brokers that are not live although their sessions are: their connections are refused."""
    failed: dict[int, dict[TopicPartition, None]] = field(default_factory=dict)
    """Replicas by broker that are in log directories which have failed there."""
    topics: dict[str, Topic] = field(default_factory=dict)
    leaders: dict[TopicPartition, LeaderIsr] = field(default_factory=dict)
    returned: dict[TopicPartition, None] = field(default_factory=dict)
    """Those whose leader has begun another life since its lead was written."""
    deleting: dict[str, None] = field(default_factory=dict)
    """In the order in which they were asked for."""

    def assignment(self, partition: TopicPartition) -> ReplicaAssignment:
        """The brokers that should have the partition."""
        return self.topics[partition.topic].partitions[partition.partition]

    def assign(self, partition: TopicPartition, assignment: ReplicaAssignment) -> None:
        """Other brokers should have the partition."""
        self.topics[partition.topic].partitions[partition.partition] = assignment

    def partitions(self) -> Iterator[TopicPartition]:
        """Every partition of every topic."""
        for name, topic in self.topics.items():
            for number in topic.partitions:
                yield TopicPartition(name, number)

    def partitions_of(self, topic: str) -> list[TopicPartition]:
        """The partitions of one topic; none if there is no such topic."""
        found = self.topics.get(topic)
        return [TopicPartition(topic, number) for number in found.partitions] if found else []

    def is_online(self, broker: int, partition: TopicPartition) -> bool:
        """Whether a broker has its replica of the partition in reach."""
        return broker in self.brokers and partition not in self.failed.get(broker, ())

    def candidates(self, partition: TopicPartition) -> set[int]:
        """The replicas of a partition that can be given it to lead."""
        return {
            replica
            for replica in self.assignment(partition).replicas
            if replica not in self.stopping and self.is_online(replica, partition)
        }

    def partitions_on(self, brokers: Collection[int]) -> list[TopicPartition]:
        """The partitions that have a replica on one of these brokers."""
        return [
            partition
            for partition in self.partitions()
            if not set(brokers).isdisjoint(self.assignment(partition).replicas)
        ]

    def out_of_sync_on(self, brokers: Collection[int]) -> list[TopicPartition]:
        """The partitions that these brokers have replicas of, of which some are not in sync."""
        return [
            partition
            for partition in self.partitions_on(brokers)
            if (state := self.leaders.get(partition)) is not None
            and any(
                replica in brokers and replica not in state.isr
                for replica in self.assignment(partition).replicas
            )
        ]

    def note_state(self, partition: TopicPartition, state: LeaderIsr, written_at: int) -> None:
        """This is the state of a partition, which was written by that transaction."""
        self.leaders[partition] = state
        leader = self.brokers.get(state.leader)
        if leader is not None and leader.epoch > written_at:
            self.returned[partition] = None
        else:
            self.returned.pop(partition, None)

    def forget(self, topic: str) -> None:
        """The topic is gone."""
        for partition in self.partitions_of(topic):
            self.leaders.pop(partition, None)
            self.returned.pop(partition, None)
            for failed in self.failed.values():
                failed.pop(partition, None)
        self.topics.pop(topic, None)
        self.deleting.pop(topic, None)
