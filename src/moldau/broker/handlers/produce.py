"""Produce (key 0): append batches, answer when as many replicas have them as was asked for."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.coordination.verification import Writer
from moldau.broker.requests.leader_hints import LeaderHints
from moldau.broker.topics.internal import is_internal
from moldau.coordinator.transaction.transaction import Identity
from moldau.errors import ErrorCode, KafkaError
from moldau.log.batches import Appended
from moldau.log.verification import Guard
from moldau.model import NO_TIMESTAMP, TopicPartition
from moldau.net.answer import CloseConnection, Later
from moldau.protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from moldau.records.batch import ATTRIBUTES_POSITION, CODEC_MASK, MAGIC, MAGIC_POSITION
from moldau.records.buffers import ReadableBuffer
from moldau.records.compression import Codec
from moldau.records.legacy import ATTRIBUTES_POSITION as OLD_ATTRIBUTES_POSITION
from moldau.records.opening import ON_LOOP_BYTES, Opening, TooLargeToOpen
from moldau.records.refusal import RecordsRefused
from moldau.records.rules import ProduceRules
from moldau.records.validate import ValidBatch, validate_produce
from moldau.replication.partition import ALL_IN_SYNC, Partition

ACKS = (ALL_IN_SYNC, 0, 1)
ADMIN_CLIENT = "__admin_client"
# Larger batches are looked at in a thread, if that is work: the loop has others to serve. To
# decompress takes a millisecond and is not worth it, since a thread has nothing in its caches.
_CONVERTED_ON_LOOP_BYTES = 65_536
COMPRESSED_ON_LOOP_BYTES = 524_288
_LEADER_HINTS_SINCE = 10
_ABORTABLE_SINCE = 11
# While the coordinator of a transaction cannot be asked, nobody knows yet.
_UNVERIFIED = (
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.NETWORK_EXCEPTION,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)


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
) -> ProduceResponse | Later | None:
    acks = request.acks
    if acks not in ACKS:
        raise KafkaError(ErrorCode.INVALID_REQUIRED_ACKS, f"acks={acks}")
    appends = _Appends(request, context, broker)
    topics = []
    async for topic in context.each(request.topic_data):
        name = topic.name
        responses = []
        async for data in context.each(topic.partition_data):
            response = _response(data.index)
            responses.append(response)
            try:
                work = appends.append(TopicPartition(name, data.index), data.records, response)
                if work is not None:
                    await work
            except KafkaError as error:
                _refuse(response, error)
                appends.count_failure(name)
        topics.append(TopicProduceResponse(name=name, partition_responses=responses))
    answer = ProduceResponse(responses=topics)
    if acks == 0:
        await _close_on_error(answer, context)
        return None
    if appends.waiting:
        # Others may append meanwhile: only the answer depends on the replicas.
        wait = _wait_for_replicas(appends.waiting, request.timeout_ms, broker)
        return Later(_after(wait, answer, context, broker))
    return await _hinted(answer, context, broker)


async def refuse(request: ProduceRequest, context: Context, error: KafkaError) -> ProduceResponse:
    """The same error for every partition."""
    if request.acks == 0:
        raise CloseConnection(f"{error.code.name} with acks=0")
    topics = []
    async for topic in context.each(request.topic_data):
        responses = []
        async for data in context.each(topic.partition_data):
            response = _response(data.index)
            _refuse(response, error)
            responses.append(response)
        topics.append(TopicProduceResponse(name=topic.name, partition_responses=responses))
    return ProduceResponse(responses=topics)


def refuse_appended(
    answer: ProduceResponse, context: Context, broker: Broker, error: KafkaError
) -> ProduceResponse:
    """The answer to a request whose records are in the log, but not as safe as was asked for."""
    hints = LeaderHints(broker.metadata.image, context.client)
    for topic in answer.responses:
        for response in topic.partition_responses:
            _refuse(response, error)
            _add_hint(response, topic.name, hints, context)
    _add_nodes(answer, hints)
    return answer


class _Appends:
    """The appends of one request, and those that wait for other replicas."""

    __slots__ = ("_acks", "_broker", "_context", "_opening", "_transactional_id", "waiting")

    def __init__(self, request: ProduceRequest, context: Context, broker: Broker) -> None:
        self._acks = request.acks
        self._transactional_id = request.transactional_id
        self._context = context
        self._broker = broker
        self._opening = Opening(broker.scratch, ON_LOOP_BYTES)
        self.waiting: list[_Waiting] = []

    def append(
        self,
        name: TopicPartition,
        records: ReadableBuffer | None,
        response: PartitionProduceResponse,
    ) -> Coroutine[Any, Any, None] | None:
        """Append at once; what takes longer is returned, to be awaited."""
        broker = self._broker
        broker.traffic.all.produce_requests.value += 1
        if is_internal(name.topic) and self._context.client_id != ADMIN_CLIENT:
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{name.topic} is internal")
        partition = broker.replicas.leader(name)
        if records is not None and _takes_long(records, partition.produce_rules):
            return self._append_opened(partition, records, response)
        try:
            valid = self._validate(partition, records, self._opening)
        except TooLargeToOpen:
            assert records is not None
            return self._append_opened(partition, records, response)
        if valid is None:
            return None
        if valid.header.is_transactional:
            return self._append_verified(partition, valid, response)
        self._append_valid(partition, valid, response, None)
        return self._flush(partition) if broker.flusher.is_due(partition.log) else None

    def count_failure(self, topic: str) -> None:
        traffic = self._broker.traffic
        traffic.all.failed_produce_requests.value += 1
        if topic in self._broker.metadata.image.topics:  # or anyone could make counters
            traffic.of(topic).failed_produce_requests.value += 1

    async def _append_opened(
        self, partition: Partition, records: ReadableBuffer, response: PartitionProduceResponse
    ) -> None:
        """Validate in a thread, since the records have to be decompressed or converted."""
        validate = partial(self._validate, partition, records, Opening(self._broker.scratch))
        valid = await asyncio.get_running_loop().run_in_executor(None, validate)
        if valid is not None:
            await self._append_verified(partition, valid, response)

    def _validate(
        self, partition: Partition, records: ReadableBuffer | None, opening: Opening
    ) -> ValidBatch | None:
        return validate_produce(
            records,
            partition.produce_rules,
            request_version=self._context.api_version,
            now_ms=self._broker.clock.now_ms(),
            opening=opening,
        )

    async def _append_verified(
        self, partition: Partition, valid: ValidBatch, response: PartitionProduceResponse
    ) -> None:
        guard = None
        if valid.header.is_transactional:
            guard = await self._verify(partition, valid)
        self._append_valid(partition, valid, response, guard)
        if self._broker.flusher.is_due(partition.log):
            await self._flush(partition)

    async def _flush(self, partition: Partition) -> None:
        await self._broker.flusher.flush(partition.log, partition.log.log_end_offset)

    async def _verify(self, partition: Partition, valid: ValidBatch) -> Guard | None:
        header, broker = valid.header, self._broker
        producer = Identity(header.producer_id, header.producer_epoch)
        writer = Writer(self._transactional_id, producer, header.base_sequence)
        try:
            return await broker.verifier.guard(partition, writer, now_ms=broker.clock.now_ms())
        except KafkaError as error:
            code = _unverified(error.code, self._context.api_version)
            raise KafkaError(code, str(error)) from error

    def _append_valid(
        self,
        partition: Partition,
        valid: ValidBatch,
        response: PartitionProduceResponse,
        guard: Guard | None,
    ) -> None:
        broker = self._broker
        name = partition.topic_partition
        high_watermark = partition.log.high_watermark
        # Raises if this broker has stopped leading while the records were looked at.
        appended = partition.append_batch(
            valid.data, valid.header, acks=self._acks, now_ms=broker.clock.now_ms(), guard=guard
        )
        _accept(response, partition, valid, appended)
        size, count = len(valid.data), valid.header.record_count
        of_topic, of_all = broker.traffic.of(name.topic), broker.traffic.all
        of_topic.produce_requests.value += 1
        of_topic.bytes_in.value += size
        of_topic.messages_in.value += count
        of_all.bytes_in.value += size
        of_all.messages_in.value += count
        if partition.log.high_watermark == high_watermark:
            broker.waiters.wake_uncommitted(name)
        else:
            broker.waiters.wake(name)
        end_offset = appended.last_offset + 1
        if self._acks == ALL_IN_SYNC and not partition.is_committed(end_offset):
            self.waiting.append(_Waiting(partition, end_offset, response))


def _unverified(code: ErrorCode, version: int) -> ErrorCode:
    """What a producer hears if its transaction could not be verified."""
    if code in _UNVERIFIED:
        return ErrorCode.NOT_ENOUGH_REPLICAS  # it knows that it may try again
    if code is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if code is ErrorCode.TRANSACTION_ABORTABLE and version < _ABORTABLE_SINCE:
        return ErrorCode.INVALID_TXN_STATE
    return code


def _takes_long(records: ReadableBuffer, rules: ProduceRules) -> bool:
    """Whether validating means to compress, to convert, or to decompress many records.

    How many that are is not known before compressed records are opened.
    """
    if len(records) <= ATTRIBUTES_POSITION + 1:
        return False  # nor is it a batch
    is_large = len(records) > _CONVERTED_ON_LOOP_BYTES
    if records[MAGIC_POSITION] != MAGIC:
        return is_large or records[OLD_ATTRIBUTES_POSITION] & CODEC_MASK != Codec.NONE
    codec = records[ATTRIBUTES_POSITION + 1] & CODEC_MASK
    if rules.codec not in (None, codec):
        return is_large or codec != Codec.NONE
    if codec == Codec.GZIP:
        return is_large
    return codec != Codec.NONE and len(records) > COMPRESSED_ON_LOOP_BYTES


async def _wait_for_replicas(waiting: list[_Waiting], timeout_ms: int, broker: Broker) -> None:
    is_done = waiting[0].is_done if len(waiting) == 1 else _all_done(waiting)
    in_time = await broker.waiters.until_told(
        is_done,
        keys=[one.partition.topic_partition for one in waiting],
        timeout_s=max(timeout_ms, 0) / 1000,
        operation="Produce",
    )
    if in_time:
        return
    for one in waiting:
        if not one.is_done():
            # The records stay in the log; only the answer is uncertain.
            _refuse(one.response, KafkaError(ErrorCode.REQUEST_TIMED_OUT))


def _all_done(waiting: list[_Waiting]) -> Callable[[], bool]:
    """Looks at each until it is done: what is done once, is done for good."""
    rest = list(waiting)

    def are_done() -> bool:
        while rest and rest[-1].is_done():
            rest.pop()
        return not rest

    return are_done


async def _after(
    wait: Awaitable[None], answer: ProduceResponse, context: Context, broker: Broker
) -> ProduceResponse:
    await wait
    return await _hinted(answer, context, broker)


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
    if appended.is_duplicate:
        # What the log has, not what was sent again; Kafka tells it with either kind of time.
        response.log_append_time_ms = appended.max_timestamp
    elif valid.log_append_time_ms != NO_TIMESTAMP:
        response.log_append_time_ms = valid.log_append_time_ms


def _refuse(response: PartitionProduceResponse, error: KafkaError) -> None:
    """An error after the append leaves the offset as it is: the records are in the log."""
    response.error_code = error.code
    response.error_message = error.message
    if isinstance(error, RecordsRefused):
        response.record_errors = [
            BatchIndexAndErrorMessage(batch_index=index, batch_index_error_message=reason)
            for index, reason in error.record_errors
        ]


async def _close_on_error(response: ProduceResponse, context: Context) -> None:
    """Hanging up is the only way to tell a producer that wants no answer."""
    async for topic in context.each(response.responses):
        async for partition in context.each(topic.partition_responses):
            if partition.error_code != ErrorCode.NONE:
                code = ErrorCode(partition.error_code).name
                raise CloseConnection(f"{topic.name}-{partition.index}: {code} with acks=0")


async def _hinted(response: ProduceResponse, context: Context, broker: Broker) -> ProduceResponse:
    """The answer, which tells of other leaders to clients that understand it."""
    if context.api_version >= _LEADER_HINTS_SINCE:
        hints = LeaderHints(broker.metadata.image, context.client)
        async for topic in context.each(response.responses):
            async for partition in context.each(topic.partition_responses):
                _add_hint(partition, topic.name, hints, context)
        _add_nodes(response, hints)
    return response


def _add_hint(
    response: PartitionProduceResponse, topic: str, hints: LeaderHints, context: Context
) -> None:
    if context.api_version >= _LEADER_HINTS_SINCE:
        leader = hints.leader_for(response.error_code, topic, response.index)
        if leader is not None:
            response.current_leader = LeaderIdAndEpoch(
                leader_id=leader.leader, leader_epoch=leader.leader_epoch
            )


def _add_nodes(response: ProduceResponse, hints: LeaderHints) -> None:
    response.node_endpoints = [
        NodeEndpoint(node_id=node.id, host=host, port=port, rack=node.rack)
        for node, host, port in hints.nodes()
    ]
