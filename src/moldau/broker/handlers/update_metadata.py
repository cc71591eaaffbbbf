"""UpdateMetadata (key 6): the controller says what the cluster looks like.

Version 1 gives a broker several endpoints; 2 a rack (KIP-36); 3 names listeners (KIP-103); 4 lists
offline replicas (KIP-112); 5 adds the broker epoch (KIP-380), and groups partitions by topic; 6 is
flexible; 7 adds topic ids (KIP-516); 8 marks controllers of KRaft, and says whether it is complete
(KIP-866).
"""

from collections.abc import Iterable

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.protocol.messages.update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from moldau.security.acls import Operation


async def handle(
    request: UpdateMetadataRequest, context: Context, broker: Broker
) -> UpdateMetadataResponse:
    broker.authorizer.require(context, Operation.CLUSTER_ACTION)
    broker.registration.require_epoch(request.broker_epoch)
    broker.replicas.require_controller(request.controller_epoch)
    deleted = await _apply(request, context, broker)
    topics = broker.metadata.image.topics
    for name in dict.fromkeys(partition.topic for partition in deleted):
        if name not in topics:
            broker.topic_configs.forget(name)
            broker.traffic.forget(name)
    if deleted:
        broker.groups.forget_partitions(deleted)
    async for name in context.each(_topics_of(request)):
        broker.waiters.wake(name)
    broker.waiters.wake(broker.metadata)
    return UpdateMetadataResponse(error_code=ErrorCode.NONE)


async def _apply(
    request: UpdateMetadataRequest, context: Context, broker: Broker
) -> list[TopicPartition]:
    """Change the image as a whole; returns the partitions that are gone with it."""
    cache = broker.metadata
    while True:
        change = await context.turns.finish(cache.changes(request))
        # Another update may have come in between, of another controller maybe.
        broker.replicas.require_controller(request.controller_epoch)
        if cache.image is change.before:
            cache.image = change.after
            return change.deleted


def _topics_of(request: UpdateMetadataRequest) -> Iterable[str]:
    names = [state.topic_name for state in request.topic_states]
    ungrouped = [state.topic_name for state in request.ungrouped_partition_states]
    return dict.fromkeys(names + ungrouped)
