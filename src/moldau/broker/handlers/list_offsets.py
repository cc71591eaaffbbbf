"""ListOffsets (key 2): the ends of a log, or the first record from a time on."""

from typing import NamedTuple

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode, KafkaError
from moldau.log.log import Log
from moldau.model import NO_LEADER_EPOCH, NO_TIMESTAMP, TopicPartition
from moldau.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from moldau.replication.partition import Partition

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
CONSUMER = -1
READ_COMMITTED = 1
NO_OFFSET = -1


class Found(NamedTuple):
    """A place in the log."""

    offset: int = NO_OFFSET
    timestamp: int = NO_TIMESTAMP


async def handle(
    request: ListOffsetsRequest, context: Context, broker: Broker
) -> ListOffsetsResponse:
    topics = []
    for topic in request.topics:
        responses = []
        for asked in topic.partitions:
            name = TopicPartition(topic.name, asked.partition_index)
            try:
                responses.append(_look_up(name, asked, request, context, broker))
            except KafkaError as error:
                responses.append(_refused(asked, error, context.api_version))
        topics.append(ListOffsetsTopicResponse(name=topic.name, partitions=responses))
    return ListOffsetsResponse(topics=topics)


def _refused(
    asked: ListOffsetsPartition, error: KafkaError, version: int
) -> ListOffsetsPartitionResponse:
    code = error.code
    if code == ErrorCode.OFFSET_NOT_AVAILABLE and version < 5:
        code = ErrorCode.LEADER_NOT_AVAILABLE
    return ListOffsetsPartitionResponse(partition_index=asked.partition_index, error_code=code)


def _look_up(
    name: TopicPartition,
    asked: ListOffsetsPartition,
    request: ListOffsetsRequest,
    context: Context,
    broker: Broker,
) -> ListOffsetsPartitionResponse:
    partition = broker.replicas.leader(name, asked.current_leader_epoch)
    log = partition.log
    end_offset = log.log_end_offset
    if request.replica_id == CONSUMER:
        is_read_committed = request.isolation_level == READ_COMMITTED
        end_offset = log.last_stable_offset if is_read_committed else log.high_watermark
    response = ListOffsetsPartitionResponse(
        partition_index=asked.partition_index, error_code=ErrorCode.NONE
    )
    if context.api_version == 0:
        response.old_style_offsets = _segment_offsets(log, asked, end_offset)
        return response
    found = _find(partition, asked.timestamp, end_offset)
    response.offset, response.timestamp = found
    if found.offset != NO_OFFSET:
        epoch = log.epochs.epoch_at(found.offset)
        response.leader_epoch = NO_LEADER_EPOCH if epoch is None else epoch
    return response


def _find(partition: Partition, timestamp: int, end_offset: int) -> Found:
    log = partition.log
    match timestamp:
        case -2 | -4:
            return Found(log.log_start_offset)
        case -5:
            return Found()
    _require_settled(partition)
    if timestamp == LATEST:
        return Found(end_offset)
    if timestamp == MAX_TIMESTAMP:
        found = log.offset_of_largest_timestamp()
    elif timestamp >= 0:
        found = log.offset_for_timestamp(timestamp)
    else:
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, f"timestamp {timestamp}")
    if found is None or found.offset >= end_offset:
        return Found()
    return Found(found.offset, found.timestamp)


def _require_settled(partition: Partition) -> None:
    """A new leader does not know the end until its followers have caught up with its start."""
    start = partition.epoch_start_offset
    if start is not None and partition.log.high_watermark < start:
        raise KafkaError(ErrorCode.OFFSET_NOT_AVAILABLE)


def _segment_offsets(log: Log, asked: ListOffsetsPartition, end_offset: int) -> list[int]:
    """Version 0: where segments begin, the newest first; their files' times are compared."""
    begins = [
        (max(segment.base_offset, log.log_start_offset), segment.created_ms)
        for segment in log.segments
    ]
    if log.segments.active.size > 0:
        begins.append((log.log_end_offset, 2**63 - 1))
    match asked.timestamp:
        case -1:
            count = len(begins)
        case -2:
            count = 1
        case timestamp:
            count = sum(1 for _, created_ms in begins if created_ms <= timestamp)
    newest_first = sorted((offset for offset, _ in begins[:count]), reverse=True)
    if newest_first and newest_first[0] > end_offset:
        newest_first = [end_offset, *(offset for offset in newest_first if offset < end_offset)]
    return newest_first[: max(asked.max_num_offsets, 0)]
