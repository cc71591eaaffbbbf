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
    wishes: dict[TopicPartition, tuple[int, ...] | None] = {}
    refused: dict[TopicPartition, KafkaError] = {}
    for topic in request.topics:
        for wanted in topic.partitions:
            name = _name(topic, wanted)
            try:
                wishes[name] = _wish(name, wanted.replicas, broker)
            except KafkaError as error:
                refused[name] = error
    refused |= await broker.controller.perform(lambda term: term.reassign(wishes))
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


def _wish(
    name: TopicPartition, replicas: list[int] | None, broker: Broker
) -> tuple[int, ...] | None:
    """Where a partition shall go, None for back; raises if it cannot go there."""
    if replicas is None:
        return None
    _check(name, replicas, broker)
    return tuple(replicas)


def _check(name: TopicPartition, replicas: list[int], broker: Broker) -> None:
    image = broker.metadata.image
    problem = None
    if not replicas:
        problem = "Empty replica list specified in partition reassignment."
    elif len(set(replicas)) < len(replicas):
        problem = f"Duplicate replica ids in partition reassignment replica list: {replicas}"
    elif min(replicas) < 0:
        problem = f"Invalid broker id in replica list: {replicas}"
    elif not set(replicas) <= set(image.brokers):
        problem = (
            f"Replica assignment has brokers that are not alive. Replica list: {replicas}, "
            f"live broker list: {list(image.brokers)}"
        )
    if problem:
        raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, problem)
    if image.partition(name.topic, name.partition) is None:
        message = "The partition does not exist."
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
