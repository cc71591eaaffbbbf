"""OffsetForLeaderEpoch (key 23): where an epoch ended here, for a replica that must truncate to it.

Version 1 answers with the epoch, too (KIP-279); 2 sends the current leader epoch, to be fenced by
(KIP-320), and reports the throttle time; 3 has the replica's id; 4 is flexible.
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)
from moldau.security.acls import Operation, ResourceType


async def handle(
    request: OffsetForLeaderEpochRequest, context: Context, broker: Broker
) -> OffsetForLeaderEpochResponse:
    may = broker.authorizer.may
    is_broker = may(context, Operation.CLUSTER_ACTION, ResourceType.CLUSTER, log=False)
    topics = []
    async for topic in context.each(request.topics):
        if is_broker or may(context, Operation.DESCRIBE, ResourceType.TOPIC, topic.topic):
            ends = [_end(topic.topic, one, broker) async for one in context.each(topic.partitions)]
        else:
            denied = KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
            ends = [_refused(one.partition, denied) async for one in context.each(topic.partitions)]
        topics.append(OffsetForLeaderTopicResult(topic=topic.topic, partitions=ends))
    return OffsetForLeaderEpochResponse(topics=topics)


async def refuse(
    request: OffsetForLeaderEpochRequest, context: Context, error: KafkaError
) -> OffsetForLeaderEpochResponse:
    """The same error for every partition."""
    topics = []
    async for topic in context.each(request.topics):
        ends = [_refused(asked.partition, error) async for asked in context.each(topic.partitions)]
        topics.append(OffsetForLeaderTopicResult(topic=topic.topic, partitions=ends))
    return OffsetForLeaderEpochResponse(topics=topics)


def _end(topic: str, asked: OffsetForLeaderPartition, broker: Broker) -> EpochEndOffset:
    name = TopicPartition(topic, asked.partition)
    try:
        partition = broker.replicas.leader(name, asked.current_leader_epoch)
    except KafkaError as error:
        return _refused(asked.partition, error)
    end = partition.log.end_offset_for_epoch(asked.leader_epoch)
    return EpochEndOffset(
        error_code=ErrorCode.NONE,
        partition=asked.partition,
        leader_epoch=end.epoch,
        end_offset=end.end_offset,
    )


def _refused(number: int, error: KafkaError) -> EpochEndOffset:
    return EpochEndOffset(error_code=error.code, partition=number)
