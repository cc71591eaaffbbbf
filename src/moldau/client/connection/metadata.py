"""What is known of the cluster: brokers, topics, and the leaders of partitions."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from moldau.client.connection.addresses import Address
from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.protocol.messages.metadata import MetadataResponse, MetadataResponseTopic
from moldau.protocol.primitives import NO_UUID

NO_LEADER = -1


@dataclass(slots=True)
class KnownTopic:
    """A topic as a broker described it; `leaders` and `epochs` are by partition."""

    error_code: ErrorCode
    leaders: dict[int, int] = field(default_factory=dict)
    epochs: dict[int, int] = field(default_factory=dict)
    topic_id: bytes = NO_UUID
    """Another one than before says that the topic was deleted and created again (KIP-516)."""

    _partitions: list[int] = field(default_factory=list)

    @property
    def partitions(self) -> list[int]:
        """Every partition, whether it has a leader or not; not to be changed."""
        if len(self._partitions) != len(self.leaders):  # a partition never goes away
            self._partitions = sorted(self.leaders)
        return self._partitions


class ClusterMetadata:
    """The newest answers, and whether it is time to ask again.

    A partition whose leader is in doubt has none until the next answer. An answer with an
    older leader epoch than a known one comes from a broker that lags behind, and does not
    take a leader's place (KIP-320).
    """

    def __init__(self, *, age_max_ms: int) -> None:
        self.brokers: dict[int, Address] = {}
        self.topics: dict[str, KnownTopic] = {}
        self.names_by_id: dict[bytes, str] = {}
        """Topics by their ids, where brokers have ids for them (KIP-516)."""
        self.controller_id = NO_LEADER
        self.cluster_id: str | None = None
        self._age_max_ms = age_max_ms
        self._updated_ms: int | None = None
        self._is_in_doubt = False

    def is_stale(self, topics: Iterable[str], *, now_ms: int) -> bool:
        """Whether these topics should be asked for before they are used."""
        if self._is_in_doubt or self._updated_ms is None:
            return True
        if now_ms - self._updated_ms >= self._age_max_ms:
            return True
        return any(topic not in self.topics for topic in topics)

    def leader_of(self, partition: TopicPartition) -> int | None:
        """The broker to ask, or None if it is unknown."""
        topic = self.topics.get(partition.topic)
        leader = NO_LEADER if topic is None else topic.leaders.get(partition.partition, NO_LEADER)
        return leader if leader in self.brokers else None

    def leader_epoch_of(self, partition: TopicPartition) -> int:
        """The epoch of that leader, -1 if it is not known."""
        topic = self.topics.get(partition.topic)
        return -1 if topic is None else topic.epochs.get(partition.partition, -1)

    def partitions_of(self, topic: str) -> list[int]:
        """The partitions of a topic; empty if it is not known."""
        known = self.topics.get(topic)
        return [] if known is None else known.partitions

    def doubt(self, partition: TopicPartition) -> None:
        """A broker said that it is not the leader, or did not answer."""
        self._is_in_doubt = True
        topic = self.topics.get(partition.topic)
        if topic is not None and partition.partition in topic.leaders:
            topic.leaders[partition.partition] = NO_LEADER

    def update(self, answer: MetadataResponse, *, now_ms: int) -> None:
        """Take over what a broker answered."""
        self.brokers = {each.node_id: Address(each.host, each.port) for each in answer.brokers}
        self.controller_id = answer.controller_id
        self.cluster_id = answer.cluster_id
        for topic in answer.topics:
            if topic.name is not None:
                before = self.topics.get(topic.name)
                if topic.topic_id != NO_UUID:
                    if before is not None and before.topic_id not in (NO_UUID, topic.topic_id):
                        self.names_by_id.pop(before.topic_id, None)
                        before = None  # its epochs are of another topic, and may be higher
                    self.names_by_id[topic.topic_id] = topic.name
                self.topics[topic.name] = _known(topic, before)
        self._updated_ms = now_ms
        self._is_in_doubt = any(
            NO_LEADER in topic.leaders.values() for topic in self.topics.values()
        )


def _known(answer: MetadataResponseTopic, before: KnownTopic | None) -> KnownTopic:
    topic = KnownTopic(ErrorCode(answer.error_code), topic_id=answer.topic_id)
    for each in answer.partitions:
        index, leader, epoch = each.partition_index, each.leader_id, each.leader_epoch
        newest = -1 if before is None else before.epochs.get(index, -1)
        is_outdated = epoch != -1 and epoch < newest
        topic.leaders[index] = NO_LEADER if is_outdated else leader
        topic.epochs[index] = max(epoch, newest)
    if not topic.leaders and before is not None and topic.error_code.is_retriable:
        return KnownTopic(topic.error_code, before.leaders, before.epochs, before.topic_id)
    return topic
