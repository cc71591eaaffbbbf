"""Produce: validate and append batches, wait until as many replicas have them as was asked for.

The one implementation, whichever codec has read the request. This file runs as it stands and is
also compiled as `_produce`: only the interpreter is saved.
"""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from functools import partial
from typing import TYPE_CHECKING, Any

from moldau.broker.coordination.verification import Writer
from moldau.broker.requests.leader_hints import LeaderHints
from moldau.broker.requests.replica_wait import ReplicaWait, Waiting
from moldau.broker.topics.internal import is_internal
from moldau.coordinator.transaction.transaction import Identity
from moldau.errors import ErrorCode, KafkaError
from moldau.model import NO_TIMESTAMP, TopicPartition
from moldau.protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from moldau.records.batch import (
    ATTRIBUTES_POSITION,
    CODEC_MASK,
    MAGIC,
    MAGIC_POSITION,
    TRANSACTIONAL,
)
from moldau.records.buffers import ReadableBuffer
from moldau.records.compression import Codec
from moldau.records.legacy import ATTRIBUTES_POSITION as OLD_ATTRIBUTES_POSITION
from moldau.records.opening import ON_LOOP_BYTES, Opening, TooLargeToOpen
from moldau.records.refusal import RecordsRefused
from moldau.records.rules import ProduceRules
from moldau.replication.partition import ALL_IN_SYNC, Partition
from moldau.runtime import native

if TYPE_CHECKING:
    from moldau.broker.broker import Broker
    from moldau.broker.context import Context
    from moldau.log.verification import Guard
    from moldau.records.validate import ValidBatch, validate_produce
else:
    validate_produce = native.kernel(
        "moldau.records._validate", "moldau.records.validate"
    ).validate_produce

ACKS = (ALL_IN_SYNC, 0, 1)
ADMIN_CLIENT = "__admin_client"
# Larger batches are looked at in a thread, if that is work: the loop has others to serve. To
# decompress takes a millisecond and is not worth it, since a thread has nothing in its caches.
CONVERTED_ON_LOOP_BYTES = 65_536
COMPRESSED_ON_LOOP_BYTES = 524_288
LEADER_HINTS_SINCE = 10
ABORTABLE_SINCE = 11
# While the coordinator of a transaction cannot be asked, nobody knows yet.
UNVERIFIED = (
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.NETWORK_EXCEPTION,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)


