"""UpdateMetadata (key 6): the controller says what the cluster looks like."""

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
    for topic in {partition.topic for partition in deleted}:
        if topic not in broker.metadata.image.topics:
            broker.topic_configs.forget(topic)
            broker.traffic.forget(topic)
    for state in request.topic_states:
        broker.waiters.wake(state.topic_name)
    broker.waiters.wake(broker.metadata)
    return UpdateMetadataResponse(error_code=ErrorCode.NONE)
