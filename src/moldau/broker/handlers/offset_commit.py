"""OffsetCommit (key 8): a group stores how far it has read.

Version 0 stores in the tree (Kafka: in ZooKeeper); 1 in the log, for a member of a generation, with
a timestamp; 2 has a retention time instead; 3 reports the throttle time; in 4 the client waits it
out (KIP-219); 5 drops the retention time (KIP-211); 6 adds leader epochs (KIP-320); 7 the instance
id (KIP-345); 8 is flexible; 9 takes member epochs (KIP-848).
"""

from typing import TYPE_CHECKING

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.requests.offset_requests import COMMITTED_TOGETHER, identity_of
from moldau.errors import KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from moldau.runtime import native
from moldau.runtime.turns import in_parts

if TYPE_CHECKING:
    from moldau.broker.requests import offset_commits
    from moldau.broker.requests.offset_commits import Errors, OffsetCommit
else:
    offset_commits = native.kernel(
        "moldau.broker.requests._offset_commits", "moldau.broker.requests.offset_commits"
    )


async def handle(
    request: OffsetCommitRequest, context: Context, broker: Broker
) -> OffsetCommitResponse:
    version, generation = context.api_version, request.generation_id_or_member_epoch
    identity = identity_of(version, request.member_id, generation, request.group_instance_id)
    commit: OffsetCommit = offset_commits.OffsetCommit(
        broker, context.client, request.group_id, identity, request.retention_time_ms
    )
    async for topic in context.each(request.topics):
        async for each in context.each(topic.partitions):
            commit.add(
                TopicPartition(topic.name, each.partition_index),
                each.committed_offset,
                each.committed_leader_epoch,
                each.committed_metadata,
                each.commit_timestamp,
            )
    if version == 0:
        async for partition in context.each(commit.offsets):
            await commit.store_in_tree(partition)
    else:
        parts = in_parts(commit.offsets, COMMITTED_TOGETHER)
        async for some in context.turns.each(parts, at_once=1):
            await commit.store(some)
    return await _response(request, context, commit.errors)


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


async def _response(
    request: OffsetCommitRequest, context: Context, errors: "Errors"
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
