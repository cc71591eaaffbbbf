"""DescribeProducers (key 61): show the producers that are active on partitions.

The API comes from KIP-664. Only version 0 is served; it is flexible.
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.topics.tree import check_name
from moldau.errors import ErrorCode, KafkaError
from moldau.log.producer_state import ProducerEntry
from moldau.model import TopicPartition
from moldau.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from moldau.security.acls import Operation, ResourceType

NO_TRANSACTION = -1


async def handle(
    request: DescribeProducersRequest, context: Context, broker: Broker
) -> DescribeProducersResponse:
    topics = [
        TopicResponse(
            name=topic.name,
            partitions=[
                _partition(TopicPartition(topic.name, number), context, broker)
                async for number in context.each(topic.partition_indexes)
            ],
        )
        async for topic in context.each(request.topics)
    ]
    return DescribeProducersResponse(throttle_time_ms=0, topics=topics)


async def refuse(
    request: DescribeProducersRequest, context: Context, error: KafkaError
) -> DescribeProducersResponse:
    topics = [
        TopicResponse(
            name=topic.name,
            partitions=[
                _refused(number, error) async for number in context.each(topic.partition_indexes)
            ],
        )
        async for topic in context.each(request.topics)
    ]
    return DescribeProducersResponse(throttle_time_ms=0, topics=topics)


def _partition(name: TopicPartition, context: Context, broker: Broker) -> PartitionResponse:
    try:
        check_name(name.topic)
        broker.authorizer.require(context, Operation.READ, ResourceType.TOPIC, name.topic)
        log = broker.replicas.leader(name).log
    except KafkaError as error:
        return _refused(name.partition, error)
    return PartitionResponse(
        partition_index=name.partition,
        error_code=ErrorCode.NONE,
        active_producers=[_state(producer) for producer in log.producers],
    )


def _refused(number: int, error: KafkaError) -> PartitionResponse:
    return PartitionResponse(
        partition_index=number,
        error_code=error.code,
        error_message=error.message,
        active_producers=[],
    )


def _state(producer: ProducerEntry) -> ProducerState:
    first_offset = producer.transaction_first_offset
    return ProducerState(
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        last_sequence=producer.last_sequence,
        last_timestamp=producer.last_timestamp,
        coordinator_epoch=producer.coordinator_epoch,
        current_txn_start_offset=NO_TRANSACTION if first_offset is None else first_offset,
    )
