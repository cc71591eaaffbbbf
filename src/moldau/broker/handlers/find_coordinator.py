"""FindCoordinator (key 10): which broker coordinates a group or a transactional id.

Version 1 adds the type of the key, error messages and the throttle time; in 2 the client waits it
out (KIP-219); 3 is flexible; 4 asks for several keys (KIP-699); 5 allows TRANSACTION_ABORTABLE
(KIP-890); 6 adds share groups (KIP-932), which this broker does not have.
"""

from moldau.broker.access.authorizer import DENIED
from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.coordination.coordinators import partition_count
from moldau.broker.membership.advertised import advertised_endpoint
from moldau.broker.topics.internal import CONSUMER_OFFSETS, TRANSACTION_STATE
from moldau.coordination.tree import SessionError
from moldau.coordinator.java_hash import partition_of
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from moldau.security.acls import Operation, ResourceType

_BATCHED_SINCE = 4
_GROUP, _TRANSACTION = 0, 1


async def handle(
    request: FindCoordinatorRequest, context: Context, broker: Broker
) -> FindCoordinatorResponse:
    if request.key_type not in (_GROUP, _TRANSACTION):
        message = f"there are no coordinators of type {request.key_type}"
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)
    if context.api_version >= _BATCHED_SINCE:
        found = [
            await _find(key, request.key_type, context, broker)
            async for key in context.each(_keys(request))
        ]
        return FindCoordinatorResponse(coordinators=found)
    one = await _find(request.key, request.key_type, context, broker)
    return FindCoordinatorResponse(
        error_code=one.error_code,
        error_message=one.error_message or ErrorCode.NONE.name,
        node_id=one.node_id,
        host=one.host,
        port=one.port,
    )


async def refuse(
    request: FindCoordinatorRequest, context: Context, error: KafkaError
) -> FindCoordinatorResponse:
    """The same error for every key."""
    if context.api_version >= _BATCHED_SINCE:
        refused = [_refused(key, error.code) async for key in context.each(_keys(request))]
        return FindCoordinatorResponse(coordinators=refused)
    return FindCoordinatorResponse(
        error_code=error.code, error_message=str(error), node_id=-1, host="", port=-1
    )


def _keys(request: FindCoordinatorRequest) -> list[str]:
    return list(dict.fromkeys(request.coordinator_keys))


async def _find(key: str, key_type: int, context: Context, broker: Broker) -> Coordinator:
    topic = CONSUMER_OFFSETS if key_type == _GROUP else TRANSACTION_STATE
    resource_type = ResourceType.GROUP if key_type == _GROUP else ResourceType.TRANSACTIONAL_ID
    if not broker.authorizer.may(context, Operation.DESCRIBE, resource_type, key):
        return _refused(key, DENIED[resource_type])
    if topic not in broker.metadata.image.topics:
        try:
            await broker.auto_creation.create(topic, cause=f"since {context.who} needs it")
        except (KafkaError, SessionError):
            # Not enough brokers yet, or no tree, for a while: clients ask again.
            return _refused(key, ErrorCode.COORDINATOR_NOT_AVAILABLE)
    image = broker.metadata.image
    count = partition_count(broker.metadata, topic, 1)
    partition = image.partition(topic, partition_of(key, count))
    node = None if partition is None else image.brokers.get(partition.leader)
    endpoint = None if node is None else advertised_endpoint(node, context.client)
    if node is None or endpoint is None:
        return _refused(key, ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return Coordinator(
        key=key,
        node_id=node.id,
        host=endpoint.host,
        port=endpoint.port,
        error_code=ErrorCode.NONE,
        error_message=None,
    )


def _refused(key: str, code: ErrorCode) -> Coordinator:
    return Coordinator(
        key=key, node_id=-1, host="", port=-1, error_code=code, error_message=code.name
    )
