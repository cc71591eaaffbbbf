"""Topics: their partitions and replicas, and the leader of each partition."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from moldau.coordination.layout.documents import Document, encode, parse_integer
from moldau.model import TopicPartition

PATH = "/brokers/topics"
NO_LEADER = -1


def topic_path(topic: str) -> str:
    return f"{PATH}/{topic}"


def partitions_path(topic: str) -> str:
    return f"{topic_path(topic)}/partitions"


def partition_path(partition: TopicPartition) -> str:
    return f"{partitions_path(partition.topic)}/{partition.partition}"


def state_path(partition: TopicPartition) -> str:
    return f"{partition_path(partition)}/state"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionAssignment:
    """The brokers that have a replica, the preferred leader first."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...] = ()
    """Those among them that a reassignment adds."""
    removing: tuple[int, ...] = ()
    """Those among them that it will remove."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicAssignment:
    """`/brokers/topics/T`."""

    partitions: Mapping[int, PartitionAssignment]
    topic_id: str | None = None
    """22 characters of base64url, from 2.8 on."""
    version: int = field(default=3, compare=False)

    def encode(self) -> bytes:
        """As Kafka 3.9 writes it, whatever the version that was read."""
        topic_id = {} if self.topic_id is None else {"topic_id": self.topic_id}
        return encode(
            {"partitions": self._replicas("replicas")}
            | topic_id
            | {
                "adding_replicas": self._replicas("adding"),
                "removing_replicas": self._replicas("removing"),
                "version": 3,
            }
        )

    def _replicas(self, kind: str) -> dict[str, list[int]]:
        return {
            str(number): list(getattr(assignment, kind))
            for number, assignment in self.partitions.items()
            if kind == "replicas" or getattr(assignment, kind)
        }


def decode_topic(data: bytes) -> TopicAssignment:
    """The assignment in version 1 (to 2.3), 2 (2.4) or 3."""
    document = Document.decode(data)
    adding = document.mapping_or_empty("adding_replicas").all_integers()
    removing = document.mapping_or_empty("removing_replicas").all_integers()
    return TopicAssignment(
        partitions={
            parse_integer(number): PartitionAssignment(
                replicas=replicas,
                adding=adding.get(number, ()),
                removing=removing.get(number, ()),
            )
            for number, replicas in document.mapping("partitions").all_integers().items()
        },
        topic_id=document.optional_text("topic_id"),
        version=document.integer_or("version", 1),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionStateNode:
    """`…/partitions/P/state`; the node's version fences writers that have seen an older one."""

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    controller_epoch: int
    is_recovering: bool = False
    """Elected out of sync, and not yet agreed on what was lost (KIP-704)."""

    def encode(self) -> bytes:
        recovery = {"leader_recovery_state": 1} if self.is_recovering else {}
        return encode(
            {"controller_epoch": self.controller_epoch, "leader": self.leader, "version": 1}
            | recovery
            | {"leader_epoch": self.leader_epoch, "isr": list(self.isr)}
        )


def decode_state(data: bytes) -> PartitionStateNode:
    document = Document.decode(data)
    return PartitionStateNode(
        leader=document.integer("leader"),
        leader_epoch=document.integer("leader_epoch"),
        isr=document.integers("isr"),
        controller_epoch=document.integer("controller_epoch"),
        is_recovering=document.integer_or("leader_recovery_state", 0) == 1,
    )
