"""UpdateMetadata (key 6): the controller says what the cluster looks like."""

from collections.abc import Iterable

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode
from moldau.protocol.messages.update_metadata import UpdateMetadataRequest, UpdateMetadataResponse


async def handle(
    request: UpdateMetadataRequest, context: Context, broker: Broker
) -> UpdateMetadataResponse:
    broker.registration.require_epoch(request.broker_epoch)
    broker.replicas.require_controller(request.controller_epoch)
    deleted = broker.metadata.apply(request)
    topics = broker.metadata.image.topics
    for name in dict.fromkeys(partition.topic for partition in deleted):
        if name not in topics:
            broker.topic_configs.forget(name)
            broker.traffic.forget(name)
    if deleted:
        broker.groups.forget_partitions(deleted)
    for name in _topics_of(request):
        broker.waiters.wake(name)
    broker.waiters.wake(broker.metadata)
    return UpdateMetadataResponse(error_code=ErrorCode.NONE)


def _topics_of(request: UpdateMetadataRequest) -> Iterable[str]:
    names = [state.topic_name for state in request.topic_states]
    ungrouped = [state.topic_name for state in request.ungrouped_partition_states]
    return dict.fromkeys(names + ungrouped)
