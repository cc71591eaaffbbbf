"""JoinGroup (key 11): a member enters the next generation of its group.

Version 1 has a rebalance timeout of its own (KIP-62); 2 reports the throttle time; in 3 the client
waits it out (KIP-219); 4 makes a new member come again with the id it gets (KIP-394); 5 adds the
instance id (KIP-345); 6 is flexible; 7 answers with the protocol type, and may leave out the
protocol (KIP-559); 8 gives a reason (KIP-800); 9 can skip the assignment (KIP-814).
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.coordinator.group.messages import GroupJoin, JoinReply
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from moldau.security.acls import Operation, ResourceType

_PROTOCOLS_MAX = 10_000  # Kafka's clients have one to three
_MUST_KNOW_ID_SINCE = 4
_PROTOCOL_MAY_BE_NULL_SINCE = 7
_CAN_SKIP_ASSIGNMENT_SINCE = 9


async def handle(request: JoinGroupRequest, context: Context, broker: Broker) -> JoinGroupResponse:
    broker.authorizer.require(context, Operation.READ, ResourceType.GROUP, request.group_id)
    if len(request.protocols) > _PROTOCOLS_MAX:
        message = f"more than {_PROTOCOLS_MAX} protocols"
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)
    version = context.api_version
    instance_id = request.group_instance_id
    rebalance_timeout_ms = request.rebalance_timeout_ms
    join = GroupJoin(
        member_id=request.member_id,
        instance_id=instance_id,
        new_member_id=broker.groups.new_member_id(instance_id or context.client_id),
        client_id=context.client_id,
        client_host=f"/{context.client.host}",
        session_timeout_ms=request.session_timeout_ms,
        # Version 0 had one timeout for both.
        rebalance_timeout_ms=request.session_timeout_ms if version == 0 else rebalance_timeout_ms,
        protocol_type=request.protocol_type,
        protocols=tuple((each.name, bytes(each.metadata)) for each in request.protocols),
        must_know_id=version >= _MUST_KNOW_ID_SINCE,
        can_skip_assignment=version >= _CAN_SKIP_ASSIGNMENT_SINCE,
    )
    return _response(await broker.groups.join(request.group_id, join), version)


async def refuse(
    request: JoinGroupRequest, context: Context, error: KafkaError
) -> JoinGroupResponse:
    """The error, and the id that the member came with, if it may be one."""
    is_denied = error.code is ErrorCode.GROUP_AUTHORIZATION_FAILED
    member_id = "" if is_denied else request.member_id
    return _response(JoinReply(error.code, member_id), context.api_version)


def _response(reply: JoinReply, version: int) -> JoinGroupResponse:
    protocol_name = reply.protocol_name
    if protocol_name is None and version < _PROTOCOL_MAY_BE_NULL_SINCE:
        protocol_name = ""
    return JoinGroupResponse(
        error_code=reply.error,
        generation_id=reply.generation,
        protocol_type=reply.protocol_type,
        protocol_name=protocol_name,
        leader=reply.leader_id,
        skip_assignment=reply.skip_assignment,
        member_id=reply.member_id,
        members=[
            JoinGroupResponseMember(
                member_id=each.member_id,
                group_instance_id=each.instance_id,
                metadata=each.metadata,
            )
            for each in reply.members
        ],
    )
