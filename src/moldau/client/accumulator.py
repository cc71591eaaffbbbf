"""Collects records into batches per partition, within a bound of memory."""

from collections.abc import Iterator
from typing import NamedTuple

from moldau.client.batches import Batch, PartitionBatches, Receipt
from moldau.client.encoding import Headers
from moldau.client.settings import ProducerSettings
from moldau.model import TopicPartition

# Lengths, attributes and deltas of a record, and what a batch has before its records.
RECORD_OVERHEAD_BYTES = 21
HEADER_OVERHEAD_BYTES = 6
BATCH_OVERHEAD_BYTES = 61


class OutgoingRecord(NamedTuple):
    """A record as bytes, with its time."""

    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()

    @property
    def size_bytes(self) -> int:
        """About what it takes in a batch, and never less."""
        size = RECORD_OVERHEAD_BYTES + len(self.key or b"") + len(self.value or b"")
        for name, value in self.headers:
            size += HEADER_OVERHEAD_BYTES + 4 * len(name) + len(value or b"")
        return size


class Accumulator:
    """All batches of a producer; what it holds counts against `buffer.memory` until it is settled.

    A batch is ready when it is full, when its linger is over, or while somebody flushes.
    """

    def __init__(self, settings: ProducerSettings) -> None:
        self._settings = settings
        self._partitions: dict[TopicPartition, PartitionBatches] = {}
        self._used_bytes = 0
        self.flushing_count = 0

    def __iter__(self) -> Iterator[Batch]:
        for partition in self._partitions.values():
            yield from partition

    def __getitem__(self, partition: TopicPartition) -> PartitionBatches:
        return self._partitions[partition]

    @property
    def used_bytes(self) -> int:
        """How much of the buffer is taken."""
        return self._used_bytes

    def has_room(self, size_bytes: int) -> bool:
        """Whether a record of this size can be taken now."""
        return self._used_bytes + size_bytes <= self._settings.buffer_memory

    def append(
        self,
        partition: TopicPartition,
        record: OutgoingRecord,
        receipt: Receipt | None,
        *,
        now_ms: int,
    ) -> bool:
        """Take a record; returns whether there may be something to send, or a time to wait for."""
        batches = self._partitions.get(partition)
        if batches is None:
            batches = self._partitions[partition] = PartitionBatches(partition)
        size_bytes = record.size_bytes
        batch = batches.open_batch
        needs_new = batch is None or batch.size_bytes + size_bytes > self._settings.batch_size
        if batch is None or needs_new:
            batch = Batch(
                partition,
                deadline_ms=now_ms + self._settings.delivery_timeout_ms,
                ready_ms=now_ms + self._settings.linger_ms,
                size_bytes=BATCH_OVERHEAD_BYTES,
            )
            batches.append(batch)
        rows = batch.rows
        if record.headers:
            rows.headers[len(rows)] = record.headers
        rows.timestamps.append(record.timestamp_ms)
        rows.keys.append(record.key)
        rows.values.append(record.value)
        batch.receipts.append(receipt)
        batch.size_bytes += size_bytes
        self._used_bytes += size_bytes
        return needs_new or batch.size_bytes >= self._settings.batch_size

    def ready(self, *, now_ms: int) -> list[PartitionBatches]:
        """The partitions whose next batch may be sent now."""
        return [
            batches
            for batches in self._partitions.values()
            if batches.may_send() and self._ready_ms(batches) <= now_ms
        ]

    def next_deadline_ms(self) -> int | None:
        """When something becomes ready or expires without anything else happening."""
        times = [batch.deadline_ms for batch in self]
        times += [self._ready_ms(each) for each in self._partitions.values() if each.may_send()]
        return min(times, default=None)

    def expire(self, *, now_ms: int) -> list[Batch]:
        """Take out what waited too long; whoever asked has to tell it so."""
        late = [
            batch
            for batches in self._partitions.values()
            for batch in batches.expire(now_ms=now_ms)
        ]
        for batch in late:
            self.release(batch)
        return late

    def release(self, batch: Batch) -> None:
        """Give back the memory of a batch that is settled."""
        self._used_bytes -= batch.size_bytes - BATCH_OVERHEAD_BYTES

    def _ready_ms(self, batches: PartitionBatches) -> int:
        batch = batches.oldest_waiting
        assert batch is not None, "something waits to be sent"
        if batch.attempts > 0:
            return batch.ready_ms  # the backoff of a retry, which nothing shortens
        is_full = batches.has_full_batch or batch.size_bytes >= self._settings.batch_size
        return 0 if is_full or self.flushing_count else batch.ready_ms
