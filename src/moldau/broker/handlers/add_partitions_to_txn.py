"""AddPartitionsToTxn (key 24): add partitions to a transaction, or check that they are in it.

In version 1 the client waits out the throttle time (KIP-219); 2 allows PRODUCER_FENCED (KIP-588);
3 is flexible; 4 is for brokers, with several transactions and the choice to verify only (KIP-890);
5 allows TRANSACTION_ABORTABLE.
"""

from collections.abc import Iterable, Sequence

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.coordination.fencing import fencing_error
from moldau.broker.topics.internal import is_internal
from moldau.coordinator.transaction.transaction import ProducerIdentity
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from moldau.security.acls import Operation, ResourceType

_FENCED_SINCE = 2
_BATCHED_SINCE = 4
_ABORTABLE_SINCE = 5

Errors = dict[TopicPartition, ErrorCode]


async def handle(
    request: AddPartitionsToTxnRequest, context: Context, broker: Broker
) -> AddPartitionsToTxnResponse:
    if context.api_version >= _BATCHED_SINCE:
        broker.authorizer.require(context, Operation.CLUSTER_ACTION)
    else:
        transactional_id = request.v3_and_below_transactional_id
        broker.authorizer.require(
            context, Operation.WRITE, ResourceType.TRANSACTIONAL_ID, transactional_id
        )
    results = [
        AddPartitionsToTxnResult(
            transactional_id=transaction.transactional_id,
            topic_results=await _results(
                transaction.topics, await _answer(transaction, context, broker), context
            ),
        )
        async for transaction in context.each(_transactions(request, context.api_version))
    ]
    return _response(results, context.api_version)


async def refuse(
    request: AddPartitionsToTxnRequest, context: Context, error: KafkaError
) -> AddPartitionsToTxnResponse:
    """The same error for every partition, or once for all."""
    if context.api_version >= _BATCHED_SINCE:
        return AddPartitionsToTxnResponse(throttle_time_ms=0, error_code=error.code)
    topics = request.v3_and_below_topics
    errors = dict.fromkeys(await _partitions(topics, context), error.code)
    results = await _results(topics, errors, context)
    return AddPartitionsToTxnResponse(throttle_time_ms=0, results_by_topic_v3_and_below=results)


def _transactions(
    request: AddPartitionsToTxnRequest, version: int
) -> Sequence[AddPartitionsToTxnTransaction]:
    if version >= _BATCHED_SINCE:
        return request.transactions
    return [
        AddPartitionsToTxnTransaction(
            transactional_id=request.v3_and_below_transactional_id,
            producer_id=request.v3_and_below_producer_id,
            producer_epoch=request.v3_and_below_producer_epoch,
            topics=request.v3_and_below_topics,
        )
    ]


async def _answer(
    transaction: AddPartitionsToTxnTransaction, context: Context, broker: Broker
) -> Errors:
    partitions = await _partitions(transaction.topics, context)
    if refused := await _refused(partitions, context, broker):
        # All or none: a producer that could write to some would commit half of what it wanted.
        return dict.fromkeys(partitions, ErrorCode.OPERATION_NOT_ATTEMPTED) | refused
    producer = ProducerIdentity(transaction.producer_id, transaction.producer_epoch)
    coordinator = broker.transactions
    try:
        if transaction.verify_only:
            return await coordinator.verify(transaction.transactional_id, producer, partitions)
        await coordinator.add_partitions(transaction.transactional_id, producer, partitions)
    except KafkaError as error:
        return dict.fromkeys(partitions, error.code)
    return dict.fromkeys(partitions, ErrorCode.NONE)


async def _refused(
    partitions: Iterable[TopicPartition], context: Context, broker: Broker
) -> Errors:
    """Partitions that cannot be in a transaction; to clients internal topics are closed.

    A marker in an internal topic would be taken for the end of a coordinator's own
    transaction. Brokers (since version 4) verify what they have let through themselves.
    """
    image = broker.metadata.image
    refused: Errors = {}
    async for each in context.each(partitions):
        if context.api_version < _BATCHED_SINCE and (
            is_internal(each.topic)
            or not broker.authorizer.may(context, Operation.WRITE, ResourceType.TOPIC, each.topic)
        ):
            refused[each] = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        elif image.partition(*each) is None:
            refused[each] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return refused


async def _partitions(
    topics: Iterable[AddPartitionsToTxnTopic], context: Context
) -> list[TopicPartition]:
    return [
        TopicPartition(topic.name, number)
        async for topic in context.each(topics)
        async for number in context.each(topic.partitions)
    ]


async def _results(
    topics: Iterable[AddPartitionsToTxnTopic], errors: Errors, context: Context
) -> list[AddPartitionsToTxnTopicResult]:
    return [
        AddPartitionsToTxnTopicResult(
            name=topic.name,
            results_by_partition=[
                AddPartitionsToTxnPartitionResult(
                    partition_index=number,
                    partition_error_code=_code_for_version(
                        errors[TopicPartition(topic.name, number)], context.api_version
                    ),
                )
                async for number in context.each(topic.partitions)
            ],
        )
        async for topic in context.each(topics)
    ]


def _code_for_version(code: ErrorCode, version: int) -> ErrorCode:
    if code is ErrorCode.TRANSACTION_ABORTABLE and version < _ABORTABLE_SINCE:
        return ErrorCode.INVALID_TXN_STATE
    return fencing_error(code, version, fenced_since=_FENCED_SINCE)


def _response(results: list[AddPartitionsToTxnResult], version: int) -> AddPartitionsToTxnResponse:
    if version >= _BATCHED_SINCE:
        return AddPartitionsToTxnResponse(throttle_time_ms=0, results_by_transaction=results)
    (result,) = results
    return AddPartitionsToTxnResponse(
        throttle_time_ms=0, results_by_topic_v3_and_below=result.topic_results
    )
