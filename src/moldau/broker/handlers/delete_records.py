"""DeleteRecords (key 21): move the start of partitions forward.

In version 1 the client waits out the throttle time (KIP-219); 2 is flexible.
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.topics.internal import is_internal
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from moldau.replication.partition import Partition
from moldau.security.acls import Operation, ResourceType

HIGH_WATERMARK = -1
NO_LOW_WATERMARK = -1


async def handle(
    request: DeleteRecordsRequest, context: Context, broker: Broker
) -> DeleteRecordsResponse:
    started: dict[TopicPartition, int] = {}
    errors: dict[TopicPartition, ErrorCode] = {}
    async for topic in context.each(request.topics):
        is_allowed = broker.authorizer.may(
            context, Operation.DELETE, ResourceType.TOPIC, topic.name
        )
        async for wanted in context.each(topic.partitions):
            name = TopicPartition(topic.name, wanted.partition_index)
            if not is_allowed:
                errors[name] = ErrorCode.TOPIC_AUTHORIZATION_FAILED
                continue
            try:
                started[name] = _start(name, wanted.offset, broker)
            except KafkaError as error:
                errors[name] = error.code

    def are_done() -> bool:
        """Whether every live replica begins where it should, or never will."""
        while started:
            name, offset = next(reversed(started.items()))
            try:
                if _low_watermark(broker.replicas.leader(name), broker) < offset:
                    return False
            except KafkaError as error:
                errors[name] = error.code
            del started[name]
        return True

    await broker.waiters.until(
        are_done,
        keys=list(started),
        timeout_s=request.timeout_ms / 1000,
        operation="DeleteRecords",
    )
    errors.update(dict.fromkeys(started, ErrorCode.REQUEST_TIMED_OUT))
    return await _response(request, errors, context, broker)


async def refuse(
    request: DeleteRecordsRequest, context: Context, error: KafkaError
) -> DeleteRecordsResponse:
    topics = [
        DeleteRecordsTopicResult(
            name=topic.name,
            partitions=[
                _result(wanted.partition_index, error.code)
                async for wanted in context.each(topic.partitions)
            ],
        )
        async for topic in context.each(request.topics)
    ]
    return DeleteRecordsResponse(throttle_time_ms=0, topics=topics)


def _start(name: TopicPartition, offset: int, broker: Broker) -> int:
    """Move the start of our own log; returns where the others have to follow."""
    if is_internal(name.topic):
        message = f"Cannot delete records of internal topic {name.topic}"
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, message)
    log = broker.replicas.leader(name).log
    if not log.config.is_deleted_by_retention:
        message = f"Records of partition {name} can not be deleted due to the configured policy"
        raise KafkaError(ErrorCode.POLICY_VIOLATION, message)
    wanted = log.high_watermark if offset == HIGH_WATERMARK else offset
    if wanted < 0:
        message = f"The offset {wanted} for partition {name} is not valid"
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, message)
    if log.raise_log_start(wanted):
        broker.waiters.wake(name)  # the other replicas are to follow
    return wanted


def _low_watermark(partition: Partition, broker: Broker) -> int:
    return partition.lowest_log_start(broker.metadata.image.brokers)


async def _response(
    request: DeleteRecordsRequest,
    errors: dict[TopicPartition, ErrorCode],
    context: Context,
    broker: Broker,
) -> DeleteRecordsResponse:
    topics = []
    async for topic in context.each(request.topics):
        results = []
        async for wanted in context.each(topic.partitions):
            name = TopicPartition(topic.name, wanted.partition_index)
            code = errors.get(name, ErrorCode.NONE)
            low_watermark = NO_LOW_WATERMARK
            if code == ErrorCode.NONE:
                low_watermark = _low_watermark(broker.replicas.leader(name), broker)
            results.append(_result(wanted.partition_index, code, low_watermark))
        topics.append(DeleteRecordsTopicResult(name=topic.name, partitions=results))
    return DeleteRecordsResponse(throttle_time_ms=0, topics=topics)


def _result(
    number: int, code: ErrorCode, low_watermark: int = NO_LOW_WATERMARK
) -> DeleteRecordsPartitionResult:
    return DeleteRecordsPartitionResult(
        partition_index=number, low_watermark=low_watermark, error_code=code
    )
