"""Lets records in that no open batch takes: finds their partition, waits for what they need."""

import asyncio
import threading
from array import array
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from moldau.client.connection.cluster import Cluster
from moldau.client.partitioner import Partitioner, another_partition, partition_of_key
from moldau.client.producer.accumulator import Accumulator, OutgoingRecord
from moldau.client.producer.batches import Batch
from moldau.client.producer.encoding import BatchRecords
from moldau.client.producer.sender import Sender
from moldau.client.producer.settlement import SETTLED
from moldau.client.settings import ProducerSettings
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.runtime.random import Random
from moldau.runtime.waiters import Waiters

if TYPE_CHECKING:
    from moldau.client.producer.intake import Receipt

_BULK_BATCH_BYTES = 512 << 10  # half of what brokers take by default


def bulk_batch_size(settings: ProducerSettings) -> int:
    """How large batches are that come whole: they need not wait to be filled."""
    large = min(_BULK_BATCH_BYTES, settings.max_request_size // 2)
    return min(max(settings.batch_size, large), settings.buffer_memory // 2)


class RecordAdmission:
    """Begins batches; what can be done without waiting may be done in any thread."""

    def __init__(
        self,
        sender: Sender,
        waiters: Waiters,
        random: Random,
        *,
        partitioner: Partitioner | None,
        check: Callable[[], None],
    ) -> None:
        self._cluster: Cluster = sender.cluster
        self._accumulator: Accumulator = sender.accumulator
        assert isinstance(sender.cluster.settings, ProducerSettings)
        self._settings: ProducerSettings = sender.cluster.settings
        self._sender = sender
        self._waiters = waiters
        self._random = random
        self._partitioner = partitioner
        self._check = check
        self._loop = asyncio.get_running_loop()
        self._thread_id = threading.get_ident()

    def admit(
        self, topic: str, record: OutgoingRecord, partition: int | None = None
    ) -> "Receipt | None":
        """Begin a batch with a record; None if that must wait, for the topic or for room."""
        receipt = self.admit_quietly(topic, record, partition)
        if receipt is not None:
            self.wake()
        return receipt

    def admit_quietly(
        self, topic: str, record: OutgoingRecord, partition: int | None = None
    ) -> "Receipt | None":
        """As `admit`, for a caller that sends the batch itself or wakes the sender."""
        self._check()
        self._check_size(record)
        partitions = self._cluster.metadata.partitions_of(topic)
        if not partitions:
            return None
        number = self._choose(topic, record.key, partitions) if partition is None else partition
        if number not in partitions:
            self.check_partition(topic, number)
        return self._accumulator.begin(
            TopicPartition(topic, number),
            record,
            partition_count=len(partitions),
            now_ms=self._cluster.clock.monotonic_ms(),
        )

    async def wait(
        self, topic: str, record: OutgoingRecord, partition: int | None = None
    ) -> "Receipt":
        """Wait up to `max.block.ms` until the record is let in."""
        while (receipt := self.admit(topic, record, partition)) is None:
            await self.wait_for_topic(topic)
            await self.wait_for_room(record.size_bytes)
        return receipt

    def now_ms(self) -> int:
        """The time of records that have none of their own."""
        return self._cluster.clock.now_ms()

    def check_partition(self, topic: str, partition: int) -> None:
        """Refuse a partition that a topic does not have."""
        partitions = self._cluster.metadata.partitions_of(topic)
        if partition not in partitions:
            reason = f"{topic} has no partition {partition}; it has {len(partitions)}"
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, reason)

    def choose_partition(self, topic: str) -> tuple[int, int]:
        """Where the next batch without keys goes, and how many partitions there are."""
        partitions = self._cluster.metadata.partitions_of(topic)
        return self._choose(topic, None, partitions), len(partitions)

    def choose_for_rows(
        self, topic: str, keys: Iterable[bytes | None]
    ) -> "dict[int, array[int]] | None":
        """Of records with these keys, which go to which partition; None if the keys' hashes say.

        A partitioner of the user is asked for each of them, as it is for records one by one.
        """
        if self._partitioner is None:
            return None
        partitions = self._cluster.metadata.partitions_of(topic)
        rows: dict[int, array[int]] = {}
        for row, key in enumerate(keys):
            number = self._partitioner(topic, key, partitions)
            if number not in rows:
                self.check_partition(topic, number)
            rows.setdefault(number, array("i")).append(row)
        return rows

    @property
    def bulk_batch_size(self) -> int:
        """How large batches are that come whole."""
        return bulk_batch_size(self._settings)

    def add(self, partition: TopicPartition, records: BatchRecords) -> Batch | None:
        """Take a whole batch, if there is room for it; any thread may bring it."""
        self._check()
        if not self._accumulator.has_room(records.size):
            return None
        now_ms = self._cluster.clock.monotonic_ms()
        batch = self._accumulator.add(partition, records, now_ms=now_ms)
        self.wake()
        return batch

    async def wait_to_add(self, partition: TopicPartition, records: BatchRecords) -> Batch:
        """Wait up to `max.block.ms` until there is room for a whole batch."""
        while (batch := self.add(partition, records)) is None:
            await self.wait_for_room(records.size)
        return batch

    async def wait_for_topic(self, topic: str) -> None:
        """Wait until the partitions of a topic are known."""
        if not self._cluster.metadata.partitions_of(topic):
            wait_s = self._settings.max_block_ms / 1000
            await self._cluster.wait_for_topic(topic, timeout_s=wait_s)

    async def wait_for_room(self, size_bytes: int) -> None:
        """Wait until the buffer has room for so much."""
        wait_s = self._settings.max_block_ms / 1000
        self._accumulator.waiting_count += 1
        try:
            has_room = await self._waiters.until(
                lambda: self._accumulator.has_room(size_bytes), keys=[SETTLED], timeout_s=wait_s
            )
        finally:
            self._accumulator.waiting_count -= 1
        self._check()
        if not has_room:
            reason = f"buffer.memory was full for {wait_s:g} s"
            raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, reason)

    def wake(self) -> None:
        """Let the sender look at what there is."""
        if threading.get_ident() == self._thread_id:
            self._sender.take_notice()
        else:
            self._loop.call_soon_threadsafe(self._sender.take_notice)

    def _choose(self, topic: str, key: bytes | None, partitions: list[int]) -> int:
        if self._partitioner is not None:
            return self._partitioner(topic, key, partitions)
        if key is not None:
            return partition_of_key(key, partitions)
        # Whole batches instead of a little of each: the next is due when one is full or sent.
        current = self._accumulator.sticky_partition(topic)
        if current is not None and len(partitions) == 1:
            return current
        number = another_partition(self._random, current, partitions)
        self._accumulator.stick_to(topic, number, len(partitions))
        return number

    def _check_size(self, record: OutgoingRecord) -> None:
        if record.size_bytes > min(self._settings.max_request_size, self._settings.buffer_memory):
            reason = f"a record of about {record.size_bytes} bytes exceeds max.request.size"
            raise KafkaError(ErrorCode.MESSAGE_TOO_LARGE, reason)
