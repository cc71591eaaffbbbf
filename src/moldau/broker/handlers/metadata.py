"""Metadata (key 3): which brokers there are, and who leads what.

Version 1 asks for all topics by null, and adds racks, the controller and which topics are internal;
2 the cluster's id; 3 the throttle time; 4 can forbid that topics are created; 5 lists offline
replicas; 6 knows LISTENER_NOT_FOUND, and the client waits out the throttle time (KIP-219); 7 adds
leader epochs; 8 authorised operations (KIP-430); 9 is flexible; 10 adds topic ids (KIP-516);
11 drops the operations on the cluster (KIP-700); 12 can ask by topic id.
"""

import asyncio
from collections.abc import Collection, Iterator
from typing import NamedTuple

from moldau.broker.authorized import operations_of, operations_of_cluster
from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.membership.advertised import advertised_endpoint
from moldau.broker.requests.leader_hints import FindReplica, newest
from moldau.broker.topics.internal import is_internal
from moldau.errors import ErrorCode, KafkaError
from moldau.metadata.image import NO_LEADER, ClusterImage, PartitionImage, TopicImage
from moldau.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from moldau.protocol.primitives import NO_UUID
from moldau.security.acls import Operation, ResourceType

_LISTENER_NOT_FOUND_SINCE = 6
_TOPIC_IDS_SINCE = 12
_CREATED_TOGETHER = 20
_UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


class _Sight(NamedTuple):
    """The cluster as this broker sees it."""

    image: ClusterImage
    in_doubt: Collection[int]
    """Leaders that seem to be gone: clients that are sent there look elsewhere a second late."""
    find_replica: FindReplica


async def handle(request: MetadataRequest, context: Context, broker: Broker) -> MetadataResponse:
    _require_served(request, context.api_version)
    asked, may = request.topics, broker.authorizer.may
    if asked is None or (context.api_version == 0 and not asked):
        sight = _sight(broker)
        topics = [
            _topic(topic, sight, context)
            async for topic in context.each(sight.image.topics.values())
            if may(context, Operation.DESCRIBE, ResourceType.TOPIC, topic.name, log=False)
        ]
    else:
        different = {(one.name, one.topic_id): one async for one in context.each(asked)}.values()
        topics = await _asked_topics(request, different, context, broker)
        sight = _sight(broker)
    if request.include_topic_authorized_operations:
        async for topic in context.each(topics):
            if topic.error_code == ErrorCode.NONE:
                assert topic.name is not None
                topic.topic_authorized_operations = operations_of(
                    broker.authorizer, context, ResourceType.TOPIC, topic.name
                )
    response = MetadataResponse(
        brokers=list(_brokers(sight.image, context)),
        cluster_id=broker.cluster_id,
        controller_id=sight.image.controller_id,
        topics=topics,
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = operations_of_cluster(broker.authorizer, context)
    return response


async def refuse(request: MetadataRequest, context: Context, error: KafkaError) -> MetadataResponse:
    """The same error for every topic."""
    topics = [
        _refused(
            one.name if context.api_version >= _TOPIC_IDS_SINCE else one.name or "", error.code
        )
        async for one in context.each(request.topics or ())
    ]
    return MetadataResponse(brokers=[], topics=topics)


def _require_served(request: MetadataRequest, version: int) -> None:
    """Versions 10 and 11 have a field for topic ids, but do not look topics up by it."""
    if version < _TOPIC_IDS_SINCE:
        for topic in request.topics or ():
            if topic.name is None or topic.topic_id != NO_UUID:
                message = f"topics cannot be asked for by id in version {version}"
                raise KafkaError(ErrorCode.INVALID_REQUEST, message)


async def _asked_topics(
    request: MetadataRequest,
    asked: Collection[MetadataRequestTopic],
    context: Context,
    broker: Broker,
) -> list[MetadataResponseTopic]:
    """The topics that are named; of those that the client may not describe, nothing but that."""
    names = broker.metadata.image.names_by_id
    denied: dict[tuple[str | None, bytes], MetadataResponseTopic] = {}
    described = []
    async for one in context.each(asked):
        is_by_id = one.name is None or one.topic_id != NO_UUID
        name = names.get(one.topic_id) if is_by_id else one.name
        if name is None or broker.authorizer.may(
            context, Operation.DESCRIBE, ResourceType.TOPIC, name
        ):
            described.append(one)
        else:
            denied[one.name, one.topic_id] = _denied(None if is_by_id else name, one.topic_id)
    refusals = await _create_missing(request, described, context, broker)
    sight = _sight(broker)
    return [
        denied.get((one.name, one.topic_id)) or _asked(one, refusals, sight, context)
        async for one in context.each(asked)
    ]


def _denied(name: str | None, topic_id: bytes) -> MetadataResponseTopic:
    """Not even whether it is internal; ids are no secret."""
    return MetadataResponseTopic(
        error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        name=name,
        topic_id=topic_id,
        is_internal=False,
        partitions=[],
    )


async def _create_missing(
    request: MetadataRequest,
    asked: Collection[MetadataRequestTopic],
    context: Context,
    broker: Broker,
) -> dict[str, ErrorCode]:
    """Create the topics that are not there; returns why some of them still are not."""
    known, creation = broker.metadata.image.topics, broker.auto_creation
    is_allowed = (
        request.allow_auto_topic_creation and broker.config.general.auto_create_topics_enable
    )
    cause = f"since {context.who} used it (auto.create.topics.enable)"
    may = broker.authorizer.may
    is_free = not is_allowed or may(context, Operation.CREATE, ResourceType.CLUSTER, log=False)
    permits = broker.quotas.permits(context, is_strict=True)
    refusals: dict[str, ErrorCode] = {}
    missing = []
    async for one in context.each(asked):
        if one.name and one.name not in known:
            if not is_free and not may(context, Operation.CREATE, ResourceType.TOPIC, one.name):
                refusals[one.name] = ErrorCode.TOPIC_AUTHORIZATION_FAILED
                continue
            try:
                creation.require_possible(one.name, is_allowed=is_allowed)
                permits.take(creation.partition_count(one.name))
            except KafkaError as error:
                # Clients know no error for a quota here; with this one they ask again.
                is_too_much = error.code is ErrorCode.THROTTLING_QUOTA_EXCEEDED
                refusals[one.name] = _UNKNOWN if is_too_much else error.code
            else:
                missing.append(one.name)

    async def create(name: str) -> None:
        try:
            await creation.create(name, is_allowed=is_allowed, cause=cause)
        except KafkaError as error:
            refusals[name] = error.code

    for start in range(0, len(missing), _CREATED_TOGETHER):
        await asyncio.gather(*map(create, missing[start : start + _CREATED_TOGETHER]))
    return refusals


def _sight(broker: Broker) -> _Sight:
    is_sooner = broker.config.replication.moldau_failover_on_connection_loss
    in_doubt = broker.fetching.leaders_in_doubt() if is_sooner else ()
    return _Sight(broker.metadata.image, in_doubt, broker.replicas.find)


def _brokers(image: ClusterImage, context: Context) -> Iterator[MetadataResponseBroker]:
    for node in image.brokers.values():
        endpoint = advertised_endpoint(node, context.client)
        if endpoint is not None:
            yield MetadataResponseBroker(
                node_id=node.id, host=endpoint.host, port=endpoint.port, rack=node.rack
            )


def _asked(
    asked: MetadataRequestTopic,
    refusals: dict[str, ErrorCode],
    sight: _Sight,
    context: Context,
) -> MetadataResponseTopic:
    name, image = asked.name, sight.image
    if name is None or asked.topic_id != NO_UUID:  # Java's clients give an empty name, then
        name = image.names_by_id.get(asked.topic_id)
        if name is None:
            return _refused(None, ErrorCode.UNKNOWN_TOPIC_ID, asked.topic_id)
    topic = image.topics.get(name)
    if topic is not None:
        return _topic(topic, sight, context)
    if not name:
        return _refused(name, ErrorCode.INVALID_TOPIC_EXCEPTION)
    return _refused(name, refusals.get(name, ErrorCode.LEADER_NOT_AVAILABLE))


def _refused(name: str | None, code: ErrorCode, topic_id: bytes = NO_UUID) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        error_code=code,
        name=name,
        topic_id=topic_id,
        is_internal=name is not None and is_internal(name),
        partitions=[],
    )