class Produce:
    """One request: its appends, its answer as it grows, and what waits for other replicas."""

    __slots__ = (
        "_acks", "_broker", "_context", "_opening", "_request", "has_failed", "response",
        "waiting",
    )  # fmt: skip

    def __init__(self, request: ProduceRequest, context: "Context", broker: "Broker") -> None:
        if request.acks not in ACKS:
            raise KafkaError(ErrorCode.INVALID_REQUIRED_ACKS, f"acks={request.acks}")
        self._request = request
        self._context = context
        self._broker = broker
        self._acks = request.acks
        self._opening = Opening(broker.scratch, ON_LOOP_BYTES)
        self.response = ProduceResponse(responses=[])
        self.has_failed = False
        """Whether any partition of the answer has an error."""
        self.waiting: list[Waiting] = []

    def appends(self) -> Generator[Coroutine[Any, Any, None] | None, None, None]:
        """Append to one partition after the other.

        Yields None where that is done, or else what must be awaited before the next.
        """
        for topic in self._request.topic_data:
            name = topic.name
            responses: list[PartitionProduceResponse] = []
            self.response.responses.append(
                TopicProduceResponse(name=name, partition_responses=responses)
            )
            for data in topic.partition_data:
                response = new_response(data.index)
                responses.append(response)
                rest = None
                try:
                    rest = self._append(TopicPartition(name, data.index), data.records, response)
                except KafkaError as error:
                    self._fail(name, response, error)
                yield rest and self._rest(rest, name, response)

    def wait(self, done: Callable[[], None]) -> ReplicaWait:
        """Begin to wait for the replicas of what is waiting; `done` is called at the end of it."""
        timeout_s = max(self._request.timeout_ms, 0) / 1000
        return ReplicaWait(self.waiting, self._broker.waiters, timeout_s, self.settle, done)

    async def until_replicas(self) -> None:
        """The same in a coroutine."""
        over = asyncio.Event()
        wait = self.wait(over.set)
        wait.note(None)  # this may begin some time after the append
        try:
            await over.wait()
        finally:
            wait.cancel()

    def settle(self, waiting: Waiting, error: KafkaError) -> None:
        """The records are in the log, but not as safe as was asked for."""
        refuse(waiting.response, error)
        self.has_failed = True

    def hinting(self) -> Generator[None, None, ProduceResponse]:
        """Add to the answer who leads, for clients that understand it; pauses often."""
        response, context = self.response, self._context
        if self.has_failed and context.api_version >= LEADER_HINTS_SINCE:
            hints = LeaderHints(self._broker.metadata.image, context.client)
            for topic in response.responses:
                for partition in topic.partition_responses:
                    add_hint(partition, topic.name, hints)
                    yield
            response.node_endpoints = [
                NodeEndpoint(node_id=node.id, host=host, port=port, rack=node.rack)
                for node, host, port in hints.nodes()
            ]
        return response

    def _append(
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
        if records is not None and takes_long(records, partition.produce_rules):
            return self._append_opened(partition, records, response)
        try:
            valid = self._validate(partition, records, self._opening)
        except TooLargeToOpen:
            assert records is not None
            return self._append_opened(partition, records, response)
        if valid is None:
            return None
        if valid.header.attributes & TRANSACTIONAL:
            return self._append_verified(partition, valid, response)
        self._append_valid(partition, valid, response, None)
        return self._flush(partition) if broker.flusher.is_due(partition.log) else None

    async def _rest(
        self, rest: Coroutine[Any, Any, None], topic: str, response: PartitionProduceResponse
    ) -> None:
        try:
            await rest
        except KafkaError as error:
            self._fail(topic, response, error)

    def _fail(self, topic: str, response: PartitionProduceResponse, error: KafkaError) -> None:
        self.has_failed = True
        refuse(response, error)
        # It was appended, but could not be flushed: nothing more is to come.
        self.waiting = [one for one in self.waiting if one.response is not response]
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
    ) -> "ValidBatch | None":
        return validate_produce(
            records,
            partition.produce_rules,
            request_version=self._context.api_version,
            now_ms=self._broker.clock.now_ms(),
            opening=opening,
        )

    async def _append_verified(
        self, partition: Partition, valid: "ValidBatch", response: PartitionProduceResponse
    ) -> None:
        guard = None
        if valid.header.is_transactional:
            guard = await self._verify(partition, valid)
        self._append_valid(partition, valid, response, guard)
        if self._broker.flusher.is_due(partition.log):
            await self._flush(partition)

    async def _flush(self, partition: Partition) -> None:
        await self._broker.flusher.flush(partition.log, partition.log.log_end_offset)

    async def _verify(self, partition: Partition, valid: "ValidBatch") -> "Guard | None":
        header, broker = valid.header, self._broker
        producer = Identity(header.producer_id, header.producer_epoch)
        writer = Writer(self._request.transactional_id, producer, header.base_sequence)
        try:
            return await broker.verifier.guard(partition, writer, now_ms=broker.clock.now_ms())
        except KafkaError as error:
            code = unverified(error.code, self._context.api_version)
            raise KafkaError(code, str(error)) from error

    def _append_valid(
        self,
        partition: Partition,
        valid: "ValidBatch",
        response: PartitionProduceResponse,
        guard: "Guard | None",
    ) -> None:
        broker = self._broker
        name = partition.topic_partition
        log = partition.log
        high_watermark = log.high_watermark
        # Raises if this broker has stopped leading while the records were looked at.
        appended = partition.append_batch(
            valid.data, valid.header, acks=self._acks, now_ms=broker.clock.now_ms(), guard=guard
        )
        response.base_offset = appended.first_offset
        response.log_start_offset = log.log_start_offset
        if appended.is_duplicate:
            # What the log has, not what was sent again; Kafka tells it with either kind of time.
            response.log_append_time_ms = appended.max_timestamp
        elif valid.log_append_time_ms != NO_TIMESTAMP:
            response.log_append_time_ms = valid.log_append_time_ms
        size, count = len(valid.data), valid.header.record_count
        of_topic, of_all = broker.traffic.of(name.topic), broker.traffic.all
        of_topic.produce_requests.value += 1
        of_topic.bytes_in.value += size
        of_topic.messages_in.value += count
        of_all.bytes_in.value += size
        of_all.messages_in.value += count
        if log.high_watermark == high_watermark:
            broker.waiters.wake_uncommitted(name)
        else:
            broker.waiters.wake(name)
        end_offset = appended.last_offset + 1
        if self._acks == ALL_IN_SYNC and not partition.is_committed(end_offset):
            self.waiting.append(Waiting(partition, end_offset, response))


def unverified(code: ErrorCode, version: int) -> ErrorCode:
    """The error for a producer whose transaction could not be verified."""
    if code in UNVERIFIED:
        return ErrorCode.NOT_ENOUGH_REPLICAS  # it knows that it may try again
    if code is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if code is ErrorCode.TRANSACTION_ABORTABLE and version < ABORTABLE_SINCE:
        return ErrorCode.INVALID_TXN_STATE
    return code


def takes_long(records: ReadableBuffer, rules: ProduceRules) -> bool:
    """Whether validating means to compress, to convert, or to decompress many records.

    How many that are is not known before compressed records are opened.
    """
    if len(records) <= ATTRIBUTES_POSITION + 1:
        return False  # nor is it a batch
    is_large = len(records) > CONVERTED_ON_LOOP_BYTES
    if records[MAGIC_POSITION] != MAGIC:
        return is_large or records[OLD_ATTRIBUTES_POSITION] & CODEC_MASK != Codec.NONE
    codec = records[ATTRIBUTES_POSITION + 1] & CODEC_MASK
    if rules.codec is not None and rules.codec != codec:
        return is_large or codec != Codec.NONE
    if codec == Codec.GZIP:
        return is_large
    return codec != Codec.NONE and len(records) > COMPRESSED_ON_LOOP_BYTES


def new_response(index: int) -> PartitionProduceResponse:
    """The answer for a partition, before anything was appended."""
    return PartitionProduceResponse(index=index, error_code=ErrorCode.NONE, base_offset=-1)


def refuse(response: PartitionProduceResponse, error: KafkaError) -> None:
    """An error after the append leaves the offset as it is: the records are in the log."""
    response.error_code = error.code
    response.error_message = error.message
    if isinstance(error, RecordsRefused):
        response.record_errors = [
            BatchIndexAndErrorMessage(batch_index=index, batch_index_error_message=reason)
            for index, reason in error.record_errors
        ]


def add_hint(response: PartitionProduceResponse, topic: str, hints: LeaderHints) -> None:
    """Add the leader, if the error says that the client does not know it."""
    leader = hints.leader_for(response.error_code, topic, response.index)
    if leader is not None:
        response.current_leader = LeaderIdAndEpoch(
            leader_id=leader.leader, leader_epoch=leader.leader_epoch
        )
