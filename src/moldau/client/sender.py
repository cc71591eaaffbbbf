"""Sends the batches of a producer to the leaders of their partitions."""

import asyncio
import logging
from collections.abc import Iterable

from moldau.client.accumulator import Accumulator
from moldau.client.batches import UNKNOWN_OFFSET, Batch, PartitionBatches
from moldau.client.cluster import Cluster
from moldau.client.encoding import seal
from moldau.client.opening import OpenBroker
from moldau.client.settings import ACKS_NONE, ProducerSettings
from moldau.client.transactions import Transactions
from moldau.errors import ErrorCode, KafkaError
from moldau.model import NO_SEQUENCE, NO_TIMESTAMP, TopicPartition
from moldau.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from moldau.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from moldau.records.batch import TRANSACTIONAL
from moldau.records.batch import Producer as ProducerIdentity
from moldau.records.building import BatchForm
from moldau.runtime.waiters import Waiters

_log = logging.getLogger(__name__)

SETTLED = "settled"
_PRODUCE = 0
_SEQUENCE_ERRORS = (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.UNKNOWN_PRODUCER_ID)


class Sender:
    """Takes what is ready, sends it, and settles it by what the broker answers."""

    def __init__(
        self,
        cluster: Cluster,
        accumulator: Accumulator,
        waiters: Waiters,
        transactions: Transactions | None = None,
    ) -> None:
        assert isinstance(cluster.settings, ProducerSettings)
        self._settings: ProducerSettings = cluster.settings
        self.cluster = cluster
        self.accumulator = accumulator
        self._waiters = waiters
        self._transactions = transactions
        self._wake = asyncio.Event()
        self._in_flight: dict[int, int] = {}
        self._identity: ProducerIdentity | None = None
        self._tasks: asyncio.TaskGroup
        self._is_refreshing = False

    def wake(self) -> None:
        """Look again at what is ready."""
        self._wake.set()

    async def run(self) -> None:
        """Send until cancelled."""
        async with asyncio.TaskGroup() as self._tasks:
            while True:
                self._wake.clear()
                self._expire()
                if self.accumulator.ready(now_ms=self._now_ms()):
                    await self._identify()
                    self._send_ready()
                await self._rest()

    # One turn

    def _expire(self) -> None:
        for batch in self.accumulator.expire(now_ms=self._now_ms()):
            self._report(batch, self._too_late(batch))

    async def _identify(self) -> None:
        """Get the id by which brokers recognise this producer's retries."""
        if self._transactions is not None:
            self._identity = self._transactions.identity
            return
        if self._identity is not None or not self._settings.enable_idempotence:
            return
        try:
            self._identity = await self._ask_identity()
        except KafkaError as error:
            if not error.is_retriable:
                self._fail_waiting(error)
            await self.cluster.back_off()

    async def _ask_identity(self) -> ProducerIdentity:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=2**31 - 1)
        answer = await self.cluster.ask_any(request, InitProducerIdResponse)
        if answer.error_code:
            raise KafkaError(ErrorCode(answer.error_code), "no producer id was given")
        return ProducerIdentity(answer.producer_id, answer.producer_epoch, NO_SEQUENCE)

    def _send_ready(self) -> None:
        if self._settings.enable_idempotence and self._identity is None:
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
            self._tasks.create_task(self._send(leader, self._take(partitions)))

    def _may_write(self, partition: TopicPartition) -> bool:
        """Whether the partition is part of the transaction, if there is one."""
        transactions = self._transactions
        if transactions is None or transactions.has(partition):
            return True
        if transactions.wants_more:
            self._tasks.create_task(self._add_partitions(transactions))
        return False

    async def _add_partitions(self, transactions: Transactions) -> None:
        await transactions.add_wanted()
        error = transactions.transaction.error
        if error is not None:
            for batch in self.accumulator.abandon():
                self._report(batch, error)
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
            taken.append(self.accumulator.take(batches, self._identity))
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

    async def _send(self, leader: int, batches: list[Batch]) -> None:
        try:
            broker = await self.cluster.broker(leader)
            batches = self._hold_back(batches)
            if batches:
                await self._produce(broker, batches)
        except KafkaError as error:
            for batch in batches:
                self._settle(batch, error)
        finally:
            self._in_flight[leader] -= 1
            self.wake()

    async def _produce(self, broker: OpenBroker, batches: list[Batch]) -> None:
        version = broker.versions.newest(_PRODUCE)
        timeout_s = self.cluster.timeout_s
        request = self._request(batches)
        if self._settings.required_acks == ACKS_NONE:
            await broker.connection.tell(request, version, timeout_s=timeout_s)
            for batch in batches:
                self._deliver(batch, UNKNOWN_OFFSET, NO_TIMESTAMP)
            return
        answer = await broker.connection.ask(request, ProduceResponse, version, timeout_s=timeout_s)
        by_partition = {batch.partition: batch for batch in batches}
        for topic in answer.responses:
            for each in topic.partition_responses:
                batch = by_partition.pop(TopicPartition(topic.name, each.index))
                self._settle_by(batch, each)
        for batch in by_partition.values():
            self._settle(batch, KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "it had no answer"))

    def _hold_back(self, batches: list[Batch]) -> list[Batch]:
        """Those that may go, since nothing older was lost while a connection was made for them.

        A broker that has never heard of the producer takes any number for its first (KIP-360).
        """
        may_go: list[Batch] = []
        for batch in batches:
            if self.accumulator.is_overtaking(batch):
                error = KafkaError(ErrorCode.NETWORK_EXCEPTION, "an older batch comes first")
                self.accumulator.retry(batch, error, ready_ms=self._now_ms())
            else:
                may_go.append(batch)
        return may_go

    def _request(self, batches: list[Batch]) -> ProduceRequest:
        topics: dict[str, list[PartitionProduceData]] = {}
        for batch in batches:
            records = seal(batch.records, self._form(batch))
            topics.setdefault(batch.partition.topic, []).append(
                PartitionProduceData(index=batch.partition.partition, records=records)
            )
        return ProduceRequest(
            transactional_id=self._settings.transactional_id or None,
            acks=self._settings.required_acks,
            timeout_ms=self._settings.request_timeout_ms,
            topic_data=[
                TopicProduceData(name=topic, partition_data=partitions)
                for topic, partitions in topics.items()
            ],
        )

    def _form(self, batch: Batch) -> BatchForm:
        return BatchForm(
            self._settings.batch_size,
            attributes=int(self._settings.codec) | (TRANSACTIONAL if self._transactions else 0),
            producer=batch.producer,
            level=self._settings.compression_level,
        )

    # What becomes of a batch

    def _settle_by(self, batch: Batch, answer: PartitionProduceResponse) -> None:
        code = ErrorCode(answer.error_code)
        if code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
            self._deliver(batch, answer.base_offset, answer.log_append_time_ms)
        else:
            reason = answer.error_message or code.name
            self._settle(batch, KafkaError(code, f"{batch.partition}: {reason}"))

    def _settle(self, batch: Batch, error: KafkaError) -> None:
        if error.is_stale_metadata:
            self.cluster.metadata.doubt(batch.partition)
        if error.code is ErrorCode.MESSAGE_TOO_LARGE and batch.records.count > 1:
            _log.info("%s: a batch of %d bytes is split", batch.partition, batch.records.size)
            self.accumulator.split(batch)
            return
        now_ms = self._now_ms()
        is_worth_it = error.is_retriable or (
            error.code in _SEQUENCE_ERRORS and self._may_renumber(batch)
        )
        if is_worth_it and batch.attempts <= self._settings.retries:
            batch.last_error = error
            if now_ms < batch.deadline_ms:
                ready_ms = now_ms + self._settings.retry_backoff_ms
                self.accumulator.retry(batch, error, ready_ms=ready_ms)
                return
            error = self._too_late(batch)
        self.accumulator.leave(batch)
        self._report(batch, error)

    def _may_renumber(self, batch: Batch) -> bool:
        """Whether a batch with a wrong number may come again: in its turn, or with another.

        Within a transaction numbers cannot begin anew: it must be aborted.
        """
        if self._transactions is not None and self.accumulator.is_oldest(batch):
            return False
        return self._settings.enable_idempotence

    def _deliver(self, batch: Batch, base_offset: int, append_time_ms: int) -> None:
        self.accumulator.leave(batch)
        batch.deliver(base_offset, append_time_ms)
        self._waiters.wake(SETTLED)

    def _too_late(self, batch: Batch) -> KafkaError:
        why = f": {batch.last_error}" if batch.last_error is not None else ""
        reason = f"{batch.partition}: not delivered in {self._settings.delivery_timeout_ms} ms{why}"
        return KafkaError(ErrorCode.REQUEST_TIMED_OUT, reason)

    def _report(self, batch: Batch, error: KafkaError) -> None:
        _log.warning("%d records are lost: %s", batch.records.count, error)
        if self._transactions is not None:
            self._transactions.transaction.fail_batch(error)
            self.accumulator.close()
        batch.fail(error)
        self._waiters.wake(SETTLED)

    def _fail_waiting(self, error: KafkaError) -> None:
        for batch in self.accumulator.expire(now_ms=2**63):
            self._report(batch, error)

    # Leaders

    def _refresh(self) -> None:
        if not self._is_refreshing:
            self._is_refreshing = True
            self._tasks.create_task(self._refresh_metadata())

    async def _refresh_metadata(self) -> None:
        try:
            await self.cluster.refresh_if_stale()
        except KafkaError as error:
            _log.info("no metadata: %s", error)
        await self.cluster.back_off()
        self._is_refreshing = False
        self.wake()

    def _now_ms(self) -> int:
        return self.cluster.clock.monotonic_ms()
