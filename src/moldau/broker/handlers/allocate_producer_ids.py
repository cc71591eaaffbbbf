"""AllocateProducerIds (key 67): a broker gets a block of producer ids from the controller.

The API comes from KIP-730. Only version 0 is served; it is flexible.
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from moldau.security.acls import Operation


async def handle(
    request: AllocateProducerIdsRequest, context: Context, broker: Broker
) -> AllocateProducerIdsResponse:
    broker.authorizer.require(context, Operation.CLUSTER_ACTION)
    require_registration(request.broker_id, request.broker_epoch, broker)
    block = await broker.producer_ids.claim(request.broker_id)
    return AllocateProducerIdsResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        producer_id_start=block.start,
        producer_id_len=len(block),
    )


def require_registration(broker_id: int, epoch: int, broker: Broker) -> None:
    """Raise unless this broker is the controller, and the other one registered as it says."""
    broker.controller.require_office()
    live = broker.controller.machine.cluster.brokers.get(broker_id)
    if live is None:
        raise KafkaError(ErrorCode.BROKER_ID_NOT_REGISTERED, f"broker {broker_id} is not there")
    if live.epoch != epoch:
        message = f"broker epoch {epoch} is not {live.epoch}"
        raise KafkaError(ErrorCode.STALE_BROKER_EPOCH, message)
