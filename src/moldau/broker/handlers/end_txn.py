"""EndTxn (key 26): commit or abort a transaction.

In version 1 the client waits out the throttle time (KIP-219); 2 allows PRODUCER_FENCED (KIP-588);
3 is flexible; 4 allows TRANSACTION_ABORTABLE (KIP-890).
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.coordination.fencing import fencing_error
from moldau.coordinator.transaction.transaction import ProducerIdentity
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from moldau.security.acls import Operation, ResourceType

_FENCED_SINCE = 2


async def handle(request: EndTxnRequest, context: Context, broker: Broker) -> EndTxnResponse:
    broker.authorizer.require(
        context, Operation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id
    )
    producer = ProducerIdentity(request.producer_id, request.producer_epoch)
    await broker.transactions.end(request.transactional_id, producer, is_commit=request.committed)
    return EndTxnResponse(throttle_time_ms=0, error_code=ErrorCode.NONE)


async def refuse(request: EndTxnRequest, context: Context, error: KafkaError) -> EndTxnResponse:
    code = fencing_error(error.code, context.api_version, fenced_since=_FENCED_SINCE)
    return EndTxnResponse(throttle_time_ms=0, error_code=code)
