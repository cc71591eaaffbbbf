"""Produce (key 0): append batches, answer when as many replicas have them as was asked for."""

import asyncio
from dataclasses import dataclass

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.internal_topics import is_internal
from moldau.broker.leader_hints import LeaderHints
from moldau.errors import ErrorCode, KafkaError
from moldau.log.batches import Appended
from moldau.model import NO_TIMESTAMP, TopicPartition
from moldau.net.connection import CloseConnection
from moldau.protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from moldau.records.batch import ATTRIBUTES_POSITION, CODEC_MASK
from moldau.records.refusal import RecordsRefused
from moldau.records.validate import ValidBatch, validate_produce
from moldau.replication.partition import ALL_IN_SYNC, Partition

ACKS = (ALL_IN_SYNC, 0, 1)
ADMIN_CLIENT = "__admin_client"
# Larger compressed batches are opened in a thread: the loop has others to serve.
_OPENED_ON_LOOP_BYTES = 65_536


@dataclass(slots=True)
class _Waiting:
    """A partition whose answer depends on the other replicas."""

    partition: Partition
    end_offset: int
    response: PartitionProduceResponse

    def is_done(self) -> bool:
        if self.response.error_code != ErrorCode.NONE:
            return True
        try:
            return self.partition.is_committed(self.end_offset)
        except KafkaError as error:
            _refuse(self.response, error)
            return True


async def handle(
    request: ProduceRequest, context: Context, broker: Broker
) -> ProduceResponse | None:
    if request.acks not in ACKS:
        raise KafkaError(ErrorCode.INVALID_REQUIRED_ACKS, f"acks={request.acks}")
    appends = _Appends(request.acks, context, broker)
    topics = []
    for topic in request.topic_data:
        responses = [await appends.append(topic.name, data) for data in topic.partition_data]
        topics.append(TopicProduceResponse(name=topic.name, partition_responses=responses))
    response = ProduceResponse(responses=topics)
    if request.acks == 0:
        _close_on_error(response)
        return None
    if appends.waiting:
        await _wait_for_replicas(appends.waiting, request.timeout_ms, broker)
    if context.api_version >= 10:
        _add_leader_hints(response, context, broker)
    return response


def refuse(request: ProduceRequest, context: Context, error: KafkaError) -> ProduceResponse:
    """The same error for every partition."""
    topics = []
    for topic in request.topic_data:
        responses = [_response(data.index) for data in topic.partition_data]
        for response in responses:
            _refuse(response, error)
        topics.append(TopicProduceResponse(name=topic.name, partition_responses=responses))
    return ProduceResponse(responses=topics)


class _Appends:
    """The appends of one request, and those that wait for other replicas."""

    def __init__(self, acks: int, context: Context, broker: Broker) -> None:
        self._acks = acks
        self._context = context
        self._broker = broker
        self.waiting: list[_Waiting] = []

    async def append(self, topic: str, data: PartitionProduceData) -> PartitionProduceResponse:
        response = _response(data.index)
        traffic, all_traffic = self._broker.traffic.of(topic), self._broker.traffic.all
        traffic.produce_requests.value += 1
        all_traffic.produce_requests.value += 1
        try:
            await self._append(TopicPartition(topic, data.index), data, response)
        except KafkaError as error:
            _refuse(response, error)
            traffic.failed_produce_requests.value += 1
            all_traffic.failed_produce_requests.value += 1
        return response

    async def _append(
        self, name: TopicPartition, data: PartitionProduceData, response: PartitionProduceResponse
    ) -> None:
        broker = self._broker
        if is_internal(name.topic) and self._context.client_id != ADMIN_CLIENT:
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{name.topic} is internal")
        partition = broker.replicas.leader(name)
        valid = await _validate(data, partition, self._context.api_version, broker)
        if valid is None:
            return
        appended = partition.append(valid.data, acks=self._acks, now_ms=broker.clock.now_ms())
        _accept(response, partition, valid, appended)
        for counters in (broker.traffic.of(name.topic), broker.traffic.all):
            counters.bytes_in.value += len(valid.data)
            counters.messages_in.value += valid.header.record_count
        broker.waiters.wake(name)
        if appended.has_rolled:
            broker.flusher.note_rolled(partition.log)
        if broker.flusher.is_due(partition.log):
            await broker.flusher.flush(partition.log, appended.last_offset + 1)
        if self._acks == ALL_IN_SYNC:
            self.waiting.append(_Waiting(partition, appended.last_offset + 1, response))


async def _validate(
    data: PartitionProduceData, partition: Partition, version: int, broker: Broker
) -> ValidBatch | None:
    records = data.records
    now_ms = broker.clock.now_ms()
    if (
        records is None
        or len(records) <= _OPENED_ON_LOOP_BYTES
        or records[ATTRIBUTES_POSITION + 1] & CODEC_MASK == 0
    ):
        return validate_produce(
            records, partition.produce_rules, request_version=version, now_ms=now_ms
        )
    return await asyncio.get_running_loop().run_in_executor(
        None,
        lambda: validate_produce(
            records, partition.produce_rules, request_version=version, now_ms=now_ms
        ),
    )


async def _wait_for_replicas(waiting: list[_Waiting], timeout_ms: int, broker: Broker) -> None:
    in_time = await broker.waiters.until(
        lambda: all(one.is_done() for one in waiting),
        keys=[one.partition.topic_partition for one in waiting],
        timeout_s=max(timeout_ms, 0) / 1000,
    )
    if in_time:
        return
    for one in waiting:
        if not one.is_done():
            # The records stay in the log; only the answer is uncertain.
            _refuse(one.response, KafkaError(ErrorCode.REQUEST_TIMED_OUT))


def _response(index: int) -> PartitionProduceResponse:
    return PartitionProduceResponse(index=index, error_code=ErrorCode.NONE, base_offset=-1)


def _accept(
    response: PartitionProduceResponse,
    partition: Partition,
    valid: ValidBatch,
    appended: Appended,
) -> None:
    response.base_offset = appended.first_offset
    response.log_start_offset = partition.log.log_start_offset
    if valid.log_append_time_ms != NO_TIMESTAMP:
        response.log_append_time_ms = appended.max_timestamp


def _refuse(response: PartitionProduceResponse, error: KafkaError) -> None:
    response.error_code = error.code
    response.error_message = str(error)
    response.base_offset = -1
    if isinstance(error, RecordsRefused):
        response.record_errors = [
            BatchIndexAndErrorMessage(batch_index=index, batch_index_error_message=reason)
            for index, reason in error.record_errors
        ]


def _close_on_error(response: ProduceResponse) -> None:
    """Hanging up is the only way to tell a producer that wants no answer."""
    for topic in response.responses:
        for partition in topic.partition_responses:
            if partition.error_code != ErrorCode.NONE:
                code = ErrorCode(partition.error_code).name
                raise CloseConnection(f"{topic.name}-{partition.index}: {code} with acks=0")


def _add_leader_hints(response: ProduceResponse, context: Context, broker: Broker) -> None:
    hints = LeaderHints(broker.metadata.image, context.client)
    for topic in response.responses:
        for partition in topic.partition_responses:
            leader = hints.leader_for(partition.error_code, topic.name, partition.index)
            if leader is not None:
                partition.current_leader = LeaderIdAndEpoch(
                    leader_id=leader.leader, leader_epoch=leader.leader_epoch
                )
    response.node_endpoints = [
        NodeEndpoint(node_id=node.id, host=host, port=port, rack=node.rack)
        for node, host, port in hints.nodes()
    ]
