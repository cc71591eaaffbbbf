"""StopReplica (key 5): the controller has this broker give up replicas.

Version 1 adds the broker epoch (KIP-380), and groups partitions by topic; 2 is flexible; 3 has a
leader epoch and the choice to delete for each partition (KIP-570); 4 marks controllers of KRaft
(KIP-866).
"""

from collections.abc import Iterable
from itertools import islice

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.protocol.messages.stop_replica import (
    StopReplicaPartitionError,
    StopReplicaRequest,
    StopReplicaResponse,
)
from moldau.replication.replicas import Stop, stops_of
from moldau.security.acls import Operation

_STOPPED_TOGETHER = 10


async def handle(
    request: StopReplicaRequest, context: Context, broker: Broker
) -> StopReplicaResponse:
    broker.authorizer.require(context, Operation.CLUSTER_ACTION)
    broker.registration.require_epoch(request.broker_epoch)
    stops = stops_of(request)
    outcome: dict[TopicPartition, ErrorCode] = {}
    while True:
        broker.replicas.require_controller(request.controller_epoch)
        some = list(islice(stops, _STOPPED_TOGETHER))
        outcome |= _stop(some, broker)
        if len(some) < _STOPPED_TOGETHER:
            break
        await context.turns.next()  # files take time
    errors = [
        StopReplicaPartitionError(
            topic_name=name.topic, partition_index=name.partition, error_code=code
        )
        async for name, code in context.each(outcome.items())
    ]
    return StopReplicaResponse(error_code=ErrorCode.NONE, partition_errors=errors)


def _stop(stops: Iterable[Stop], broker: Broker) -> dict[TopicPartition, ErrorCode]:
    """Without a pause in between: what is stopped is not fetched for, and coordinates nothing."""
    outcome = broker.replicas.stop(stops, now_ms=broker.clock.now_ms())
    broker.fetching.stop(name for name, code in outcome.items() if code == ErrorCode.NONE)
    for name in outcome:
        broker.waiters.wake(name)
    broker.coordinators.resign(outcome)
    return outcome
