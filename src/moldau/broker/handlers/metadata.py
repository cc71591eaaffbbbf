"""Metadata (key 3): which brokers there are, and who leads what."""

from collections.abc import Iterator

from moldau.broker.advertised import advertised_endpoint
from moldau.broker.authorized import operations_of
from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.internal_topics import is_internal
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


async def handle(request: MetadataRequest, context: Context, broker: Broker) -> MetadataResponse:
    image = broker.metadata.image
    if request.topics is None or (context.api_version == 0 and not request.topics):
        topics = [_topic(topic, image, context) for topic in image.topics.values()]
    else:
        topics = [await _asked(one, request, context, broker) for one in request.topics]
        image = broker.metadata.image
    if request.include_topic_authorized_operations:
        for topic in topics:
            if topic.error_code == ErrorCode.NONE:
                topic.topic_authorized_operations = operations_of("topic")
    response = MetadataResponse(
        brokers=list(_brokers(image, context)),
        cluster_id=broker.cluster_id,
        controller_id=image.controller_id,
        topics=topics,
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = operations_of("cluster")
    return response


def _brokers(image: ClusterImage, context: Context) -> Iterator[MetadataResponseBroker]:
    for node in image.brokers.values():
        endpoint = advertised_endpoint(node, context.client)
        if endpoint is not None:
            yield MetadataResponseBroker(
                node_id=node.id, host=endpoint.host, port=endpoint.port, rack=node.rack
            )


async def _asked(
    asked: MetadataRequestTopic, request: MetadataRequest, context: Context, broker: Broker
) -> MetadataResponseTopic:
    image = broker.metadata.image
    if asked.name is None or (asked.topic_id != NO_UUID and not asked.name):
        name = image.names_by_id.get(asked.topic_id)
        if name is None:
            return _refused(None, ErrorCode.UNKNOWN_TOPIC_ID, asked.topic_id)
    else:
        name = asked.name
    topic = image.topics.get(name)
    if topic is not None:
        return _topic(topic, image, context)
    try:
        await broker.auto_creation.create(name, is_allowed=request.allow_auto_topic_creation)
    except KafkaError as error:
        return _refused(name, error.code)
    topic = broker.metadata.image.topics.get(name)
    if topic is None:
        return _refused(name, ErrorCode.LEADER_NOT_AVAILABLE)
    return _topic(topic, broker.metadata.image, context)


def _refused(name: str | None, code: ErrorCode, topic_id: bytes = NO_UUID) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        error_code=code,
        name=name,
        topic_id=topic_id,
        is_internal=name is not None and is_internal(name),
        partitions=[],
    )


def _topic(topic: TopicImage, image: ClusterImage, context: Context) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        error_code=ErrorCode.NONE,
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=is_internal(topic.name),
        partitions=[
            _partition(number, partition, image, context)
            for number, partition in topic.partitions.items()
        ],
    )


def _partition(
    number: int, partition: PartitionImage, image: ClusterImage, context: Context
) -> MetadataResponsePartition:
    code, leader = ErrorCode.NONE, partition.leader
    node = image.brokers.get(leader)
    if node is None:
        code, leader = ErrorCode.LEADER_NOT_AVAILABLE, NO_LEADER
    elif context.client.listener not in node.endpoints:
        # Before version 6 clients do not know the more precise error.
        code = (
            ErrorCode.LISTENER_NOT_FOUND
            if context.api_version >= 6
            else ErrorCode.LEADER_NOT_AVAILABLE
        )
        leader = NO_LEADER
    return MetadataResponsePartition(
        error_code=code,
        partition_index=number,
        leader_id=leader,
        leader_epoch=partition.leader_epoch,
        replica_nodes=list(partition.replicas),
        isr_nodes=list(partition.isr),
        offline_replicas=list(partition.offline_replicas),
    )
