"""SyncGroup (key 14): hand out the assignments that the group's leader made.

Version 1 reports the throttle time; in 2 the client waits it out (KIP-219); 3 adds the instance id
(KIP-345); 4 is flexible; 5 adds type and name of the protocol, which must match (KIP-559).
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.coordinator.group.messages import MemberIdentity, Sync
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from moldau.security.acls import Operation, ResourceType

_PROTOCOL_SINCE = 5


async def handle(request: SyncGroupRequest, context: Context, broker: Broker) -> SyncGroupResponse:
    broker.authorizer.require(context, Operation.READ, ResourceType.GROUP, request.group_id)
    is_protocol_missing = request.protocol_type is None or request.protocol_name is None
    if context.api_version >= _PROTOCOL_SINCE and is_protocol_missing:
        raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    sync = Sync(
        MemberIdentity(request.member_id, request.generation_id, request.group_instance_id),
        request.protocol_type,
        request.protocol_name,
        {
            each.member_id: bytes(each.assignment)
            async for each in context.each(request.assignments)
        },
    )
    reply = await broker.groups.sync(request.group_id, sync)
    return SyncGroupResponse(
        error_code=reply.error,
        protocol_type=reply.protocol_type,
        protocol_name=reply.protocol_name,
        assignment=reply.assignment,
    )


async def refuse(
    request: SyncGroupRequest, context: Context, error: KafkaError
) -> SyncGroupResponse:
    """The error, and no assignment."""
    return SyncGroupResponse(error_code=error.code, assignment=b"")
