"""StopReplica (key 5): the controller has this broker give up replicas."""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode
from moldau.protocol.messages.stop_replica import (
    StopReplicaPartitionError,
    StopReplicaRequest,
    StopReplicaResponse,
)


async def handle(
    request: StopReplicaRequest, context: Context, broker: Broker
) -> StopReplicaResponse:
    broker.registration.require_epoch(request.broker_epoch)
    outcome = broker.replicas.apply_stop_replica(request, now_ms=broker.clock.now_ms())
    broker.fetching.stop(name for name, code in outcome.items() if code == ErrorCode.NONE)
    for name in outcome:
        broker.waiters.wake(name)
    broker.coordinators.resign(outcome)
    errors = [
        StopReplicaPartitionError(
            topic_name=name.topic, partition_index=name.partition, error_code=code
        )
        for name, code in outcome.items()
    ]
    return StopReplicaResponse(error_code=ErrorCode.NONE, partition_errors=errors)
