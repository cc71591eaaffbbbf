"""AddOffsetsToTxn (key 25): add a group's offsets to a transaction.

In version 1 the client waits out the throttle time (KIP-219); 2 allows PRODUCER_FENCED (KIP-588);
3 is flexible; 4 allows TRANSACTION_ABORTABLE (KIP-890).
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.coordination.fencing import fencing_error
from moldau.broker.topics.internal import CONSUMER_OFFSETS
from moldau.coordinator.transaction.transaction import ProducerIdentity
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from moldau.security.acls import Operation, ResourceType

_FENCED_SINCE = 2


async def handle(
    request: AddOffsetsToTxnRequest, context: Context, broker: Broker
) -> AddOffsetsToTxnResponse:
    broker.authorizer.require(
        context, Operation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id
    )
    broker.authorizer.require(context, Operation.READ, ResourceType.GROUP, request.group_id)
    number = broker.groups.shards.partition_of(request.group_id)
    await broker.transactions.add_partitions(
        request.transactional_id,
        ProducerIdentity(request.producer_id, request.producer_epoch),
        [TopicPartition(CONSUMER_OFFSETS, number)],
    )
    return AddOffsetsToTxnResponse(throttle_time_ms=0, error_code=ErrorCode.NONE)


async def refuse(
    request: AddOffsetsToTxnRequest, context: Context, error: KafkaError
) -> AddOffsetsToTxnResponse:
    code = fencing_error(error.code, context.api_version, fenced_since=_FENCED_SINCE)
    return AddOffsetsToTxnResponse(throttle_time_ms=0, error_code=code)
