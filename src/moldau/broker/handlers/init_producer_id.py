"""InitProducerId (key 22): give a producer its id and epoch."""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode, KafkaError
from moldau.model import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from moldau.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)


async def handle(
    request: InitProducerIdRequest, context: Context, broker: Broker
) -> InitProducerIdResponse:
    if request.transactional_id == "":
        raise KafkaError(ErrorCode.INVALID_REQUEST, "the transactional id is empty")
    if (request.producer_id == NO_PRODUCER_ID) != (request.producer_epoch == NO_PRODUCER_EPOCH):
        raise KafkaError(ErrorCode.INVALID_REQUEST, "an id and an epoch only go together")
    if request.transactional_id is not None:
        message = "transactions are not served yet"
        raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, message)
    return InitProducerIdResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        producer_id=await broker.producer_ids.next(),
        producer_epoch=0,
    )


def refuse(
    request: InitProducerIdRequest, context: Context, error: KafkaError
) -> InitProducerIdResponse:
    return InitProducerIdResponse(throttle_time_ms=0, error_code=error.code, producer_epoch=-1)
