"""Sends the batches of a producer to the leaders of their partitions."""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from functools import partial

from moldau.client.connection.cluster import Cluster
from moldau.client.connection.connection import Frame
from moldau.client.connection.opening import OpenBroker
from moldau.client.older_records import for_version
from moldau.client.producer.accumulator import Accumulator
from moldau.client.producer.batches import UNKNOWN_OFFSET, Batch, PartitionBatches
from moldau.client.producer.encoding import seal
from moldau.client.producer.produce_template import PRODUCE
from moldau.client.producer.settlement import Settlement
from moldau.client.producer.transactions import TransactionClient
from moldau.client.settings import ACKS_NONE, ProducerSettings
from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.model import NO_SEQUENCE, NO_TIMESTAMP, TopicPartition
from moldau.protocol.codec import decode
from moldau.protocol.headers import decode_response_header
from moldau.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from moldau.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from moldau.records.batch import TRANSACTIONAL
from moldau.records.batch import Producer as ProducerIdentity
from moldau.records.building import BatchForm
from moldau.runtime.waiters import Waiters

_log = logging.getLogger(__name__)


class Sender:
    """Takes what is ready, sends it, and settles it by what the broker answers."""

    def __init__(
        self,
        cluster: Cluster,
        accumulator: Accumulator,
        waiters: Waiters,
        transactions: TransactionClient | None = None,
    ) -> None:
        assert isinstance(cluster.settings, ProducerSettings)
        self._settings: ProducerSettings = cluster.settings
        self.cluster = cluster
        self.accumulator = accumulator
        self._transactions = transactions
        self._wake = asyncio.Event()
        self.settlement = Settlement(cluster, accumulator, waiters, transactions, wake=self.wake)
        self._loop = asyncio.get_running_loop()
        self._is_running = False
        self._is_about_to_send = False
        self._in_flight: dict[int, int] = {}
        self._on_the_way: dict[int, int] = {}
        self.identity: ProducerIdentity | None = None
        """By which brokers recognise this producer's retries."""
        is_transactional = TRANSACTIONAL if transactions is not None else 0
        self._attributes = int(self._settings.codec) | is_transactional
        self._level = self._settings.compression_level
        self._tasks: asyncio.TaskGroup
        self._is_refreshing = False

    def wake(self) -> None:
        """Look again at everything: what is ready, what is late, and when to look next."""
        self._wake.set()

    def take_notice(self) -> None:
        """A batch was begun or filled: it may be sent, at once if nothing stands in the way."""
        if self._settings.linger_ms:
            self.wake()
        elif not self._is_about_to_send:
            self._is_about_to_send = True
            self._loop.call_soon(self._send_at_once)

    async def run(self) -> None:
        """Send until cancelled."""
        try:
            async with asyncio.TaskGroup() as self._tasks:
                self._is_running = True
                while True:
                    self._wake.clear()
                    self.settlement.expire()
                    if self.accumulator.ready(now_ms=self._now_ms()):
                        await self._identify()
                        self._send_ready()
                    await self._rest()
        finally:
            self._is_running = False

    def _send_at_once(self) -> None:
        """A turn without a task, which leaves to `run` whatever needs one."""
        self._is_about_to_send = False
        if self._is_running and self._is_identified():
            self._send_ready()
        else:
            self.wake()

    # One turn

    async def _identify(self) -> None:
        """Get the id by which brokers recognise this producer's retries."""
        if self._is_identified():
            return
        try:
            self.identity = await self._ask_identity()
        except KafkaError as error:
            if not error.is_retriable:
                self.settlement.lose_waiting(error)
            await self.cluster.back_off()

    def _is_identified(self) -> bool:
        if self._transactions is not None:
            self.identity = self._transactions.identity
        return self.identity is not None or not self.needs_identity

    @property
    def needs_identity(self) -> bool:
        """Whether nothing can be sent without a producer id."""
        return self._settings.enable_idempotence

    async def _ask_identity(self) -> ProducerIdentity:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=2**31 - 1)
        answer = await self.cluster.ask_any(request, InitProducerIdResponse)
        if answer.error_code:
            raise KafkaError(ErrorCode(answer.error_code), "no producer id was given")
        return ProducerIdentity(answer.producer_id, answer.producer_epoch, NO_SEQUENCE)

    def _send_ready(self) -> None:
        if not self._is_identified():
            return
        by_leader: dict[int, list[PartitionBatches]] = {}
        metadata = self.cluster.metadata
        for batches in self.accumulator.ready(now_ms=self._now_ms()):
            leader = metadata.leader_of(batches.partition)
            if leader is None:
                metadata.doubt(batches.partition)
                self._refresh()
            elif not self._may_write(batches.partition):
                continue
            elif self._in_flight.get(leader, 0) < self._in_flight_max:
                by_leader.setdefault(leader, []).append(batches)
        for leader, partitions in by_leader.items():
            self._in_flight[leader] = self._in_flight.get(leader, 0) + 1
            self._begin(leader, self._take(partitions))

    def _may_write(self, partition: TopicPartition) -> bool:
        """Whether the partition is part of the transaction, if there is one."""
        transactions = self._transactions
        if transactions is None or transactions.has(partition):
            return True
        if transactions.wants_more:
            self._tasks.create_task(self._add_partitions(transactions))
        return False

    async def _add_partitions(self, transactions: TransactionClient) -> None:
        await transactions.add_wanted()
        error = transactions.transaction.error
        if error is not None:
            for batch in self.accumulator.abandon():
                self.settlement.lose(batch, error)
        self.wake()

    @property
    def _in_flight_max(self) -> int:
        return self._settings.max_in_flight_requests_per_connection

    def _take(self, partitions: Iterable[PartitionBatches]) -> list[Batch]:
        """One batch of each partition, as many as one request may hold but at least one."""
        taken: list[Batch] = []
        size_bytes = 0
        for batches in partitions:
            batch = batches.oldest_waiting
            assert batch is not None, "it was ready"
            size_bytes += batch.records.size
            if taken and size_bytes > self._settings.max_request_size:
                break
            taken.append(self.accumulator.take(batches, self.identity))
        return taken

    async def _rest(self) -> None:
        deadline_ms = self.accumulator.next_deadline_ms()
        wait_s = None
        if deadline_ms is not None:
            wait_s = max(deadline_ms - self._now_ms(), 0) / 1000
            if wait_s == 0:  # ready, but its leader is busy or unknown
                wait_s = self._settings.retry_backoff_ms / 1000
        try:
            async with asyncio.timeout(wait_s):
                await self._wake.wait()
        except TimeoutError:
            return

    # One request

    def _begin(self, leader: int, batches: list[Batch]) -> None:
        """Send now if the connection is there, and nothing older waits for it."""
        broker = None if self._on_the_way.get(leader) else self.cluster.connected(leader)
        if broker is not None:
            self._post(broker, leader, batches)
        else:
            self._on_the_way[leader] = self._on_the_way.get(leader, 0) + 1
            self._tasks.create_task(self._connect(leader, batches))

    async def _connect(self, leader: int, batches: list[Batch]) -> None:
        try:
            broker = await self.cluster.broker(leader)
            await broker.connection.wait_to_post(timeout_s=self.cluster.timeout_s)
        except KafkaError as error:
            self._end(leader, batches, error)
        else:
            self._post(broker, leader, self._hold_back(batches))
        finally:
            self._on_the_way[leader] -= 1

    def _post(self, broker: OpenBroker, leader: int, batches: list[Batch]) -> None:
        if not batches:
            self._end(leader, batches)
            return
        try:
            version = broker.versions.newest(PRODUCE)
            wants_answer = self._settings.required_acks != ACKS_NONE
            broker.connection.post(
                self.request({each.partition: self.sealed(each, version) for each in batches}),
                version,
                partial(self._take_answer, broker, leader, batches) if wants_answer else None,
                timeout_s=self.cluster.timeout_s,
            )
        except KafkaError as error:
            self._end(leader, batches, error)
            return
        if not wants_answer:
            for batch in batches:
                self.settlement.deliver(batch, UNKNOWN_OFFSET, NO_TIMESTAMP)
            self._end(leader, [])

    def _take_answer(
        self, broker: OpenBroker, leader: int, batches: list[Batch], frame: Frame | KafkaError
    ) -> None:
        if isinstance(frame, KafkaError):
            self._end(leader, batches, frame)
            return
        self.settle(batches, frame.data, broker.versions.newest(PRODUCE))
        self._end(leader, [])

    def settle(self, batches: list[Batch], frame: memoryview, version: int) -> None:
        """Read the answer to a request that had these batches."""
        try:
            _, position = decode_response_header(frame, PRODUCE, version)
            answer, _ = decode(ProduceResponse, version, frame, position)
        except ProtocolError as error:
            reason = KafkaError(ErrorCode.NETWORK_EXCEPTION, f"Produce: {error}")
            for batch in batches:
                self.settlement.fail(batch, reason)
            return
        by_partition = {batch.partition: batch for batch in batches}
        for topic in answer.responses:
            for each in topic.partition_responses:
                batch = by_partition.pop(TopicPartition(topic.name, each.index))
                self.settlement.answer(batch, each)
        for batch in by_partition.values():
            unanswered = KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "it had no answer")
            self.settlement.fail(batch, unanswered)

    def _end(self, leader: int, batches: list[Batch], error: KafkaError | None = None) -> None:
        """A request is over; what it did not settle has failed with an error."""
        self._in_flight[leader] -= 1
        for batch in batches:
            assert error is not None, "it failed for a reason"
            self.settlement.fail(batch, error)
        if self._is_running:
            self._send_ready()

    def _hold_back(self, batches: list[Batch]) -> list[Batch]:
        """Those that may go, since nothing older was lost while a connection was made for them.

        A broker that does not know the producer takes any number for its first (KIP-360).
        """
        may_go: list[Batch] = []
        for batch in batches:
            if self.accumulator.is_overtaking(batch):
                error = KafkaError(ErrorCode.NETWORK_EXCEPTION, "an older batch comes first")
                self.accumulator.retry(batch, error, ready_ms=self._now_ms())
                self.wake()
            else:
                may_go.append(batch)
        return may_go

    def sealed(self, batch: Batch, version: int) -> memoryview:
        """A batch as it is sent in a request of this version."""
        form = BatchForm(
            self._settings.batch_size,
            attributes=self._attributes,
            producer=batch.producer,
            level=self._level,
        )
        return for_version(seal(batch.records, form), version)

    def request(self, records: Mapping[TopicPartition, memoryview | bytes]) -> ProduceRequest:
        """What brings records to their leader."""
        topics: dict[str, list[PartitionProduceData]] = {}
        for (topic, partition), data in records.items():
            topics.setdefault(topic, []).append(PartitionProduceData(index=partition, records=data))
        return ProduceRequest(
            transactional_id=self._settings.transactional_id or None,
            acks=self._settings.required_acks,
            timeout_ms=self._settings.request_timeout_ms,
            topic_data=[
                TopicProduceData(name=topic, partition_data=partitions)
                for topic, partitions in topics.items()
            ],
        )

    # Leaders

    def _refresh(self) -> None:
        if not self._is_refreshing:
            self._is_refreshing = True
            self._tasks.create_task(self._refresh_metadata())

    async def _refresh_metadata(self) -> None:
        try:
            await self.cluster.refresh_if_stale()
        except KafkaError as error:
            _log.info("Failed to fetch metadata: %s", error)
        await self.cluster.back_off()
        self._is_refreshing = False
        self.wake()

    def _now_ms(self) -> int:
        return self.cluster.clock.monotonic_ms()
