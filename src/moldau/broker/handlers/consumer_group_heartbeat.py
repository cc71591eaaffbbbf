"""ConsumerGroupHeartbeat (key 68): a member and its group reconcile their assignment.

The API comes from KIP-848, and is flexible from the start. In version 1 the member makes its own id
(KIP-1082), and can subscribe to a regular expression.
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.coordinator.group.consumer.assignment import assignment_of
from moldau.coordinator.group.consumer.messages import Heartbeat, HeartbeatReply
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.elements import has_more_elements
from moldau.protocol.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from moldau.security.acls import Operation, ResourceType

_MEMBER_MAKES_ID_SINCE = 1
_UNCHANGED = -1
_OWNED_MAX = 20_000


async def handle(
    request: ConsumerGroupHeartbeatRequest, context: Context, broker: Broker
) -> ConsumerGroupHeartbeatResponse:
    broker.authorizer.require(context, Operation.READ, ResourceType.GROUP, request.group_id)
    timeout_ms = request.rebalance_timeout_ms
    names, owned = request.subscribed_topic_names, request.topic_partitions
    if owned is not None and has_more_elements(request, _OWNED_MAX):
        message = f"a member cannot own or subscribe to more than {_OWNED_MAX} things"
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)
    heartbeat = Heartbeat(
        member_id=request.member_id,
        epoch=request.member_epoch,
        instance_id=request.instance_id,
        rack_id=request.rack_id,
        rebalance_timeout_ms=None if timeout_ms == _UNCHANGED else timeout_ms,
        topic_names=None if names is None else tuple(names),
        topic_pattern=request.subscribed_topic_regex,
        assignor=request.server_assignor,
        owned=None
        if owned is None
        else assignment_of((each.topic_id, each.partitions) for each in owned),
        client_id=context.client_id,
        client_host=f"/{context.client.host}",
        new_member_id=broker.groups.new_consumer_id(),
        must_have_id=context.api_version >= _MEMBER_MAKES_ID_SINCE,
    )
    return _response(await broker.groups.consumer_heartbeat(request.group_id, heartbeat))


async def refuse(
    request: ConsumerGroupHeartbeatRequest, context: Context, error: KafkaError
) -> ConsumerGroupHeartbeatResponse:
    """The error, and in words what it means."""
    return ConsumerGroupHeartbeatResponse(
        error_code=error.code, error_message=str(error), member_epoch=0, heartbeat_interval_ms=0
    )


def _response(reply: HeartbeatReply) -> ConsumerGroupHeartbeatResponse:
    assignment = None
    if reply.assignment is not None:
        assignment = Assignment(
            topic_partitions=[
                TopicPartitions(topic_id=topic_id, partitions=list(numbers))
                for topic_id, numbers in reply.assignment.items()
            ]
        )
    return ConsumerGroupHeartbeatResponse(
        error_code=ErrorCode.NONE,
        member_id=reply.member_id,
        member_epoch=reply.epoch,
        heartbeat_interval_ms=reply.interval_ms,
        assignment=assignment,
    )
