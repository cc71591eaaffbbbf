"""An immutable picture of the cluster: brokers, topics, leaders."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

NO_LEADER = -1
NO_CONTROLLER = -1
LEADER_DURING_DELETE = -2
"""What UpdateMetadata calls the leader of a partition that is being deleted."""
EPOCH_DURING_DELETE = -2
"""What StopReplica gives as leader epoch then: no broker may refuse it as too old."""


class BrokerEndpoint(NamedTuple):
    """Where a broker listens under one listener name."""

    host: str
    port: int
    security_protocol: int = 0


class BrokerNode(NamedTuple):
    """A live broker."""

    id: int
    endpoints: Mapping[str, BrokerEndpoint]
    rack: str | None = None


class PartitionImage(NamedTuple):
    """The replicas of a partition, and its leader."""

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    offline_replicas: tuple[int, ...] = ()
    zk_version: int = 0


@dataclass(frozen=True, slots=True)
class TopicImage:
    """A topic and its partitions by number."""

    name: str
    topic_id: bytes
    partitions: Mapping[int, PartitionImage]


@dataclass(frozen=True, slots=True)
class ClusterImage:
    """Everything a Metadata answer is made from."""

    controller_id: int = NO_CONTROLLER
    brokers: Mapping[int, BrokerNode] = field(default_factory=dict)
    topics: Mapping[str, TopicImage] = field(default_factory=dict)
    names_by_id: Mapping[bytes, str] = field(default_factory=dict)

    def partition(self, topic: str, partition: int) -> PartitionImage | None:
        """One partition, or None if it is not known."""
        found = self.topics.get(topic)
        return None if found is None else found.partitions.get(partition)

    def endpoint(self, broker_id: int, listener: str) -> BrokerEndpoint | None:
        """Where a live broker is reached under a listener name."""
        node = self.brokers.get(broker_id)
        return None if node is None else node.endpoints.get(listener)
