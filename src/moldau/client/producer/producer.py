"""The producer: writes records to topics."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Generic, Unpack

from moldau.client import java_classes
from moldau.client.connection.cluster import Cluster
from moldau.client.group.coordinator import TRANSACTION, Coordinator
from moldau.client.kinds import SentKey, SentValue
from moldau.client.lifetime import Lifetime, Managed
from moldau.client.metrics import Listener, Metrics, Reporter
from moldau.client.options import ProducerOptions
from moldau.client.partitioner import Partitioner
from moldau.client.producer.accumulator import Accumulator, OutgoingRecord
from moldau.client.producer.admission import RecordAdmission
from moldau.client.producer.batches import intake
from moldau.client.producer.sender import Sender
from moldau.client.producer.sent_table import SentTable
from moldau.client.producer.settlement import SETTLED
from moldau.client.producer.transaction import TransactionPhase
from moldau.client.producer.transactions import GroupMetadata, TransactionClient
from moldau.client.record import Headers, RecordMetadata
from moldau.client.settings import ProducerSettings, read_settings
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.runtime.random import SystemRandom
from moldau.runtime.waiters import Waiters

if TYPE_CHECKING:
    from moldau.client.producer import intake as source_of_intake

    Receipt = source_of_intake.Receipt
else:
    Receipt = intake.Receipt

Serializer = Callable[[SentValue], bytes]
HeaderHook = Callable[[str, Headers], Headers]
"""Topic and headers of a record that is being sent; returns the headers that it shall have."""
as_bytes: Serializer[object] = intake.as_bytes


class Producer(Managed, Generic[SentKey, SentValue]):
    """Writes records in batches, each of them once and in order.

        async with Producer(bootstrap_servers="localhost:9092") as producer:
            stored = await producer.send("orders", b"value", key=b"key")
            print((await stored).offset)

    Settings are Kafka's, as keywords (`linger_ms=5`) or as a mapping with Kafka's own names
    (`{"linger.ms": 5}`). Leaving the block sends what is still to be sent.
    """

    def __init__(
        self,
        settings: Mapping[str, object] | None = None,
        *,
        key_serializer: Serializer[SentKey] | None = None,
        value_serializer: Serializer[SentValue] | None = None,
        partitioner: Partitioner | None = None,
        header_hook: HeaderHook | None = None,
        on_metrics: Listener | None = None,
        **options: Unpack[ProducerOptions],
    ) -> None:
        plain = java_classes.without(settings, java_classes.OF_PRODUCERS)
        self.settings = read_settings(ProducerSettings, plain, options)
        find = java_classes.serializer
        key_serializer = find(settings, "key.serializer", key_serializer or as_bytes, as_bytes)
        value_serializer = find(
            settings, "value.serializer", value_serializer or as_bytes, as_bytes
        )
        partitioner = java_classes.partitioner(settings, partitioner)
        self._serialize_key = key_serializer
        self._serialize_value = value_serializer
        self._partitioner = partitioner
        self._header_hook = header_hook
        self._on_metrics = on_metrics
        has_hooks = partitioner is not None or header_hook is not None
        self.is_plain = not has_hooks and key_serializer is value_serializer is as_bytes
        """Whether open batches take records as the user gives them."""
        self._accumulator = Accumulator(self.settings)
        self.append = self._accumulator.append
        self._waiters = Waiters()
        self._lifetime = Lifetime("producer")
        self._transactions: TransactionClient | None = None
        self._cluster: Cluster
        self.sender: Sender
        self.admission: RecordAdmission

    async def start(self) -> None:
        """Connect; a broker that is not up yet is waited for, `max.block.ms` long.

        With a `transactional.id`, its previous producer cannot commit anything from now on.
        """
        cluster = self._cluster = Cluster(self.settings)
        if self.settings.transactional_id:
            name = self.settings.transactional_id
            self._transactions = TransactionClient(Coordinator(cluster, name, TRANSACTION))
        self.sender = Sender(cluster, self._accumulator, self._waiters, self._transactions)
        self._accumulator.settle_here()
        self.admission = RecordAdmission(
            self.sender,
            self._waiters,
            SystemRandom(),
            partitioner=self._partitioner,
            check=self._check_may_send,
        )
        await self._lifetime.begin(cluster, self._work)
        self._lifetime.when_work_ends(self._give_up)
        if self._transactions is not None:
            try:
                await self._transactions.begin()
            except BaseException:
                await self.close()
                raise

    async def _work(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.sender.run())
            if self._on_metrics is not None:
                interval_ms = self.settings.metrics_sample_window_ms
                tasks.create_task(Reporter(self.metrics, self._on_metrics, interval_ms).run())

    def metrics(self) -> Metrics:
        """What was done so far, and how it goes, by Kafka's names; any thread may ask."""
        self._lifetime.check()
        return {**self._cluster.traffic.metrics(), **self._accumulator.metrics()}

    async def send(
        self,
        topic: str,
        value: SentValue | None = None,
        *,
        key: SentKey | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: Headers = (),
    ) -> "Receipt":
        """Take a record, and return what can be awaited for its place in the log.

        Returns at once, unless the topic is new or the buffer is full: then it waits up to
        `max.block.ms`. A caller that does not need the result need not await it; failures are
        logged too.
        """
        if self.is_plain:
            receipt: Receipt | None = self.append(
                topic, value, key, partition, timestamp_ms, headers
            )
            if receipt is not None:
                return receipt
        record = self.outgoing(topic, key, value, timestamp_ms, headers)
        return await self.admission.wait(topic, record, partition)

    def outgoing(
        self,
        topic: str,
        key: SentKey | None,
        value: SentValue | None,
        timestamp_ms: int | None = None,
        headers: Headers = (),
    ) -> OutgoingRecord:
        """A record as it is sent, by now if it has no time."""
        self._check_may_send()
        if self._header_hook is not None:
            headers = self._header_hook(topic, headers)
        return OutgoingRecord(
            timestamp_ms=self._cluster.clock.now_ms() if timestamp_ms is None else timestamp_ms,
            key=None if key is None else self._serialize_key(key),
            value=None if value is None else self._serialize_value(value),
            headers=headers,
        )

    async def send_and_wait(
        self,
        topic: str,
        value: SentValue | None = None,
        *,
        key: SentKey | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: Headers = (),
    ) -> RecordMetadata:
        """Write one record, and return its place in the log."""
        receipt = await self.send(
            topic,
            value,
            key=key,
            partition=partition,
            timestamp_ms=timestamp_ms,
            headers=headers,
        )
        return await receipt

    async def send_table(
        self,
        topic: str,
        table: object,
        *,
        value: str | None = "value",
        key: str | None = None,
        timestamp: str | None = None,
        headers: str | None = None,
        partition: int | None = None,
    ) -> SentTable:
        """Take the rows of an Arrow table, or of anything with Arrow's interface, as records.

        The names are those of columns: of binaries or texts, of times or milliseconds, and of
        lists of names and values. Waits while the buffer is full; needs `moldau[arrow]`.
        """
        from moldau.client.arrow import sending  # noqa: PLC0415 - needs an extra

        self._check_may_send()
        await self.admission.wait_for_topic(topic)
        columns = sending.TableColumns(value, key, timestamp, headers)
        sent = SentTable()
        for number, records in sending.pieces(self.admission, topic, table, columns, partition):
            target = TopicPartition(topic, number)
            sent.add(await self.admission.wait_to_add(target, records))
        return sent

    async def flush(self, timeout_s: float | None = None) -> None:
        """Return when all that was sent before is stored or has failed."""
        self._accumulator.waiting_count += 1
        try:
            await self._flush(timeout_s)
        finally:
            self._accumulator.waiting_count -= 1

    async def _flush(self, timeout_s: float | None) -> None:
        batches = list(self._accumulator)
        if not batches:
            return
        if timeout_s is None:
            timeout_s = self.settings.delivery_timeout_ms / 1000
        self._accumulator.flushing_count += 1
        self.sender.wake()
        try:
            await self._waiters.until(
                lambda: all(batch.is_over for batch in batches) or not self._lifetime.is_working,
                keys=[SETTLED],
                timeout_s=timeout_s,
            )
        finally:
            self._accumulator.flushing_count -= 1
        if not all(batch.is_over for batch in batches):
            raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, "not all records could be stored")

    # Transactions

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """All records that are sent in this block become visible together, or none.

            async with producer.transaction():
                await producer.send("orders", b"value")

        An exception aborts the transaction and goes on. If it cannot be committed, the error
        says whether it is worth another try; after ProducerFenced only a new producer can go on.
        """
        await self.begin_transaction()
        try:
            yield
            await self.commit_transaction()
        except BaseException:
            await self.abort_unless_lost()
            raise

    async def begin_transaction(self) -> None:
        """Open a transaction: records can be sent until it is committed or aborted."""
        self._lifetime.check()
        self._required_transactions.transaction.begin()

    async def commit_transaction(self) -> None:
        """Make all records of the transaction visible, once they are all stored.

        After RequestTimedOut it is unknown whether that has happened: commit again.
        """
        transactions = self._required_transactions
        transactions.transaction.commit()
        self._accumulator.close()
        await self.flush()
        if transactions.transaction.phase is not TransactionPhase.COMMITTING:
            transactions.transaction.check_open()  # which says what went wrong
        await transactions.end()

    async def abort_transaction(self) -> None:
        """Take back all records of the transaction."""
        transactions = self._required_transactions
        transactions.transaction.abort()
        self._accumulator.close()
        for batch in self._accumulator.abandon():
            reason = f"{batch.partition}: the transaction was aborted before this was sent"
            batch.fail(KafkaError(ErrorCode.TRANSACTION_ABORTABLE, reason))
        await self.flush()
        await transactions.end()

    async def abort_unless_lost(self) -> None:
        """Abort the transaction, if there is still something to abort."""
        if self._required_transactions.transaction.can_abort:
            await self.abort_transaction()

    async def send_offsets_to_transaction(
        self, offsets: Mapping[TopicPartition, int], group: GroupMetadata | str
    ) -> None:
        """Commit offsets of a group if, and only if, the transaction is committed.

        With `consumer.group_metadata()` instead of the group's name, a member that was replaced
        in its group meanwhile cannot commit.
        """
        member = GroupMetadata(group) if isinstance(group, str) else group
        await self._required_transactions.commit_offsets(offsets, member)

    @property
    def _required_transactions(self) -> TransactionClient:
        if self._transactions is None:
            raise RuntimeError("transactions need a transactional_id, and a started producer")
        return self._transactions

    # The end

    async def close(self, timeout_s: float | None = None) -> None:
        """Send what is still to be sent, then hang up; an open transaction is aborted."""
        if not self._lifetime.close():
            return
        self._accumulator.close()
        try:
            await self._finish(timeout_s)
        finally:
            try:
                await self._lifetime.stop_working()
            finally:  # cancelled twice, as by Ctrl-C and then by the end of the loop
                self._cluster.close()

    async def _finish(self, timeout_s: float | None) -> None:
        transactions = self._transactions
        if transactions is None:
            await self.flush(timeout_s)
        elif transactions.transaction.can_abort:
            await self.abort_transaction()

    async def partitions_of(self, topic: str) -> list[int]:
        """The partitions of a topic."""
        self._lifetime.check()
        wait_s = self.settings.max_block_ms / 1000
        await self._cluster.wait_for_topic(topic, timeout_s=wait_s)
        return self._cluster.metadata.partitions_of(topic)

    def _give_up(self) -> None:
        """The sender has ended: what is left is lost."""
        self._accumulator.close()
        for batch in list(self._accumulator):
            reason = f"{batch.partition}: the producer was closed before this was stored"
            batch.fail(KafkaError(ErrorCode.REQUEST_TIMED_OUT, reason))
        self._waiters.wake(SETTLED)

    def _check_may_send(self) -> None:
        self._lifetime.check()
        if self._transactions is not None:
            self._transactions.transaction.check_open()
