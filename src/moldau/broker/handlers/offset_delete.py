"""OffsetDelete (key 47): forget a group's offsets of some partitions (KIP-496).

Only version 0 is served; it is not flexible.
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.requests.offset_requests import COMMITTED_TOGETHER
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from moldau.runtime.turns import in_parts
from moldau.security.acls import Operation, ResourceType


async def handle(
    request: OffsetDeleteRequest, context: Context, broker: Broker
) -> OffsetDeleteResponse:
    broker.authorizer.require(context, Operation.DELETE, ResourceType.GROUP, request.group_id)
    known: dict[TopicPartition, None] = {}
    errors: dict[TopicPartition, ErrorCode] = {}
    async for topic in context.each(request.topics):
        is_allowed = broker.authorizer.may(context, Operation.READ, ResourceType.TOPIC, topic.name)
        async for each in context.each(topic.partitions):
            partition = TopicPartition(topic.name, each.partition_index)
            if not is_allowed:
                errors[partition] = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            elif broker.metadata.image.partition(*partition) is None:
                errors[partition] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            else:
                known[partition] = None
    parts = in_parts(known, COMMITTED_TOGETHER) if known else [known]
    async for some in context.turns.each(parts, at_once=1):
        errors |= await broker.groups.delete_offsets(request.group_id, some)
    topics = [
        OffsetDeleteResponseTopic(
            name=topic.name,
            partitions=[
                OffsetDeleteResponsePartition(
                    partition_index=each.partition_index,
                    error_code=errors[TopicPartition(topic.name, each.partition_index)],
                )
                async for each in context.each(topic.partitions)
            ],
        )
        async for topic in context.each(request.topics)
    ]
    return OffsetDeleteResponse(error_code=ErrorCode.NONE, throttle_time_ms=0, topics=topics)


async def refuse(
    request: OffsetDeleteRequest, context: Context, error: KafkaError
) -> OffsetDeleteResponse:
    """One error for the group."""
    return OffsetDeleteResponse(error_code=error.code, throttle_time_ms=0, topics=[])