def _topic(topic: TopicImage, sight: _Sight, context: Context) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        error_code=ErrorCode.NONE,
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=is_internal(topic.name),
        partitions=[
            _partition(
                number, newest(partition, sight.find_replica((topic.name, number))), sight, context
            )
            for number, partition in topic.partitions.items()
        ],
    )


def _partition(
    number: int, partition: PartitionImage, sight: _Sight, context: Context
) -> MetadataResponsePartition:
    image = sight.image
    replicas, isr = list(partition.replicas), list(partition.isr)
    code, leader = ErrorCode.NONE, partition.leader
    node = image.brokers.get(leader)
    if node is None or leader in sight.in_doubt:
        code, leader = ErrorCode.LEADER_NOT_AVAILABLE, NO_LEADER
    elif context.client.listener not in node.endpoints:
        is_known = context.api_version >= _LISTENER_NOT_FOUND_SINCE
        code = ErrorCode.LISTENER_NOT_FOUND if is_known else ErrorCode.LEADER_NOT_AVAILABLE
        leader = NO_LEADER
    if context.api_version == 0:
        # The first clients look up every replica among the brokers of the answer.
        replicas = [one for one in replicas if one in image.brokers]
        isr = [one for one in isr if one in image.brokers]
        is_smaller = len(replicas) < len(partition.replicas) or len(isr) < len(partition.isr)
        if is_smaller and code == ErrorCode.NONE:
            code = ErrorCode.REPLICA_NOT_AVAILABLE
    return MetadataResponsePartition(
        error_code=code,
        partition_index=number,
        leader_id=leader,
        leader_epoch=partition.leader_epoch,
        replica_nodes=replicas,
        isr_nodes=isr,
        offline_replicas=list(partition.offline_replicas),
    )
