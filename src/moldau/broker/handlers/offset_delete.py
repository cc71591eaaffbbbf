"""OffsetDelete (key 47): forget a group's offsets of some partitions (KIP-496)."""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)


async def handle(
    request: OffsetDeleteRequest, context: Context, broker: Broker
) -> OffsetDeleteResponse:
    known, errors = [], {}
    for topic in request.topics:
        for each in topic.partitions:
            partition = TopicPartition(topic.name, each.partition_index)
            if broker.metadata.image.partition(*partition) is None:
                errors[partition] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            else:
                known.append(partition)
    errors |= await broker.groups.delete_offsets(request.group_id, known)
    topics = [
        OffsetDeleteResponseTopic(
            name=topic.name,
            partitions=[
                OffsetDeleteResponsePartition(
                    partition_index=each.partition_index,
                    error_code=errors[TopicPartition(topic.name, each.partition_index)],
                )
                for each in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    return OffsetDeleteResponse(error_code=ErrorCode.NONE, throttle_time_ms=0, topics=topics)


def refuse(
    request: OffsetDeleteRequest, context: Context, error: KafkaError
) -> OffsetDeleteResponse:
    """One error for the group."""
    return OffsetDeleteResponse(error_code=error.code, throttle_time_ms=0, topics=[])
