"""AlterPartitionReassignments (key 45): move replicas to other brokers."""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopic,
    ReassignableTopicResponse,
)


async def handle(
    request: AlterPartitionReassignmentsRequest, context: Context, broker: Broker
) -> AlterPartitionReassignmentsResponse:
    broker.controller.require_office()
    wishes = {
        _name(topic, wanted): None if wanted.replicas is None else tuple(wanted.replicas)
        for topic in request.topics
        for wanted in topic.partitions
    }
    refused = await broker.controller.perform(lambda term: term.reassign(wishes))
    responses = [
        ReassignableTopicResponse(
            name=topic.name,
            partitions=[
                _answer(wanted.partition_index, refused.get(_name(topic, wanted)))
                for wanted in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    return AlterPartitionReassignmentsResponse(
        throttle_time_ms=0, error_code=ErrorCode.NONE, error_message="", responses=responses
    )


def _name(topic: ReassignableTopic, partition: ReassignablePartition) -> TopicPartition:
    return TopicPartition(topic.name, partition.partition_index)


def _answer(number: int, error: KafkaError | None) -> ReassignablePartitionResponse:
    return ReassignablePartitionResponse(
        partition_index=number,
        error_code=ErrorCode.NONE if error is None else error.code,
        error_message=None if error is None else error.message,
    )
