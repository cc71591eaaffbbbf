"""A producer within a transaction that the driver began: one for each task of a batch."""

from collections.abc import Callable
from types import TracebackType
from typing import Self

import pyarrow as pa

from moldau.client.arrow.sending import TableColumns, pieces
from moldau.client.blocking.loop_thread import LoopThread
from moldau.client.connection.cluster import Cluster
from moldau.client.group.coordinator import TRANSACTION, Coordinator
from moldau.client.lifetime import Lifetime
from moldau.client.producer.accumulator import Accumulator
from moldau.client.producer.admission import RecordAdmission
from moldau.client.producer.batches import Batch
from moldau.client.producer.sender import Sender
from moldau.client.producer.sent_table import SentTable
from moldau.client.producer.transactions import TransactionClient
from moldau.client.settings import ProducerSettings
from moldau.model import TopicPartition
from moldau.records.batch import Producer as ProducerIdentity
from moldau.records.building import BuiltRecords
from moldau.runtime.random import SystemRandom
from moldau.runtime.waiters import Waiters


class JoinedTransaction(TransactionClient):
    """A transaction that another process began and will end; partitions are added here.

    The first batch of a partition goes alone until it is stored. Brokers may refuse it for a
    moment, while they learn of the transaction, and would take a later one for the first.
    """

    def __init__(
        self, coordinator: Coordinator, identity: ProducerIdentity, accumulator: Accumulator
    ) -> None:
        super().__init__(coordinator)
        self.identity = identity
        self.transaction.begin()
        self._accumulator = accumulator
        self._first_batches: dict[TopicPartition, Batch] = {}

    def has(self, partition: TopicPartition) -> bool:
        if not super().has(partition):
            return False
        next_batch = self._accumulator[partition].oldest_waiting
        assert next_batch is not None, "the sender asks for what is ready"
        first, _ = self._first_batches.setdefault(partition, next_batch).of_row(0)
        return first.is_settled or next_batch is first


class JoinedProducer:
    """Sends Arrow batches to partitions that no other task writes to; for code that blocks."""

    def __init__(self, settings: ProducerSettings, identity: ProducerIdentity) -> None:
        assert settings.transactional_id, "of the transaction"
        self._settings = settings
        self._identity = identity
        self._lifetime = Lifetime("producer")
        self._admission: RecordAdmission
        self._thread = LoopThread("moldau-joined-producer")
        try:
            self._thread.call(self._start())
        except BaseException:
            self._thread.close()
            raise

    def send(
        self, partition: TopicPartition, rows: pa.RecordBatch, columns: TableColumns
    ) -> SentTable:
        """Take rows for a partition; blocks while the buffer is full."""
        admission = self._admission
        topic, number = partition
        self._thread.call(admission.wait_for_topic(topic))
        sent = SentTable()
        for _, records in pieces(admission, topic, rows, columns, number):
            sent.add(self._add(partition, records))
        return sent

    def send_batch(self, partition: TopicPartition, records: BuiltRecords) -> SentTable:
        """Take a batch that was encoded before; blocks while the buffer is full."""
        topic, number = partition
        self._thread.call(self._admission.wait_for_topic(topic))
        self._admission.check_partition(topic, number)
        sent = SentTable()
        sent.add(self._add(partition, records))
        return sent

    def _add(self, partition: TopicPartition, records: BuiltRecords) -> Batch:
        batch = self._admission.add(partition, records)
        if batch is None:
            batch = self._thread.call(self._admission.wait_to_add(partition, records))
        return batch

    def close(self) -> None:
        """Hang up; what was not waited for may be lost."""
        if not self._thread.is_closed:
            try:
                self._thread.call(self._stop())
            finally:
                self._thread.close()

    async def _start(self) -> None:
        cluster = Cluster(self._settings)
        accumulator = Accumulator(self._settings)
        waiters = Waiters()
        coordinator = Coordinator(cluster, self._settings.transactional_id, TRANSACTION)
        transactions = JoinedTransaction(coordinator, self._identity, accumulator)
        sender = Sender(cluster, accumulator, waiters, transactions)
        accumulator.settle_here()
        check: Callable[[], None] = transactions.transaction.check_open
        self._admission = RecordAdmission(
            sender, waiters, SystemRandom(), partitioner=None, check=check
        )
        await self._lifetime.begin(cluster, sender.run)

    async def _stop(self) -> None:
        if self._lifetime.close():
            await self._lifetime.stop_working()
            self._lifetime.cluster.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
