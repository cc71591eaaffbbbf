"""Subscriptions and assignments as the bytes that members exchange through their coordinator."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from moldau.errors import ProtocolError
from moldau.model import TopicPartition
from moldau.protocol.codec import decode, encode
from moldau.protocol.declaration import message, since
from moldau.protocol.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)
from moldau.protocol.messages.consumer_protocol import TopicPartition as PartitionsOfTopic
from moldau.protocol.primitives import Int32

_EAGER_VERSION = 0  # later versions add what members that keep nothing have no use for
_NEWEST_VERSION = 3
_VERSION_BYTES = 2
NO_GENERATION = -1


@message(versions=range(2), flexible_from=None)
class StickyUserData:
    """What Java's sticky assignor says of a member's last generation."""

    previous_assignment: list[PartitionsOfTopic]
    generation: Int32 = since(1, default=NO_GENERATION)


class MemberSubscription(NamedTuple):
    """What a member wants to read, and what it had in its last generation."""

    topics: Sequence[str]
    owned: Sequence[TopicPartition] = ()
    generation: int = NO_GENERATION


def encode_subscription(subscription: MemberSubscription) -> bytes:
    """For members that give everything back before they join."""
    written = ConsumerProtocolSubscription(topics=list(subscription.topics))
    return _with_version(written, _EAGER_VERSION)


def encode_sticky_subscription(subscription: MemberSubscription) -> bytes:
    """The same for the sticky assignor, which wants to know what was given back."""
    user_data = StickyUserData(
        previous_assignment=_by_topic(subscription.owned), generation=subscription.generation
    )
    written = ConsumerProtocolSubscription(
        topics=list(subscription.topics), user_data=encode(user_data, 1)
    )
    return _with_version(written, _EAGER_VERSION)


def encode_cooperative_subscription(subscription: MemberSubscription) -> bytes:
    """For members that keep what they have while they join (KIP-429)."""
    written = ConsumerProtocolSubscription(
        topics=list(subscription.topics),
        user_data=subscription.generation.to_bytes(4, "big", signed=True),
        owned_partitions=_by_topic(subscription.owned),
        generation_id=subscription.generation,
    )
    return _with_version(written, _NEWEST_VERSION)


def decode_subscription(data: bytes) -> MemberSubscription:
    """What another member wants to read."""
    found, _ = decode(ConsumerProtocolSubscription, _version(data), data, _VERSION_BYTES)
    generation = found.generation_id
    owned = _partitions(found.owned_partitions)
    user_data = found.user_data or b""
    if len(user_data) == 4:  # of a cooperative member
        generation = max(generation, int.from_bytes(user_data, "big", signed=True))
    elif user_data and not owned:
        owned, generation = _read_sticky(user_data)
    return MemberSubscription(found.topics, owned, generation)


def _read_sticky(user_data: bytes) -> tuple[list[TopicPartition], int]:
    """What a sticky member had; nothing if these are bytes of something else."""
    for version in (1, 0):
        try:
            found, end = decode(StickyUserData, version, user_data)
        except ProtocolError:
            continue
        if end == len(user_data):
            return _partitions(found.previous_assignment), found.generation
    return [], NO_GENERATION


def encode_assignment(partitions: Iterable[TopicPartition]) -> bytes:
    """What a member shall read."""
    written = ConsumerProtocolAssignment(assigned_partitions=_by_topic(partitions))
    return _with_version(written, _EAGER_VERSION)


def decode_assignment(data: bytes) -> list[TopicPartition]:
    """What this member shall read; no bytes stand for nothing."""
    if not data:
        return []
    assignment, _ = decode(ConsumerProtocolAssignment, _version(data), data, _VERSION_BYTES)
    return _partitions(assignment.assigned_partitions)


def _by_topic(partitions: Iterable[TopicPartition]) -> list[PartitionsOfTopic]:
    topics: dict[str, list[int]] = {}
    for topic, partition in partitions:
        topics.setdefault(topic, []).append(partition)
    return [PartitionsOfTopic(topic=topic, partitions=each) for topic, each in topics.items()]


def _partitions(topics: Iterable[PartitionsOfTopic]) -> list[TopicPartition]:
    return [
        TopicPartition(each.topic, partition) for each in topics for partition in each.partitions
    ]


def _with_version(written: object, version: int) -> bytes:
    return version.to_bytes(_VERSION_BYTES, "big") + encode(written, version)


def _version(data: bytes) -> int:
    if len(data) < _VERSION_BYTES:
        raise ProtocolError(f"{len(data)} bytes have no version")
    version = int.from_bytes(data[:_VERSION_BYTES], "big", signed=True)
    if version < 0:
        raise ProtocolError(f"version {version} of a subscription or an assignment")
    return min(version, _NEWEST_VERSION)
