"""ConsumerGroupDescribe (key 69): groups of the consumer protocol with their members.

The API comes from KIP-848, and is flexible from the start. Version 1 says of each member whether it
uses the classic or the consumer protocol (KIP-1099).
"""

from collections.abc import Mapping

from moldau.broker.authorized import operations_of
from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.coordinator.group.consumer import assignment
from moldau.coordinator.group.consumer.messages import ConsumerDescription, DescribedConsumer
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.consumer_group_describe import (
    Assignment,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
    Member,
    TopicPartitions,
)
from moldau.security.acls import Operation, ResourceType

_CLASSIC = 0
_CONSUMER = 1

Names = Mapping[bytes, str]


async def handle(
    request: ConsumerGroupDescribeRequest, context: Context, broker: Broker
) -> ConsumerGroupDescribeResponse:
    names = broker.metadata.image.names_by_id
    described: dict[str, DescribedGroup] = {}
    async for group_id in context.each(request.group_ids):
        if group_id in described:
            continue
        try:
            broker.authorizer.require(context, Operation.DESCRIBE, ResourceType.GROUP, group_id)
            group = _group(group_id, broker.groups.describe_consumer(group_id), names)
        except KafkaError as error:
            group = _refused(group_id, error)
        else:
            if request.include_authorized_operations:
                group.authorized_operations = operations_of(
                    broker.authorizer, context, ResourceType.GROUP, group_id
                )
        described[group_id] = group
    return ConsumerGroupDescribeResponse(
        groups=[described[group_id] for group_id in request.group_ids]
    )


async def refuse(
    request: ConsumerGroupDescribeRequest, context: Context, error: KafkaError
) -> ConsumerGroupDescribeResponse:
    """The same error for every group."""
    return ConsumerGroupDescribeResponse(
        groups=[_refused(group_id, error) async for group_id in context.each(request.group_ids)]
    )


def _group(group_id: str, described: ConsumerDescription, names: Names) -> DescribedGroup:
    return DescribedGroup(
        error_code=ErrorCode.NONE,
        group_id=group_id,
        group_state=described.state,
        group_epoch=described.epoch,
        assignment_epoch=described.assignment_epoch,
        assignor_name=described.assignor,
        members=[_member(each, names) for each in described.members],
    )


def _refused(group_id: str, error: KafkaError) -> DescribedGroup:
    return DescribedGroup(
        error_code=error.code,
        error_message=str(error),
        group_id=group_id,
        group_state="",
        group_epoch=0,
        assignment_epoch=0,
        assignor_name="",
        members=[],
    )


def _member(described: DescribedConsumer, names: Names) -> Member:
    member = described.member
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=list(member.topic_names),
        subscribed_topic_regex=member.topic_pattern,
        assignment=_assignment(member.assigned, names),
        target_assignment=_assignment(described.target, names),
        member_type=_CONSUMER if member.classic is None else _CLASSIC,
    )


def _assignment(partitions: assignment.Assignment, names: Names) -> Assignment:
    """By name; topics that are gone are left out."""
    return Assignment(
        topic_partitions=[
            TopicPartitions(topic_id=topic_id, topic_name=names[topic_id], partitions=list(numbers))
            for topic_id, numbers in partitions.items()
            if topic_id in names
        ]
    )
