"""WriteTxnMarkers (key 27): a coordinator has partitions learn how transactions ended.

Version 1 is flexible.
"""

from dataclasses import dataclass

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.topics.internal import CONSUMER_OFFSETS
from moldau.errors import ErrorCode, KafkaError
from moldau.log.producer_state import Origin
from moldau.model import TopicPartition
from moldau.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from moldau.records.control import EndMarker, write_end_marker
from moldau.replication.partition import ALL_IN_SYNC, Partition
from moldau.security.acls import Operation, ResourceType


@dataclass(slots=True)
class _Written:
    """A marker in the log of one partition."""

    marker: WritableTxnMarker
    partition: Partition
    end_offset: int
    result: WritableTxnMarkerPartitionResult

    def is_done(self) -> bool:
        if self.result.error_code == ErrorCode.NONE:
            try:
                return self.partition.is_committed(self.end_offset)
            except KafkaError as error:
                self.result.error_code = error.code
        return True


async def handle(
    request: WriteTxnMarkersRequest, context: Context, broker: Broker
) -> WriteTxnMarkersResponse:
    if not broker.authorizer.may(context, Operation.ALTER, ResourceType.CLUSTER, log=False):
        broker.authorizer.require(context, Operation.CLUSTER_ACTION)
    written: list[_Written] = []
    response = await _response(request, context)
    async for marker, result in context.each(zip(request.markers, response.markers, strict=True)):
        async for topic in context.each(result.topics):
            async for each in context.each(topic.partitions):
                name = TopicPartition(topic.name, each.partition_index)
                try:
                    partition, end_offset = _append(name, marker, broker)
                except KafkaError as error:
                    each.error_code = error.code
                else:
                    written.append(_Written(marker, partition, end_offset, each))
    uncommitted = [one async for one in context.each(written) if not one.is_done()]
    await _wait_for_replicas(uncommitted, broker)
    async for one in context.each(written):
        if one.result.error_code == ErrorCode.NONE:
            _end_in_groups(one, broker)
    return response


async def refuse(
    request: WriteTxnMarkersRequest, context: Context, error: KafkaError
) -> WriteTxnMarkersResponse:
    """The same error for every partition."""
    return await _response(request, context, error.code)


def _append(
    name: TopicPartition, marker: WritableTxnMarker, broker: Broker
) -> tuple[Partition, int]:
    partition = broker.replicas.leader(name)
    if name.topic == CONSUMER_OFFSETS:
        _require_groups_loaded(name, broker)
    now_ms = broker.clock.now_ms()
    batch = write_end_marker(
        EndMarker(marker.transaction_result, marker.coordinator_epoch),
        producer_id=marker.producer_id,
        producer_epoch=marker.producer_epoch,
        timestamp_ms=now_ms,
    )
    appended = partition.append(batch, acks=ALL_IN_SYNC, now_ms=now_ms, origin=Origin.COORDINATOR)
    broker.waiters.wake(name)
    return partition, appended.last_offset + 1


def _require_groups_loaded(name: TopicPartition, broker: Broker) -> None:
    """Loading reads up to where the log ended when it began: it would miss this marker."""
    try:
        broker.groups.shards.at(name.partition)
    except KafkaError as error:
        # What every coordinator tries again.
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"{name}: {error}") from error


async def _wait_for_replicas(written: list[_Written], broker: Broker) -> None:
    rest = list(written)

    def are_done() -> bool:
        while rest and rest[-1].is_done():
            rest.pop()
        return not rest

    is_in_time = await broker.waiters.until_satisfied(
        are_done,
        keys={one.partition.topic_partition for one in written},
        timeout_s=broker.config.general.request_timeout_ms / 1000,
        operation="Produce",
    )
    if not is_in_time:
        for one in written:
            if not one.is_done():
                one.result.error_code = ErrorCode.REQUEST_TIMED_OUT


def _end_in_groups(one: _Written, broker: Broker) -> None:
    """Offsets that were stored in the transaction count from now on, or never."""
    name = one.partition.topic_partition
    if name.topic != CONSUMER_OFFSETS:
        return
    try:
        broker.groups.end_transaction(
            name.partition, one.marker.producer_id, is_commit=one.marker.transaction_result
        )
    except KafkaError:
        # It has been taken away, and maybe given back: the broker that loads it reads the marker.
        return


async def _response(
    request: WriteTxnMarkersRequest, context: Context, code: ErrorCode = ErrorCode.NONE
) -> WriteTxnMarkersResponse:
    markers = [
        WritableTxnMarkerResult(
            producer_id=marker.producer_id,
            topics=[
                WritableTxnMarkerTopicResult(
                    name=topic.name,
                    partitions=[
                        WritableTxnMarkerPartitionResult(partition_index=number, error_code=code)
                        async for number in context.each(topic.partition_indexes)
                    ],
                )
                async for topic in context.each(marker.topics)
            ],
        )
        async for marker in context.each(request.markers)
    ]
    return WriteTxnMarkersResponse(markers=markers)
