"""Lists of partitions: what an administrator or a leader asks the controller to look at."""

from collections.abc import Iterable, Mapping

from moldau.coordination.layout.documents import Document, encode
from moldau.model import TopicPartition

REASSIGNMENT_PATH = "/admin/reassign_partitions"
PREFERRED_ELECTION_PATH = "/admin/preferred_replica_election"
DELETE_TOPICS_PATH = "/admin/delete_topics"
ISR_CHANGES_PATH = "/isr_change_notification"
ISR_CHANGE_PREFIX = f"{ISR_CHANGES_PATH}/isr_change_"


def delete_topic_path(topic: str) -> str:
    """A node without data: the topic is to be deleted."""
    return f"{DELETE_TOPICS_PATH}/{topic}"


def encode_partitions(partitions: Iterable[TopicPartition]) -> bytes:
    """For a preferred election, or a notification of changed in-sync replicas."""
    listed = [{"topic": each.topic, "partition": each.partition} for each in partitions]
    return encode({"version": 1, "partitions": listed})


def decode_partitions(data: bytes) -> list[TopicPartition]:
    return [_partition(each) for each in Document.decode(data).documents("partitions")]


def encode_reassignment(replicas: Mapping[TopicPartition, Iterable[int]]) -> bytes:
    listed = [
        {"topic": each.topic, "partition": each.partition, "replicas": list(brokers)}
        for each, brokers in replicas.items()
    ]
    return encode({"version": 1, "partitions": listed})


def decode_reassignment(data: bytes) -> dict[TopicPartition, tuple[int, ...]]:
    return {
        _partition(each): each.integers("replicas")
        for each in Document.decode(data).documents("partitions")
    }


def _partition(document: Document) -> TopicPartition:
    return TopicPartition(document.text("topic"), document.integer("partition"))
