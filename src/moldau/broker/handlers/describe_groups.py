"""DescribeGroups (key 15): groups with their members.

Version 1 reports the throttle time; in 2 the client waits it out (KIP-219); 3 adds authorised
operations (KIP-430); 4 the instance ids of members (KIP-345); 5 is flexible.
"""

from moldau.broker.authorized import operations_of
from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.coordinator.group.messages import GroupSummary
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from moldau.security.acls import Operation, ResourceType


async def handle(
    request: DescribeGroupsRequest, context: Context, broker: Broker
) -> DescribeGroupsResponse:
    described: dict[str, DescribedGroup] = {}
    async for group_id in context.each(request.groups):
        if group_id in described:
            continue
        try:
            broker.authorizer.require(context, Operation.DESCRIBE, ResourceType.GROUP, group_id)
            group = _group(group_id, broker.groups.describe(group_id))
        except KafkaError as error:
            group = _group(group_id, GroupSummary(state=""), error.code)
        else:
            if request.include_authorized_operations:
                group.authorized_operations = operations_of(
                    broker.authorizer, context, ResourceType.GROUP, group_id
                )
        described[group_id] = group
    return DescribeGroupsResponse(groups=[described[group_id] for group_id in request.groups])


async def refuse(
    request: DescribeGroupsRequest, context: Context, error: KafkaError
) -> DescribeGroupsResponse:
    """The same error for every group."""
    refused = [
        _group(group_id, GroupSummary(state=""), error.code)
        async for group_id in context.each(request.groups)
    ]
    return DescribeGroupsResponse(groups=refused)


def _group(
    group_id: str, description: GroupSummary, error: ErrorCode = ErrorCode.NONE
) -> DescribedGroup:
    return DescribedGroup(
        error_code=error,
        group_id=group_id,
        group_state=description.state,
        protocol_type=description.protocol_type,
        protocol_data=description.protocol_name,
        members=[
            DescribedGroupMember(
                member_id=each.member_id,
                group_instance_id=each.instance_id,
                client_id=each.client_id,
                client_host=each.client_host,
                member_metadata=each.metadata,
                member_assignment=each.assignment,
            )
            for each in description.members
        ],
    )
