"""What members of the classic protocol write for each other, read and written for them."""

from moldau.coordinator.group.consumer.assignment import Assignment, assignment_of
from moldau.coordinator.group.consumer.member import ConsumerMember
from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.metadata.image import ClusterImage
from moldau.protocol.declaration import facts_of
from moldau.protocol.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartition,
)
from moldau.protocol.versioned import decode_versioned, encode_versioned, version_of


def read_subscription(metadata: bytes) -> ConsumerProtocolSubscription:
    """A consumer's subscription; raises if it is none."""
    try:
        return decode_versioned(ConsumerProtocolSubscription, metadata, newer_is_newest=True)
    except ProtocolError as error:
        raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, str(error)) from error


def topic_names(subscription: ConsumerProtocolSubscription) -> tuple[str, ...]:
    """The topics of a subscription, each once, in order."""
    return tuple(sorted(frozenset(subscription.topics)))


def owned_partitions(subscription: ConsumerProtocolSubscription, image: ClusterImage) -> Assignment:
    """The partitions that a consumer says to have; topics that are gone do not count."""
    return _by_id(subscription.owned_partitions, image)


def read_assignment(data: bytes, image: ClusterImage) -> Assignment:
    """What a consumer was assigned by its leader."""
    if not data:
        return {}
    try:
        found = decode_versioned(ConsumerProtocolAssignment, data, newer_is_newest=True)
    except ProtocolError as error:
        raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, str(error)) from error
    return _by_id(found.assigned_partitions, image)


def write_assignment(member: ConsumerMember, image: ClusterImage) -> bytes:
    """What a classic member has, in the version that it writes its subscription in."""
    assert member.classic is not None
    newest = facts_of(ConsumerProtocolAssignment).versions[-1]
    version = min(version_of(member.classic.protocols[0][1]), newest)
    named = [
        TopicPartition(topic=image.names_by_id[topic_id], partitions=list(numbers))
        for topic_id, numbers in member.assigned.items()
        if topic_id in image.names_by_id
    ]
    return encode_versioned(ConsumerProtocolAssignment(assigned_partitions=named), version)


def _by_id(topics: list[TopicPartition], image: ClusterImage) -> Assignment:
    return assignment_of(
        (image.topics[each.topic].topic_id, each.partitions)
        for each in topics
        if each.topic in image.topics
    )
