"""DescribeTransactions (key 65): show the state of transactions (KIP-664).

Only version 0 is served; it is flexible.
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.coordinator.transaction.transaction import Transaction
from moldau.errors import ErrorCode, KafkaError
from moldau.model import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from moldau.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)
from moldau.security.acls import Operation, ResourceType


async def handle(
    request: DescribeTransactionsRequest, context: Context, broker: Broker
) -> DescribeTransactionsResponse:
    states = [_state(one, context, broker) async for one in context.each(request.transactional_ids)]
    return DescribeTransactionsResponse(throttle_time_ms=0, transaction_states=states)


async def refuse(
    request: DescribeTransactionsRequest, context: Context, error: KafkaError
) -> DescribeTransactionsResponse:
    """The same error for every transactional id."""
    states = [_refused(one, error.code) async for one in context.each(request.transactional_ids)]
    return DescribeTransactionsResponse(throttle_time_ms=0, transaction_states=states)


def _state(transactional_id: str, context: Context, broker: Broker) -> TransactionState:
    try:
        broker.authorizer.require(
            context, Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, transactional_id
        )
        transaction = broker.transactions.describe(transactional_id)
    except KafkaError as error:
        return _refused(transactional_id, error.code)
    return TransactionState(
        error_code=ErrorCode.NONE,
        transactional_id=transactional_id,
        transaction_state=transaction.state.label,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_start_time_ms=transaction.start_timestamp,
        producer_id=transaction.producer_id,
        producer_epoch=transaction.epoch,
        topics=_topics(transaction, context, broker),
    )


def _refused(transactional_id: str, code: ErrorCode) -> TransactionState:
    return TransactionState(
        error_code=code,
        transactional_id=transactional_id,
        transaction_state="",
        transaction_timeout_ms=0,
        transaction_start_time_ms=0,
        producer_id=NO_PRODUCER_ID,
        producer_epoch=NO_PRODUCER_EPOCH,
        topics=[],
    )


def _topics(transaction: Transaction, context: Context, broker: Broker) -> list[TopicData]:
    topics: dict[str, list[int]] = {}
    for topic, number in transaction.partitions:
        topics.setdefault(topic, []).append(number)
    return [
        TopicData(topic=topic, partitions=numbers)
        for topic, numbers in topics.items()
        if broker.authorizer.may(context, Operation.DESCRIBE, ResourceType.TOPIC, topic, log=False)
    ]
