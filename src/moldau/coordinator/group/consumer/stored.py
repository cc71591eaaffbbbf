"""What the values of a group's records hold, to and from their stored form."""

from collections.abc import Iterable
from typing import NamedTuple

from moldau.coordinator.group.consumer.assignment import Assignment, assignment_of
from moldau.coordinator.group.consumer.member import ClassicMember, ConsumerMember, MemberState
from moldau.coordinator.group.consumer.topics import KnownTopics, ObservedTopic
from moldau.protocol.messages.consumer_group_patterns import ConsumerGroupRegularExpressionValue
from moldau.protocol.messages.consumer_group_records import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupPartitionMetadataValue,
    ConsumerGroupTargetAssignmentMemberValue,
    PartitionMetadata,
    TopicMetadata,
    TopicPartitions,
)


class ResolvedPattern(NamedTuple):
    """The topics that a regular expression stood for when it was last looked at."""

    topics: tuple[str, ...]
    wall_ms: int = 0


def topics_value(topics: KnownTopics) -> ConsumerGroupPartitionMetadataValue:
    return ConsumerGroupPartitionMetadataValue(
        topics=[
            TopicMetadata(
                topic_id=topic.topic_id,
                topic_name=name,
                num_partitions=topic.partition_count,
                partition_metadata=[
                    PartitionMetadata(partition=number, racks=list(racks))
                    for number, racks in topic.racks.items()
                ],
            )
            for name, topic in topics.items()
        ]
    )


def topics_from(value: ConsumerGroupPartitionMetadataValue) -> KnownTopics:
    return {
        each.topic_name: ObservedTopic(
            each.topic_id,
            each.num_partitions,
            {
                partition.partition: tuple(sorted(partition.racks))
                for partition in each.partition_metadata
            },
        )
        for each in value.topics
    }


def subscription_value(member: ConsumerMember) -> ConsumerGroupMemberMetadataValue:
    classic = None
    if member.classic is not None:
        classic = ClassicMemberMetadata(
            session_timeout_ms=member.classic.session_timeout_ms,
            supported_protocols=[
                ClassicProtocol(name=name, metadata=metadata)
                for name, metadata in member.classic.protocols
            ],
        )
    return ConsumerGroupMemberMetadataValue(
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=list(member.topic_names),
        subscribed_topic_regex=member.topic_pattern,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        server_assignor=member.assignor,
        classic_member_metadata=classic,
    )


def subscription_from(value: ConsumerGroupMemberMetadataValue) -> ConsumerMember:
    """A member that has only subscribed, as yet without its id."""
    classic = value.classic_member_metadata
    return ConsumerMember(
        member_id="",
        instance_id=value.instance_id,
        rack_id=value.rack_id,
        client_id=value.client_id,
        client_host=value.client_host,
        rebalance_timeout_ms=value.rebalance_timeout_ms,
        topic_names=tuple(value.subscribed_topic_names),
        topic_pattern=value.subscribed_topic_regex or "",
        assignor=value.server_assignor,
        classic=None
        if classic is None
        else ClassicMember(
            classic.session_timeout_ms,
            tuple((each.name, bytes(each.metadata)) for each in classic.supported_protocols),
        ),
    )


def target_value(target: Assignment) -> ConsumerGroupTargetAssignmentMemberValue:
    return ConsumerGroupTargetAssignmentMemberValue(topic_partitions=_listed(target))


def target_from(value: ConsumerGroupTargetAssignmentMemberValue) -> Assignment:
    return _assignment(value.topic_partitions)


def current_value(member: ConsumerMember) -> ConsumerGroupCurrentMemberAssignmentValue:
    return ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=member.epoch,
        previous_member_epoch=member.previous_epoch,
        state=member.state,
        assigned_partitions=_listed(member.assigned),
        partitions_pending_revocation=_listed(member.revoking),
    )


def current_from(value: ConsumerGroupCurrentMemberAssignmentValue) -> ConsumerMember:
    """A member that only has an assignment, as yet without its id."""
    is_known = value.state in (MemberState.STABLE, MemberState.UNREVOKED, MemberState.UNRELEASED)
    return ConsumerMember(
        member_id="",
        epoch=value.member_epoch,
        previous_epoch=value.previous_member_epoch,
        state=MemberState(value.state) if is_known else MemberState.UNKNOWN,
        assigned=_assignment(value.assigned_partitions),
        revoking=_assignment(value.partitions_pending_revocation),
    )


def pattern_value(resolved: ResolvedPattern) -> ConsumerGroupRegularExpressionValue:
    return ConsumerGroupRegularExpressionValue(
        topics=list(resolved.topics), version=resolved.wall_ms, timestamp=resolved.wall_ms
    )


def pattern_from(value: ConsumerGroupRegularExpressionValue) -> ResolvedPattern:
    return ResolvedPattern(tuple(value.topics), value.timestamp)


def _listed(assignment: Assignment) -> list[TopicPartitions]:
    return [
        TopicPartitions(topic_id=topic_id, partitions=list(numbers))
        for topic_id, numbers in assignment.items()
    ]


def _assignment(topics: Iterable[TopicPartitions]) -> Assignment:
    return assignment_of((each.topic_id, each.partitions) for each in topics)
