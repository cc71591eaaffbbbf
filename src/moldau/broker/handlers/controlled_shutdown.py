"""ControlledShutdown (key 7): a broker is about to stop, and wants others to lead.

Version 1 has a client id in its header; 2 adds the broker epoch (KIP-380); 3 is flexible.
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    RemainingPartition,
)
from moldau.security.acls import Operation

_NO_EPOCH = -1


async def handle(
    request: ControlledShutdownRequest, context: Context, broker: Broker
) -> ControlledShutdownResponse:
    broker.authorizer.require(context, Operation.CLUSTER_ACTION)
    broker.controller.require_office()
    cluster = broker.controller.machine.cluster
    leaving = cluster.brokers.get(request.broker_id)
    if leaving is None:
        message = f"broker {request.broker_id} is not there"
        raise KafkaError(ErrorCode.BROKER_NOT_AVAILABLE, message)
    if _NO_EPOCH != request.broker_epoch < leaving.epoch:
        message = f"broker epoch {request.broker_epoch} is before {leaving.epoch}"
        raise KafkaError(ErrorCode.STALE_BROKER_EPOCH, message)
    remaining = [
        RemainingPartition(topic_name=name.topic, partition_index=name.partition)
        for name in await broker.controller.perform(lambda term: term.shut_down(request.broker_id))
    ]
    return ControlledShutdownResponse(error_code=ErrorCode.NONE, remaining_partitions=remaining)
