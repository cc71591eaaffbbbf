"""AlterPartitionReassignments (key 45): move replicas to other brokers.

A broker that is alone has nowhere to move them to: every wish is checked, and the only one
that can be granted is what there is already.
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)


async def handle(
    request: AlterPartitionReassignmentsRequest, context: Context, broker: Broker
) -> AlterPartitionReassignmentsResponse:
    broker.controller.require_office()
    responses = [
        ReassignableTopicResponse(
            name=topic.name,
            partitions=[_answer(topic.name, wanted, broker) for wanted in topic.partitions],
        )
        for topic in request.topics
    ]
    return AlterPartitionReassignmentsResponse(
        throttle_time_ms=0, error_code=ErrorCode.NONE, error_message="", responses=responses
    )


def _answer(
    topic: str, wanted: ReassignablePartition, broker: Broker
) -> ReassignablePartitionResponse:
    response = ReassignablePartitionResponse(
        partition_index=wanted.partition_index, error_code=ErrorCode.NONE, error_message=None
    )
    try:
        if wanted.replicas is None:
            _cancel()
        else:
            _check(TopicPartition(topic, wanted.partition_index), wanted.replicas, broker)
    except KafkaError as error:
        response.error_code = error.code
        response.error_message = error.message
    return response


def _cancel() -> None:
    message = "No partition reassignment is in progress."
    raise KafkaError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, message)


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
