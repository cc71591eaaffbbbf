"""Produce: validate and append batches, wait until as many replicas have them as was asked for.

The one implementation, whichever codec has read the request. This file runs as it stands and is
also compiled as `_produce`; `_produce.pxd` then gives its variables C types.
"""

import asyncio
from collections.abc import Callable, Coroutine, Generator, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from moldau.broker.coordination.verification import Writer
from moldau.broker.requests.leader_hints import LeaderHints
from moldau.broker.requests.produce_response import response_of
from moldau.broker.requests.replica_wait import ReplicaWait, UncommittedAppend
from moldau.broker.topics.internal import INTERNAL_TOPICS
from moldau.coordinator.transaction.transaction import ProducerIdentity
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.produce import (
    NodeEndpoint,
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
from moldau.records.opening import ON_LOOP_BYTES
from moldau.records.refusal import TooLargeToOpen
from moldau.records.rules import ProduceRules
from moldau.replication.partition import ALL_IN_SYNC, Partition
from moldau.runtime import native
from moldau.security.acls import Operation, ResourceType

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from moldau.runtime import uncompiled as cython

if not cython.compiled:
    from moldau.records.memory import start_of

if TYPE_CHECKING:
    from moldau.broker.broker import Broker
    from moldau.broker.context import Context
    from moldau.log.verification import Guard
    from moldau.records.opening import Opening
    from moldau.records.validate import ValidBatch, validate_produce
else:
    Opening = native.kernel("moldau.records._opening", "moldau.records.opening").Opening
    validate_produce = native.kernel(
        "moldau.records._validate", "moldau.records.validate"
    ).validate_produce

ACKS = (ALL_IN_SYNC, 0, 1)
ADMIN_CLIENT = "__admin_client"
NEVER = 2**63 - 1
WRITE, TOPIC = Operation.WRITE, ResourceType.TOPIC
# Larger batches are looked at in a thread, if that is work: the loop has others to serve. To
# decompress takes a millisecond and is not worth it, since a thread has nothing in its caches.
CONVERTED_ON_LOOP_BYTES = 65_536
COMPRESSED_ON_LOOP_BYTES = 524_288
# As plain numbers: the members of an enumeration take longer to find.
UNCOMPRESSED, GZIP = int(Codec.NONE), int(Codec.GZIP)
MAGIC_AT, BATCH_MAGIC, CODEC_BITS = MAGIC_POSITION, MAGIC, CODEC_MASK
CODEC_AT, OLD_CODEC_AT = ATTRIBUTES_POSITION + 1, OLD_ATTRIBUTES_POSITION
LEADER_HINTS_SINCE = 10
ABORTABLE_SINCE = 11
# While the coordinator of a transaction cannot be asked, its state is unknown.
UNVERIFIED = (
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.NETWORK_EXCEPTION,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)


class AppendOutcome:
    """What came of the records for one partition."""

    __slots__ = ("base_offset", "error", "index", "log_append_time_ms", "log_start_offset")

    def __init__(self, index: int) -> None:
        self.index = index
        self.error: KafkaError | None = None
        self.base_offset = -1
        self.log_append_time_ms = -1
        self.log_start_offset = -1


class Produce:
    """One request: its appends, what came of them, and what waits for other replicas."""

    __slots__ = (
        "_acks", "_broker", "_context", "_is_denied", "_opening", "_outcomes", "_timeout_ms",
        "_topic", "_transactional_id", "has_failed", "request_size", "topics", "waiting",
    )  # fmt: skip

    def __init__(
        self,
        broker: "Broker",
        context: "Context",
        acks: int,
        timeout_ms: int,
        transactional_id: str | None,
    ) -> None:
        if acks not in ACKS:
            raise KafkaError(ErrorCode.INVALID_REQUIRED_ACKS, f"acks={acks}")
        self._broker = broker
        self._context = context
        self._acks = acks
        self._timeout_ms = timeout_ms
        self._transactional_id = transactional_id
        self._opening = Opening(broker.scratch, ON_LOOP_BYTES)
        self._topic = ""
        self._is_denied = False
        self._outcomes: list[AppendOutcome] = []
        self.topics: list[tuple[str, list[AppendOutcome]]] = []
        """The outcomes by topic, as the answer lists them."""
        self.has_failed = False
        """Whether any of them is an error."""
        self.request_size = 0
        """Of the frame: what counts for the quota."""
        self.waiting: list[UncommittedAppend] = []

    def require_right(self, all_records: Iterable[ReadableBuffer | None]) -> None:
        """Refuse the whole request if any of its batches is of a transaction of somebody else.

        All of them are looked at before any is appended (CVE-2018-17196).
        """
        transactional_id = self._transactional_id
        for records in all_records:
            if records is not None and is_transactional(records):
                if transactional_id is None:
                    raise KafkaError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
                self._broker.authorizer.require(
                    self._context, WRITE, ResourceType.TRANSACTIONAL_ID, transactional_id
                )
                return

    def begin_topic(self, name: str) -> None:
        """The partitions that follow are those of a topic."""
        self._topic = name
        self._outcomes = []
        self.topics.append((name, self._outcomes))
        authorizer = self._broker.authorizer
        self._is_denied = authorizer.is_enforcing and not authorizer.may(
            self._context, WRITE, TOPIC, name
        )

    def append(
        self, index: int, records: ReadableBuffer | None
    ) -> Coroutine[Any, Any, None] | None:
        """Append to a partition; returns what must be awaited before the next, if that is all."""
        outcome = AppendOutcome(index)
        self._outcomes.append(outcome)
        try:
            rest = self._append(records, outcome)
        except KafkaError as error:
            self._fail(self._topic, outcome, error)
            return None
        return None if rest is None else self._rest(rest, self._topic, outcome)

    def wait(self, done: Callable[[], None]) -> ReplicaWait:
        """Begin to wait for the replicas of what is waiting; `done` is called at the end of it."""
        timeout_s = max(self._timeout_ms, 0) / 1000
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

    def settle(self, waiting: UncommittedAppend, error: KafkaError) -> None:
        """The records are in the log, but not as safe as was asked for."""
        waiting.outcome.error = error.kept()
        self.has_failed = True

    def throttle_ms(self) -> int:
        """The request is about to be answered: how long its client is to wait for its bytes."""
        quotas, context = self._broker.quotas, self._context
        if not quotas.is_set:
            return 0
        return quotas.produced(context.client, context.client_id, self.request_size)

    def responding(self) -> Generator[None, None, ProduceResponse]:
        """The response as a message, with errors and current leaders; pauses often."""
        topics = []
        hints = None
        if self.has_failed and self._context.api_version >= LEADER_HINTS_SINCE:
            broker = self._broker
            hints = LeaderHints(broker.metadata.image, self._context.client, broker.replicas.find)
        for name, outcomes in self.topics:
            partitions = []
            for outcome in outcomes:
                partitions.append(response_of(outcome, name, hints))
                yield
            topics.append(TopicProduceResponse(name=name, partition_responses=partitions))
        response = ProduceResponse(responses=topics)
        if hints is not None:
            response.node_endpoints = [
                NodeEndpoint(node_id=node.id, host=host, port=port, rack=node.rack)
                for node, host, port in hints.nodes()
            ]
        return response

    def _append(
        self, records: ReadableBuffer | None, outcome: AppendOutcome
    ) -> Coroutine[Any, Any, None] | None:
        """Append at once; what takes longer is returned, to be awaited."""
        broker, topic = self._broker, self._topic
        broker.traffic.all.produce_requests.value += 1
        if self._is_denied:
            raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        if topic in INTERNAL_TOPICS and self._context.client_id != ADMIN_CLIENT:
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{topic} is internal")
        partition = broker.replicas.find_led((topic, outcome.index))
        if partition is None:
            # Says why not.
            partition = broker.replicas.leader(TopicPartition(topic, outcome.index))
        rules = partition.produce_rules
        if records is not None and takes_long(records, rules):
            return self._append_opened(partition, records, outcome)
        now_ms = broker.clock.now_ms()
        try:
            valid = validate_produce(
                records, rules, self._context.api_version, now_ms, self._opening
            )
        except TooLargeToOpen:
            assert records is not None
            return self._append_opened(partition, records, outcome)
        if valid is None:
            return None
        if valid.header.attributes & TRANSACTIONAL:
            return self._append_verified(partition, valid, outcome)
        self._append_valid(partition, valid, outcome, now_ms, None)
        log = partition.log
        if log.config.flush_messages != NEVER and broker.flusher.is_due(log):
            return self._flush(partition)
        return None

    async def _rest(
        self, rest: Coroutine[Any, Any, None], topic: str, outcome: AppendOutcome
    ) -> None:
        try:
            await rest
        except KafkaError as error:
            self._fail(topic, outcome, error)

    def _fail(self, topic: str, outcome: AppendOutcome, error: KafkaError) -> None:
        """An error after the append leaves the offset as it is: the records are in the log."""
        self.has_failed = True
        outcome.error = error.kept()
        # What was appended last but could not be flushed: nothing more is to come.
        if self.waiting and self.waiting[-1].outcome is outcome:
            self.waiting.pop()
        traffic = self._broker.traffic
        traffic.all.failed_produce_requests.value += 1
        if topic in self._broker.metadata.image.topics:  # or any client could make counters
            traffic.of(topic).failed_produce_requests.value += 1

    async def _append_opened(
        self, partition: Partition, records: ReadableBuffer, outcome: AppendOutcome
    ) -> None:
        """Validate in a thread, since the records have to be decompressed or converted."""
        broker = self._broker
        validate = partial(
            validate_produce,
            records,
            partition.produce_rules,
            self._context.api_version,
            broker.clock.now_ms(),
            Opening(broker.scratch),
        )
        valid = await asyncio.get_running_loop().run_in_executor(None, validate)
        if valid is not None:
            await self._append_verified(partition, valid, outcome)

    async def _append_verified(
        self, partition: Partition, valid: "ValidBatch", outcome: AppendOutcome
    ) -> None:
        guard = None
        if valid.header.is_transactional:
            guard = await self._verify(partition, valid)
        self._append_valid(partition, valid, outcome, self._broker.clock.now_ms(), guard)
        if self._broker.flusher.is_due(partition.log):
            await self._flush(partition)

    async def _flush(self, partition: Partition) -> None:
        await self._broker.flusher.flush(partition.log, partition.log.log_end_offset)

    async def _verify(self, partition: Partition, valid: "ValidBatch") -> "Guard | None":
        header, broker = valid.header, self._broker
        producer = ProducerIdentity(header.producer_id, header.producer_epoch)
        writer = Writer(self._transactional_id, producer, header.base_sequence)
        try:
            return await broker.verifier.guard(partition, writer, now_ms=broker.clock.now_ms())
        except KafkaError as error:
            code = unverified(error.code, self._context.api_version)
            raise KafkaError(code, str(error)) from error

    def _append_valid(
        self,
        partition: Partition,
        valid: "ValidBatch",
        outcome: AppendOutcome,
        now_ms: int,
        guard: "Guard | None",
    ) -> None:
        broker = self._broker
        name = partition.topic_partition
        log = partition.log
        high_watermark = log.high_watermark
        # Raises if this broker has stopped leading while the records were looked at.
        appended = partition.append_batch(
            valid.data, valid.header, acks=self._acks, now_ms=now_ms, guard=guard
        )
        outcome.base_offset = appended.first_offset
        outcome.log_start_offset = log.log_start_offset
        # Of a duplicate, what the log has; Kafka sends it with either kind of time.
        outcome.log_append_time_ms = (
            appended.max_timestamp if appended.is_duplicate else valid.log_append_time_ms
        )
        broker.traffic.note_produced(name.topic, len(valid.data), valid.header.record_count)
        if log.high_watermark == high_watermark:
            broker.waiters.wake_uncommitted(name)
        else:
            broker.waiters.wake(name)
        end_offset = appended.last_offset + 1
        if self._acks == ALL_IN_SYNC and not partition.is_committed(end_offset):
            self.waiting.append(UncommittedAppend(partition, end_offset, outcome))


def unverified(code: ErrorCode, version: int) -> ErrorCode:
    """The error for a producer whose transaction could not be verified."""
    if code in UNVERIFIED:
        return ErrorCode.NOT_ENOUGH_REPLICAS  # it knows that it may try again
    if code is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if code is ErrorCode.TRANSACTION_ABORTABLE and version < ABORTABLE_SINCE:
        return ErrorCode.INVALID_TXN_STATE
    return code


def is_transactional(records: ReadableBuffer) -> bool:
    """Whether the one batch that there may be belongs to a transaction."""
    if len(records) <= CODEC_AT:
        return False  # nor is it a batch
    data = start_of(records)
    return data[MAGIC_AT] == BATCH_MAGIC and data[CODEC_AT] & TRANSACTIONAL != 0


def takes_long(records: ReadableBuffer, rules: ProduceRules) -> bool:
    """Whether validating means to compress, to convert, or to decompress many records.

    How many that are is not known before compressed records are opened.
    """
    size = len(records)
    if size <= CODEC_AT:
        return False  # nor is it a batch
    is_large = size > CONVERTED_ON_LOOP_BYTES
    data = start_of(records)
    if data[MAGIC_AT] != BATCH_MAGIC:
        return is_large or data[OLD_CODEC_AT] & CODEC_BITS != UNCOMPRESSED
    codec = data[CODEC_AT] & CODEC_BITS
    if rules.codec is not None and rules.codec != codec:
        return is_large or codec != UNCOMPRESSED
    if codec == GZIP:
        return is_large
    return codec != UNCOMPRESSED and size > COMPRESSED_ON_LOOP_BYTES
