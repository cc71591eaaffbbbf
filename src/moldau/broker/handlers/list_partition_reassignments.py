"""ListPartitionReassignments (key 46): show moves of replicas that are under way.

The API comes from KIP-455. Only version 0 is served; it is flexible.
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from moldau.security.acls import Operation


async def handle(
    request: ListPartitionReassignmentsRequest, context: Context, broker: Broker
) -> ListPartitionReassignmentsResponse:
    broker.authorizer.require(context, Operation.DESCRIBE)
    broker.controller.require_office()
    cluster = broker.controller.machine.cluster
    wanted = None
    if request.topics is not None:
        wanted = {
            TopicPartition(topic.name, number)
            async for topic in context.each(request.topics)
            async for number in context.each(topic.partition_indexes)
        }
    topics: dict[str, OngoingTopicReassignment] = {}
    async for name in context.each(list(cluster.partitions())):
        if name.topic not in cluster.topics:
            continue  # deleted meanwhile
        assignment = cluster.assignment(name)
        is_moving = assignment.adding or assignment.removing
        if is_moving and (wanted is None or name in wanted):
            topic = topics.setdefault(
                name.topic, OngoingTopicReassignment(name=name.topic, partitions=[])
            )
            topic.partitions.append(
                OngoingPartitionReassignment(
                    partition_index=name.partition,
                    replicas=list(assignment.replicas),
                    adding_replicas=list(assignment.adding),
                    removing_replicas=list(assignment.removing),
                )
            )
    return ListPartitionReassignmentsResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        error_message="",
        topics=list(topics.values()),
    )
