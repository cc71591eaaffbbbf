"""OffsetFetch (key 9): how far groups have read."""

from collections.abc import Iterable, Mapping

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.coordinator.group.messages import FetchedOffset, Identity
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

_ERROR_FOR_ALL_SINCE = 2
_BATCHED_SINCE = 8

Fetched = Mapping[TopicPartition, FetchedOffset]


async def handle(
    request: OffsetFetchRequest, context: Context, broker: Broker
) -> OffsetFetchResponse:
    if context.api_version >= _BATCHED_SINCE:
        groups = [await _fetch_group(one, request, broker) for one in request.groups]
        return OffsetFetchResponse(groups=groups)
    partitions = _asked(request)
    if context.api_version == 0:
        return _response(await _fetch_from_tree(request.group_id, partitions or [], broker))
    return _response(
        await broker.groups.fetch(
            request.group_id, partitions, require_stable=request.require_stable
        )
    )


def refuse(request: OffsetFetchRequest, context: Context, error: KafkaError) -> OffsetFetchResponse:
    """One error, or before version 2 the same for every partition."""
    if context.api_version >= _BATCHED_SINCE:
        groups = [
            OffsetFetchResponseGroup(group_id=one.group_id, topics=[], error_code=error.code)
            for one in request.groups
        ]
        return OffsetFetchResponse(groups=groups)
    if context.api_version >= _ERROR_FOR_ALL_SINCE:
        return OffsetFetchResponse(error_code=error.code)
    return _response({each: FetchedOffset(error.code) for each in _asked(request) or []})


def _asked(request: OffsetFetchRequest) -> list[TopicPartition] | None:
    if request.topics is None:
        return None
    return [
        TopicPartition(topic.name, index)
        for topic in request.topics
        for index in topic.partition_indexes
    ]


async def _fetch_from_tree(
    group_id: str, partitions: Iterable[TopicPartition], broker: Broker
) -> Fetched:
    fetched = {}
    for partition in partitions:
        fetched[partition] = FetchedOffset(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if broker.metadata.image.partition(*partition) is not None:
            offset = await broker.old_offsets.get(group_id, partition)
            if offset is not None:
                fetched[partition] = FetchedOffset(offset=offset)
    return fetched


async def _fetch_group(
    group: OffsetFetchRequestGroup, request: OffsetFetchRequest, broker: Broker
) -> OffsetFetchResponseGroup:
    partitions = None
    if group.topics is not None:
        partitions = [
            TopicPartition(topic.name, index)
            for topic in group.topics
            for index in topic.partition_indexes
        ]
    try:
        fetched = await broker.groups.fetch(
            group.group_id,
            partitions,
            require_stable=request.require_stable,
            identity=Identity(group.member_id or "", group.member_epoch),
        )
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
                for index, each in partitions.items()
            ],
        )
        for name, partitions in _by_topic(fetched).items()
    ]
    return OffsetFetchResponseGroup(group_id=group.group_id, topics=topics)


def _response(fetched: Fetched) -> OffsetFetchResponse:
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
                for index, each in partitions.items()
            ],
        )
        for name, partitions in _by_topic(fetched).items()
    ]
    return OffsetFetchResponse(topics=topics)


def _by_topic(fetched: Fetched) -> dict[str, dict[int, FetchedOffset]]:
    topics: dict[str, dict[int, FetchedOffset]] = {}
    for partition, each in fetched.items():
        topics.setdefault(partition.topic, {})[partition.partition] = each
    return topics
