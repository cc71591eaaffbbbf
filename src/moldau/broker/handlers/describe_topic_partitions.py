"""DescribeTopicPartitions (key 75): show topics page by page.

The API comes from KIP-966. Only version 0 is served; it is flexible.
"""

from moldau.broker.authorized import operations_of
from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.topics.internal import is_internal
from moldau.errors import ErrorCode, KafkaError
from moldau.metadata.image import NO_LEADER, ClusterImage, PartitionImage, TopicImage
from moldau.protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from moldau.protocol.primitives import NO_UUID
from moldau.security.acls import Operation, ResourceType


async def handle(
    request: DescribeTopicPartitionsRequest, context: Context, broker: Broker
) -> DescribeTopicPartitionsResponse:
    image = broker.metadata.image
    cursor = request.cursor or Cursor(topic_name="", partition_index=0)
    if cursor.partition_index < 0:
        message = f"the cursor points at partition {cursor.partition_index}"
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)
    named = {topic.name async for topic in context.each(request.topics)}
    names = [name for name in named or image.topics if name >= cursor.topic_name]
    limit = broker.config.general.max_request_partition_size_limit
    room = max(min(limit, request.response_partition_limit), 1)
    response = DescribeTopicPartitionsResponse(throttle_time_ms=0, topics=[])
    async for name in context.each(await context.turns.in_order(names)):
        if not broker.authorizer.may(
            context, Operation.DESCRIBE, ResourceType.TOPIC, name, log=bool(named)
        ):
            if named:
                response.topics.append(_denied(name))
            continue
        topic = image.topics.get(name)
        if topic is None:
            response.topics.append(_unknown(name))
            continue
        first = cursor.partition_index if name == cursor.topic_name else 0
        numbers = [number for number in sorted(topic.partitions) if number >= first]
        if not room:
            response.next_cursor = Cursor(topic_name=name, partition_index=first)
            break
        described = _topic(topic, numbers[:room], image, context)
        described.topic_authorized_operations = operations_of(
            broker.authorizer, context, ResourceType.TOPIC, name
        )
        response.topics.append(described)
        if len(numbers) > room:
            response.next_cursor = Cursor(topic_name=name, partition_index=numbers[room])
            break
        room -= len(numbers)
    return response


async def refuse(
    request: DescribeTopicPartitionsRequest, context: Context, error: KafkaError
) -> DescribeTopicPartitionsResponse:
    topics = [_unknown(topic.name, error.code) async for topic in context.each(request.topics)]
    return DescribeTopicPartitionsResponse(throttle_time_ms=0, topics=topics)


def _denied(name: str) -> DescribeTopicPartitionsResponseTopic:
    """Not even whether it is internal."""
    return DescribeTopicPartitionsResponseTopic(
        error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        name=name,
        topic_id=NO_UUID,
        is_internal=False,
        partitions=[],
    )


def _unknown(
    name: str, code: ErrorCode = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        error_code=code,
        name=name,
        topic_id=NO_UUID,
        is_internal=is_internal(name),
        partitions=[],
    )


def _topic(
    topic: TopicImage, numbers: list[int], image: ClusterImage, context: Context
) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        error_code=ErrorCode.NONE,
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=is_internal(topic.name),
        partitions=[
            _partition(number, topic.partitions[number], image, context) for number in numbers
        ],
    )


def _partition(
    number: int, partition: PartitionImage, image: ClusterImage, context: Context
) -> DescribeTopicPartitionsResponsePartition:
    code, leader = ErrorCode.NONE, partition.leader
    if leader not in image.brokers:
        code, leader = ErrorCode.LEADER_NOT_AVAILABLE, NO_LEADER
    elif image.endpoint(leader, context.client.listener) is None:
        code, leader = ErrorCode.LISTENER_NOT_FOUND, NO_LEADER
    return DescribeTopicPartitionsResponsePartition(
        error_code=code,
        partition_index=number,
        leader_id=leader,
        leader_epoch=partition.leader_epoch,
        replica_nodes=list(partition.replicas),
        isr_nodes=list(partition.isr),
        eligible_leader_replicas=[],
        last_known_elr=[],
        offline_replicas=list(partition.offline_replicas),
    )
