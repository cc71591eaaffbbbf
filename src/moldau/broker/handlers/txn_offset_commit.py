"""TxnOffsetCommit (key 28): store a group's offsets as part of a transaction.

In version 1 the client waits out the throttle time (KIP-219); 2 adds leader epochs (KIP-320), and
knows COORDINATOR_LOAD_IN_PROGRESS; 3 is flexible, and adds member, generation and instance id
(KIP-447); 4 allows TRANSACTION_ABORTABLE (KIP-890).
"""

from collections.abc import Mapping

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.coordination.verification import Writer
from moldau.broker.requests.offset_requests import COMMITTED_TOGETHER
from moldau.broker.topics.internal import CONSUMER_OFFSETS
from moldau.coordinator.group.messages import Committed, MemberIdentity
from moldau.coordinator.transaction.transaction import ProducerIdentity
from moldau.errors import ErrorCode, KafkaError
from moldau.log.verification import Guard
from moldau.model import NO_SEQUENCE, TopicPartition
from moldau.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from moldau.records.batch import Producer
from moldau.runtime.turns import in_parts
from moldau.security.acls import Operation, ResourceType

_LOADING_SINCE = 2
_ABORTABLE_SINCE = 4

_UNVERIFIED = (
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.NETWORK_EXCEPTION,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)

Errors = dict[TopicPartition, ErrorCode]


async def handle(
    request: TxnOffsetCommitRequest, context: Context, broker: Broker
) -> TxnOffsetCommitResponse:
    authorizer = broker.authorizer
    authorizer.require(
        context, Operation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id
    )
    authorizer.require(context, Operation.READ, ResourceType.GROUP, request.group_id)
    now_ms = broker.clock.now_ms()
    offsets: dict[TopicPartition, Committed] = {}
    errors: Errors = {}
    async for topic in context.each(request.topics):
        is_allowed = authorizer.may(context, Operation.READ, ResourceType.TOPIC, topic.name)
        async for each in context.each(topic.partitions):
            partition = TopicPartition(topic.name, each.partition_index)
            if not is_allowed:
                errors[partition] = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            elif broker.metadata.image.partition(*partition) is None:
                errors[partition] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            else:
                metadata = each.committed_metadata or ""
                offsets[partition] = Committed(
                    each.committed_offset, each.committed_leader_epoch, metadata, now_ms
                )
    async for some in context.turns.each(in_parts(offsets, COMMITTED_TOGETHER), at_once=1):
        try:
            errors |= await _commit(request, some, context, broker)
        except KafkaError as error:
            errors |= dict.fromkeys(some, error.code)
    return await _response(request, context, errors)


async def refuse(
    request: TxnOffsetCommitRequest, context: Context, error: KafkaError
) -> TxnOffsetCommitResponse:
    """The same error for every partition."""
    errors = {
        TopicPartition(topic.name, each.partition_index): error.code
        async for topic in context.each(request.topics)
        async for each in context.each(topic.partitions)
    }
    return await _response(request, context, errors)


async def _commit(
    request: TxnOffsetCommitRequest,
    offsets: Mapping[TopicPartition, Committed],
    context: Context,
    broker: Broker,
) -> Errors:
    guard = await _guard(request, context, broker)
    member = MemberIdentity(request.member_id, request.generation_id, request.group_instance_id)
    producer = Producer(request.producer_id, request.producer_epoch, NO_SEQUENCE)
    return await broker.groups.commit(request.group_id, member, offsets, producer, guard)


async def _guard(request: TxnOffsetCommitRequest, context: Context, broker: Broker) -> Guard | None:
    shards = broker.groups.shards
    number = shards.partition_of(request.group_id)
    shards.at(number)
    partition = broker.replicas.leader(TopicPartition(CONSUMER_OFFSETS, number))
    producer = ProducerIdentity(request.producer_id, request.producer_epoch)
    writer = Writer(request.transactional_id, producer, NO_SEQUENCE)
    try:
        return await broker.verifier.guard(partition, writer, now_ms=broker.clock.now_ms())
    except KafkaError as error:
        raise KafkaError(_unverified(error.code, context.api_version), str(error)) from error


def _unverified(code: ErrorCode, version: int) -> ErrorCode:
    """What a producer gets if its transaction could not be verified."""
    if code in _UNVERIFIED:
        # It tries again, and does not look for another coordinator of the group.
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    if code is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if code is ErrorCode.TRANSACTION_ABORTABLE and version < _ABORTABLE_SINCE:
        return ErrorCode.INVALID_TXN_STATE
    return code


async def _response(
    request: TxnOffsetCommitRequest, context: Context, errors: Errors
) -> TxnOffsetCommitResponse:
    topics = [
        TxnOffsetCommitResponseTopic(
            name=topic.name,
            partitions=[
                TxnOffsetCommitResponsePartition(
                    partition_index=each.partition_index,
                    error_code=_code_for_version(
                        errors[TopicPartition(topic.name, each.partition_index)],
                        context.api_version,
                    ),
                )
                async for each in context.each(topic.partitions)
            ],
        )
        async for topic in context.each(request.topics)
    ]
    return TxnOffsetCommitResponse(throttle_time_ms=0, topics=topics)


def _code_for_version(code: ErrorCode, version: int) -> ErrorCode:
    """Producers before Kafka 2.0 give up when a coordinator is loading."""
    if code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS and version < _LOADING_SINCE:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    return code
