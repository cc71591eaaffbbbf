"""InitProducerId (key 22): give a producer its id and epoch.

In version 1 the client waits out the throttle time (KIP-219); 2 is flexible; 3 sends the id and
epoch that the producer has, to go on with them (KIP-360); 4 allows PRODUCER_FENCED (KIP-588);
5 TRANSACTION_ABORTABLE (KIP-890).
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.coordination.fencing import fencing_error
from moldau.coordinator.transaction.transaction import ProducerIdentity
from moldau.coordinator.transaction.transactions import Initialisation
from moldau.errors import ErrorCode, KafkaError
from moldau.model import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from moldau.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from moldau.security.acls import Operation, ResourceType

_FENCED_SINCE = 4


async def handle(
    request: InitProducerIdRequest, context: Context, broker: Broker
) -> InitProducerIdResponse:
    _require_right(request.transactional_id, context, broker)
    if request.transactional_id == "":
        raise KafkaError(ErrorCode.INVALID_REQUEST, "the transactional id is empty")
    if (request.producer_id == NO_PRODUCER_ID) != (request.producer_epoch == NO_PRODUCER_EPOCH):
        raise KafkaError(ErrorCode.INVALID_REQUEST, "an id and an epoch only go together")
    if request.transactional_id is None:
        producer = ProducerIdentity(await broker.producer_ids.next(), 0)
    else:
        asked = Initialisation(request.transaction_timeout_ms, _expected(request))
        producer = await broker.transactions.initialise(request.transactional_id, asked)
    return InitProducerIdResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
    )


async def refuse(
    request: InitProducerIdRequest, context: Context, error: KafkaError
) -> InitProducerIdResponse:
    code = fencing_error(error.code, context.api_version, fenced_since=_FENCED_SINCE)
    return InitProducerIdResponse(throttle_time_ms=0, error_code=code, producer_epoch=-1)


def _require_right(transactional_id: str | None, context: Context, broker: Broker) -> None:
    """A client that may write to any topic may do so idempotently, since KIP-679."""
    authorizer = broker.authorizer
    if transactional_id is not None:
        resource_type = ResourceType.TRANSACTIONAL_ID
        authorizer.require(context, Operation.WRITE, resource_type, transactional_id)
    elif not (
        authorizer.may(context, Operation.IDEMPOTENT_WRITE, ResourceType.CLUSTER, log=False)
        or authorizer.may_with_any(context, Operation.WRITE, ResourceType.TOPIC)
    ):
        raise KafkaError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)


def _expected(request: InitProducerIdRequest) -> ProducerIdentity | None:
    if request.producer_id == NO_PRODUCER_ID:
        return None
    return ProducerIdentity(request.producer_id, request.producer_epoch)
