"""AlterPartitionReassignments (key 45): move replicas to other brokers.

The API comes from KIP-455. Only version 0 is served; it is flexible.
"""

from collections.abc import Awaitable
from functools import partial

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.controller.reassigning import Wishes
from moldau.controller.term import Term
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
from moldau.runtime.turns import in_parts
from moldau.security.acls import Operation

_STARTED_TOGETHER = 100


async def handle(
    request: AlterPartitionReassignmentsRequest, context: Context, broker: Broker
) -> AlterPartitionReassignmentsResponse:
    broker.authorizer.require(context, Operation.ALTER)
    broker.controller.require_office()
    wishes = {
        _name(topic, wanted): None if wanted.replicas is None else tuple(wanted.replicas)
        async for topic in context.each(request.topics)
        async for wanted in context.each(topic.partitions)
    }
    refused: dict[TopicPartition, KafkaError] = {}
    async for some in context.turns.each(in_parts(wishes, _STARTED_TOGETHER), at_once=1):
        refused |= await broker.controller.perform(partial(_reassign, wishes=some))
    responses = [
        ReassignableTopicResponse(
            name=topic.name,
            partitions=[
                _answer(wanted.partition_index, refused.get(_name(topic, wanted)))
                async for wanted in context.each(topic.partitions)
            ],
        )
        async for topic in context.each(request.topics)
    ]
    return AlterPartitionReassignmentsResponse(
        throttle_time_ms=0, error_code=ErrorCode.NONE, error_message="", responses=responses
    )


def _reassign(term: Term, wishes: Wishes) -> Awaitable[dict[TopicPartition, KafkaError]]:
    return term.reassign(wishes)


def _name(topic: ReassignableTopic, partition: ReassignablePartition) -> TopicPartition:
    return TopicPartition(topic.name, partition.partition_index)


def _answer(number: int, error: KafkaError | None) -> ReassignablePartitionResponse:
    return ReassignablePartitionResponse(
        partition_index=number,
        error_code=ErrorCode.NONE if error is None else error.code,
        error_message=None if error is None else error.message,
    )
