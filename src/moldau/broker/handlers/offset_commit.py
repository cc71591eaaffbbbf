"""OffsetCommit (key 8): a group stores how far it has read."""

from collections.abc import Mapping

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.coordinator.group.messages import Committed, MemberIdentity
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from moldau.runtime.turns import in_parts

EPOCHS_SINCE = 9
COMMITTED_TOGETHER = 200
"""More than so many offsets are stored by several batches: each takes the time to write it."""
_DEFAULT = -1
_TIMESTAMP_MAX = 2**63 - 1

Errors = dict[TopicPartition, ErrorCode]


async def handle(
    request: OffsetCommitRequest, context: Context, broker: Broker
) -> OffsetCommitResponse:
    now_ms = broker.clock.now_ms()
    offsets: dict[TopicPartition, Committed] = {}
    errors: Errors = {}
    async for topic in context.each(request.topics):
        name, known = topic.name, broker.metadata.image.topics.get(topic.name)
        async for each in context.each(topic.partitions):
            partition = TopicPartition(name, each.partition_index)
            if known is None or each.partition_index not in known.partitions:
                errors[partition] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            else:
                offsets[partition] = _committed(each, request.retention_time_ms, now_ms)
    if context.api_version == 0:
        errors |= await _commit_to_tree(request.group_id, offsets, context, broker)
    else:
        async for some in context.turns.each(in_parts(offsets, COMMITTED_TOGETHER), at_once=1):
            errors |= await _commit(request, context.api_version, some, broker)
    return await _response(request, context, errors)


async def refuse(
    request: OffsetCommitRequest, context: Context, error: KafkaError
) -> OffsetCommitResponse:
    """The same error for every partition."""
    errors = {
        TopicPartition(topic.name, each.partition_index): error.code
        async for topic in context.each(request.topics)
        async for each in context.each(topic.partitions)
    }
    return await _response(request, context, errors)


async def _commit(
    request: OffsetCommitRequest,
    version: int,
    offsets: Mapping[TopicPartition, Committed],
    broker: Broker,
) -> Errors:
    identity = MemberIdentity(
        request.member_id,
        request.generation_id_or_member_epoch,
        request.group_instance_id,
        knows_epochs=version >= EPOCHS_SINCE,
    )
    try:
        return await broker.groups.commit(request.group_id, identity, offsets)
    except KafkaError as error:
        return dict.fromkeys(offsets, error.code)


async def _commit_to_tree(
    group_id: str, offsets: dict[TopicPartition, Committed], context: Context, broker: Broker
) -> Errors:
    errors: Errors = {}
    size_max = broker.config.groups.offset_metadata_max_bytes
    async for partition, committed in context.each(offsets.items()):
        if len(committed.metadata) > size_max:
            errors[partition] = ErrorCode.OFFSET_METADATA_TOO_LARGE
        else:
            await broker.old_offsets.set(group_id, partition, committed.offset)
            errors[partition] = ErrorCode.NONE
    return errors


def _committed(each: OffsetCommitRequestPartition, retention_ms: int, now_ms: int) -> Committed:
    timestamp = each.commit_timestamp
    return Committed(
        each.committed_offset,
        each.committed_leader_epoch,
        each.committed_metadata or "",
        now_ms if timestamp == _DEFAULT else timestamp,
        -1 if retention_ms == _DEFAULT else min(now_ms + retention_ms, _TIMESTAMP_MAX),
    )


async def _response(
    request: OffsetCommitRequest, context: Context, errors: Errors
) -> OffsetCommitResponse:
    topics = [
        OffsetCommitResponseTopic(
            name=topic.name,
            partitions=[
                OffsetCommitResponsePartition(
                    partition_index=each.partition_index,
                    error_code=errors[TopicPartition(topic.name, each.partition_index)],
                )
                async for each in context.each(topic.partitions)
            ],
        )
        async for topic in context.each(request.topics)
    ]
    return OffsetCommitResponse(topics=topics)
