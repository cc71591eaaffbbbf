"""OffsetFetch (key 9): how far groups have read.

Version 0 reads from the tree (Kafka: from ZooKeeper); 1 from the log; 2 can ask for all topics, and
has one error for all; 3 reports the throttle time; in 4 the client waits it out (KIP-219); 5 adds
leader epochs (KIP-320); 6 is flexible; 7 can require stable offsets (KIP-447); 8 asks for several
groups (KIP-709); 9 for a member at its epoch (KIP-848).
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.coordinator.group.messages import FetchedOffset, MemberIdentity
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from moldau.security.acls import Operation, ResourceType

_ERROR_FOR_ALL_SINCE = 2
_BATCHED_SINCE = 8

Fetched = Mapping[TopicPartition, FetchedOffset]
Fetch = Callable[[list[TopicPartition] | None], Awaitable[Fetched]]
Topic = OffsetFetchRequestTopic | OffsetFetchRequestTopics


async def handle(
    request: OffsetFetchRequest, context: Context, broker: Broker
) -> OffsetFetchResponse:
    if context.api_version >= _BATCHED_SINCE:
        groups = [
            await _fetch_group(one, request, context, broker)
            async for one in context.each(request.groups)
        ]
        return OffsetFetchResponse(groups=groups)
    group_id = request.group_id

    async def fetch(partitions: list[TopicPartition] | None) -> Fetched:
        if context.api_version == 0:
            return await _fetch_from_tree(group_id, partitions or [], context, broker)
        is_stable = request.require_stable
        return await broker.groups.fetch(group_id, partitions, require_stable=is_stable)

    asked = await _asked(request.topics, context)
    return await _response(await _visible(group_id, asked, fetch, context, broker), context)


async def refuse(
    request: OffsetFetchRequest, context: Context, error: KafkaError
) -> OffsetFetchResponse:
    """One error, or before version 2 the same for every partition."""
    if context.api_version >= _BATCHED_SINCE:
        groups = [
            OffsetFetchResponseGroup(group_id=one.group_id, topics=[], error_code=error.code)
            async for one in context.each(request.groups)
        ]
        return OffsetFetchResponse(groups=groups)
    if context.api_version >= _ERROR_FOR_ALL_SINCE:
        return OffsetFetchResponse(error_code=error.code)
    asked = await _asked(request.topics, context) or []
    return await _response(dict.fromkeys(asked, FetchedOffset(error.code)), context)


async def _asked(topics: Iterable[Topic] | None, context: Context) -> list[TopicPartition] | None:
    if topics is None:
        return None
    return [
        TopicPartition(topic.name, index)
        async for topic in context.each(topics)
        async for index in context.each(topic.partition_indexes)
    ]


async def _visible(
    group_id: str,
    asked: list[TopicPartition] | None,
    fetch: Fetch,
    context: Context,
    broker: Broker,
) -> Fetched:
    """What is fetched, as far as the client may know of the group and of the topics."""
    may = broker.authorizer.may
    broker.authorizer.require(context, Operation.DESCRIBE, ResourceType.GROUP, group_id)
    if asked is None:
        fetched = await fetch(None)
        return {
            partition: each
            async for partition, each in context.each(fetched.items())
            if may(context, Operation.DESCRIBE, ResourceType.TOPIC, partition.topic, log=False)
        }
    denied = {
        partition: FetchedOffset(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        async for partition in context.each(asked)
        if not may(context, Operation.DESCRIBE, ResourceType.TOPIC, partition.topic)
    }
    allowed = [partition for partition in asked if partition not in denied]
    return {**await fetch(allowed), **denied}


async def _fetch_from_tree(
    group_id: str, partitions: Iterable[TopicPartition], context: Context, broker: Broker
) -> Fetched:
    fetched = {}
    async for partition in context.each(partitions):
        fetched[partition] = FetchedOffset(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if broker.metadata.image.partition(*partition) is not None:
            offset = await broker.old_offsets.get(group_id, partition)
            if offset is not None:
                fetched[partition] = FetchedOffset(offset=offset)
    return fetched


async def _fetch_group(
    group: OffsetFetchRequestGroup, request: OffsetFetchRequest, context: Context, broker: Broker
) -> OffsetFetchResponseGroup:
    asked = await _asked(group.topics, context)
    fetch = partial(
        broker.groups.fetch,
        group.group_id,
        require_stable=request.require_stable,
        identity=MemberIdentity(group.member_id or "", group.member_epoch),
    )
    try:
        fetched = await _visible(group.group_id, asked, fetch, context, broker)
    except KafkaError as error:
        return OffsetFetchResponseGroup(group_id=group.group_id, topics=[], error_code=error.code)
    topics = [
        OffsetFetchResponseTopics(
            name=name,
            partitions=[
                OffsetFetchResponsePartitions(
                    partition_index=index,
                    committed_offset=each.offset,
                    committed_leader_epoch=each.leader_epoch,
                    metadata=each.metadata,
                    error_code=each.error,
                )
                async for index, each in context.each(partitions.items())
            ],
        )
        async for name, partitions in context.each((await _by_topic(fetched, context)).items())
    ]
    return OffsetFetchResponseGroup(group_id=group.group_id, topics=topics)


async def _response(fetched: Fetched, context: Context) -> OffsetFetchResponse:
    topics = [
        OffsetFetchResponseTopic(
            name=name,
            partitions=[
                OffsetFetchResponsePartition(
                    partition_index=index,
                    committed_offset=each.offset,
                    committed_leader_epoch=each.leader_epoch,
                    metadata=each.metadata,
                    error_code=each.error,
                )
                async for index, each in context.each(partitions.items())
            ],
        )
        async for name, partitions in context.each((await _by_topic(fetched, context)).items())
    ]
    return OffsetFetchResponse(topics=topics)


async def _by_topic(fetched: Fetched, context: Context) -> dict[str, dict[int, FetchedOffset]]:
    topics: dict[str, dict[int, FetchedOffset]] = {}
    async for partition, each in context.each(fetched.items()):
        topics.setdefault(partition.topic, {})[partition.partition] = each
    return topics
