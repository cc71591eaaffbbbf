"""LeaveGroup (key 13): members leave their group.

Version 1 reports the throttle time; in 2 the client waits it out (KIP-219); 3 takes several
members, also by instance id (KIP-345); 4 is flexible; 5 gives a reason (KIP-800).
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.coordinator.group.messages import MemberIdentity
from moldau.errors import ErrorCode
from moldau.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberResponse,
)
from moldau.security.acls import Operation, ResourceType

_BATCHED_SINCE = 3
_LEAVING_TOGETHER = 200


async def handle(
    request: LeaveGroupRequest, context: Context, broker: Broker
) -> LeaveGroupResponse:
    broker.authorizer.require(context, Operation.READ, ResourceType.GROUP, request.group_id)
    if context.api_version < _BATCHED_SINCE:
        (error,) = broker.groups.leave(request.group_id, [MemberIdentity(request.member_id)])
        return LeaveGroupResponse(error_code=error)
    members: list[MemberResponse] = []
    starts = range(0, max(len(request.members), 1), _LEAVING_TOGETHER)
    async for start in context.turns.each(starts, at_once=1):
        leaving = [
            MemberIdentity(each.member_id, instance_id=each.group_instance_id)
            for each in request.members[start : start + _LEAVING_TOGETHER]
        ]
        errors = broker.groups.leave(request.group_id, leaving)
        members += [
            MemberResponse(
                member_id=each.member_id, group_instance_id=each.instance_id, error_code=error
            )
            for each, error in zip(leaving, errors, strict=True)
        ]
    return LeaveGroupResponse(error_code=ErrorCode.NONE, members=members)
