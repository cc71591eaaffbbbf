"""Heartbeat (key 12): a member says it is alive.

Version 1 reports the throttle time; in 2 the client waits it out (KIP-219); 3 adds the instance id
(KIP-345); 4 is flexible.
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.coordinator.group.messages import MemberIdentity
from moldau.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from moldau.security.acls import Operation, ResourceType


async def handle(request: HeartbeatRequest, context: Context, broker: Broker) -> HeartbeatResponse:
    broker.authorizer.require(context, Operation.READ, ResourceType.GROUP, request.group_id)
    identity = MemberIdentity(request.member_id, request.generation_id, request.group_instance_id)
    return HeartbeatResponse(error_code=broker.groups.heartbeat(request.group_id, identity))
