"""Subscriptions and assignments as the bytes that members exchange through their coordinator."""

from collections.abc import Iterable, Sequence

from moldau.errors import ProtocolError
from moldau.model import TopicPartition
from moldau.protocol.codec import decode, encode
from moldau.protocol.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)
from moldau.protocol.messages.consumer_protocol import TopicPartition as PartitionsOfTopic

# Later versions add what eager members have no use for.
_WRITTEN_VERSION = 0
_NEWEST_VERSION = 3
_VERSION_BYTES = 2


def encode_subscription(topics: Sequence[str]) -> bytes:
    """What a member wants to read."""
    return _with_version(ConsumerProtocolSubscription(topics=list(topics)))


def decode_subscription(data: bytes) -> list[str]:
    """The topics that another member wants to read."""
    subscription, _ = decode(ConsumerProtocolSubscription, _version(data), data, _VERSION_BYTES)
    return subscription.topics


def encode_assignment(partitions: Iterable[TopicPartition]) -> bytes:
    """What a member shall read."""
    topics: dict[str, list[int]] = {}
    for topic, partition in partitions:
        topics.setdefault(topic, []).append(partition)
    return _with_version(
        ConsumerProtocolAssignment(
            assigned_partitions=[
                PartitionsOfTopic(topic=topic, partitions=each) for topic, each in topics.items()
            ]
        )
    )


def decode_assignment(data: bytes) -> list[TopicPartition]:
    """What this member shall read; no bytes stand for nothing."""
    if not data:
        return []
    assignment, _ = decode(ConsumerProtocolAssignment, _version(data), data, _VERSION_BYTES)
    return [
        TopicPartition(each.topic, partition)
        for each in assignment.assigned_partitions
        for partition in each.partitions
    ]


def _with_version(message: object) -> bytes:
    return _WRITTEN_VERSION.to_bytes(_VERSION_BYTES, "big") + encode(message, _WRITTEN_VERSION)


def _version(data: bytes) -> int:
    if len(data) < _VERSION_BYTES:
        raise ProtocolError(f"{len(data)} bytes have no version")
    version = int.from_bytes(data[:_VERSION_BYTES], "big", signed=True)
    if version < 0:
        raise ProtocolError(f"version {version} of a subscription or an assignment")
    return min(version, _NEWEST_VERSION)
