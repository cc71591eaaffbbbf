"""ListOffsets (key 2): the ends of a log, or the first record from a time on.

Version 1 answers with one offset and its timestamp instead of a list (KIP-79); 2 knows the
isolation level and the throttle time, which the client waits out since 3 (KIP-219); 4 leader epochs
(KIP-320); 5 OFFSET_NOT_AVAILABLE; 6 is flexible; 7 asks for the largest timestamp (KIP-734); 8 for
the local log start (KIP-405); 9 for the last tiered offset (KIP-1005).
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.requests.offset_lookup import Found, Lookup, Requested, look_up, segment_starts
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
    ListOffsetsTopicResponse,
)
from moldau.records.opening import ON_LOOP_BYTES, Opening
from moldau.replication.partition import Partition
from moldau.security.acls import Operation, ResourceType

CONSUMER = -1
READ_COMMITTED = 1
_DENIED = KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
_LEADER_EPOCH_SINCE = 4
_OFFSET_NOT_AVAILABLE_SINCE = 5
_SPECIAL_SINCE: dict[int, int] = {
    Requested.LATEST: 0,
    Requested.EARLIEST: 0,
    Requested.MAX_TIMESTAMP: 7,
    Requested.EARLIEST_LOCAL: 8,
    Requested.LATEST_TIERED: 9,
}


async def handle(
    request: ListOffsetsRequest, context: Context, broker: Broker
) -> ListOffsetsResponse:
    look = Lookup(
        is_client=request.replica_id == CONSUMER,
        is_read_committed=request.isolation_level == READ_COMMITTED,
    )
    repeated = await _repeated(request, context)
    opening = Opening(broker.scratch, ON_LOOP_BYTES)
    topics = []
    async for topic in context.each(request.topics):
        responses = []
        if not broker.authorizer.may(context, Operation.DESCRIBE, ResourceType.TOPIC, topic.name):
            topics.append(await _refused_topic(topic, _DENIED, context))
            continue
        async for asked in context.each(topic.partitions):
            try:
                if context.api_version > 0:
                    _require_once(TopicPartition(topic.name, asked.partition_index), repeated)
                    _require_served(asked.timestamp, context.api_version)
                name = TopicPartition(topic.name, asked.partition_index)
                partition = broker.replicas.leader(name, asked.current_leader_epoch)
                if context.api_version == 0:
                    responses.append(_starts(partition, asked, look, broker))
                else:
                    found = await look_up(partition, asked.timestamp, look, opening)
                    responses.append(_found(asked, found, context.api_version))
            except KafkaError as error:
                responses.append(_refused(asked, error, context.api_version))
        topics.append(ListOffsetsTopicResponse(name=topic.name, partitions=responses))
    return ListOffsetsResponse(topics=topics)


async def refuse(
    request: ListOffsetsRequest, context: Context, error: KafkaError
) -> ListOffsetsResponse:
    """The same error for every partition."""
    return ListOffsetsResponse(
        topics=[
            await _refused_topic(topic, error, context)
            async for topic in context.each(request.topics)
        ]
    )


async def _refused_topic(
    topic: ListOffsetsTopic, error: KafkaError, context: Context
) -> ListOffsetsTopicResponse:
    refused = [
        _refused(one, error, context.api_version) async for one in context.each(topic.partitions)
    ]
    return ListOffsetsTopicResponse(name=topic.name, partitions=refused)


async def _repeated(request: ListOffsetsRequest, context: Context) -> set[TopicPartition]:
    seen: set[TopicPartition] = set()
    repeated = set()
    async for topic in context.each(request.topics):
        async for asked in context.each(topic.partitions):
            name = TopicPartition(topic.name, asked.partition_index)
            if name in seen:
                repeated.add(name)
            seen.add(name)
    return repeated


def _require_once(name: TopicPartition, repeated: set[TopicPartition]) -> None:
    if name in repeated:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"{name} is asked for more than once")


def _require_served(timestamp: int, version: int) -> None:
    if timestamp < 0 and version < _SPECIAL_SINCE.get(timestamp, version + 1):
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, f"timestamp {timestamp}")


def _starts(
    partition: Partition, asked: ListOffsetsPartition, look: Lookup, broker: Broker
) -> ListOffsetsPartitionResponse:
    starts = segment_starts(partition, asked.timestamp, look, now_ms=broker.clock.now_ms())
    return ListOffsetsPartitionResponse(
        partition_index=asked.partition_index,
        error_code=ErrorCode.NONE,
        old_style_offsets=starts[: max(asked.max_num_offsets, 0)],
    )


def _found(asked: ListOffsetsPartition, found: Found, version: int) -> ListOffsetsPartitionResponse:
    response = ListOffsetsPartitionResponse(
        partition_index=asked.partition_index,
        error_code=ErrorCode.NONE,
        offset=found.offset,
        timestamp=found.timestamp,
    )
    if version >= _LEADER_EPOCH_SINCE:
        response.leader_epoch = found.leader_epoch
    return response


def _refused(
    asked: ListOffsetsPartition, error: KafkaError, version: int
) -> ListOffsetsPartitionResponse:
    code = error.code
    if code == ErrorCode.OFFSET_NOT_AVAILABLE and version < _OFFSET_NOT_AVAILABLE_SINCE:
        code = ErrorCode.LEADER_NOT_AVAILABLE
    return ListOffsetsPartitionResponse(partition_index=asked.partition_index, error_code=code)
