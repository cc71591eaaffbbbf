"""LeaveGroup (key 13): members leave their group."""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.coordinator.group.messages import Identity
from moldau.errors import ErrorCode
from moldau.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberResponse,
)

_BATCHED_SINCE = 3


async def handle(
    request: LeaveGroupRequest, context: Context, broker: Broker
) -> LeaveGroupResponse:
    if context.api_version < _BATCHED_SINCE:
        (error,) = broker.groups.leave(request.group_id, [Identity(request.member_id)])
        return LeaveGroupResponse(error_code=error)
    leaving = [
        Identity(each.member_id, instance_id=each.group_instance_id) for each in request.members
    ]
    errors = broker.groups.leave(request.group_id, leaving)
    members = [
        MemberResponse(
            member_id=each.member_id, group_instance_id=each.instance_id, error_code=error
        )
        for each, error in zip(leaving, errors, strict=True)
    ]
    return LeaveGroupResponse(error_code=ErrorCode.NONE, members=members)
