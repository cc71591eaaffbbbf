"""Collects records into batches per partition, within a bound of memory."""

import os
import threading
import time
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from moldau.client.metrics import Metrics, Sent
from moldau.client.producer.batches import Batch, PartitionBatches, intake
from moldau.client.producer.encoding import BatchRecords
from moldau.client.record import Headers
from moldau.client.settings import ProducerSettings
from moldau.errors import KafkaError
from moldau.model import TopicPartition
from moldau.records.batch import RECORDS_POSITION, Producer
from moldau.records.building import build

if TYPE_CHECKING:
    from moldau.client.producer.intake import Intake, OpenBuffers, Receipt
    from moldau.records.kernel_build import RecordBuffer

# Lengths, attributes and deltas of a record, and what a header has beside its name and value.
RECORD_OVERHEAD_BYTES = 21
HEADER_OVERHEAD_BYTES = 6


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

    A batch is ready when it is full, when its linger is over, or during a flush. Threads
    that send share it with the one that runs the event loop.
    """

    def __init__(self, settings: ProducerSettings) -> None:
        self._settings = settings
        self._partitions: dict[TopicPartition, PartitionBatches] = {}
        self._lock = threading.Lock()
        self._thread_id = threading.get_ident()
        self._intake: Intake = intake.Intake(
            settings.buffer_memory, time.time_ns, self._lock.acquire, self._lock.release
        )
        self.append = self._intake.append
        """Takes a record into an open batch, and is as quick as can be; see intake.py."""
        self.sent = Sent()
        self.flushing_count = 0
        self.waiting_count = 0
        """How many wait in the event loop for batches to be settled."""
        _accumulators.add(self)

    def __iter__(self) -> Iterator[Batch]:
        with self._lock:
            return iter([batch for each in self._partitions.values() for batch in each])

    def __getitem__(self, partition: TopicPartition) -> PartitionBatches:
        return self._partitions[partition]

    def metrics(self) -> Metrics:
        """What became of records, and how much of the buffer is taken."""
        size = self._settings.buffer_memory
        return {
            **self.sent.metrics(),
            "buffer-total-bytes": size,
            "buffer-available-bytes": size - self.used_bytes,
        }

    @property
    def used_bytes(self) -> int:
        """How much of the buffer is taken."""
        return self._intake.used_bytes

    def has_room(self, size_bytes: int) -> bool:
        """Whether records of this size can be taken now."""
        return self._intake.used_bytes + size_bytes <= self._settings.buffer_memory

    def settle_here(self) -> None:
        """Say that batches are settled in the current thread."""
        self._thread_id = threading.get_ident()

    # Records come in

    def sticky_partition(self, topic: str) -> int | None:
        """Where records of a topic without a key go, if that was said."""
        found = self._intake.topics.get(topic)
        return None if found is None or found.sticky_partition < 0 else found.sticky_partition

    def stick_to(self, topic: str, partition: int, partition_count: int) -> None:
        """Let records of a topic without a key go here."""
        with self._lock:
            self._open_buffers(topic, partition_count).sticky_partition = partition

    def begin(
        self,
        partition: TopicPartition,
        record: OutgoingRecord,
        *,
        partition_count: int,
        now_ms: int,
    ) -> "Receipt | None":
        """Take a record as the first of a batch, if it does not fit into the open one.

        None if there is no room for it.
        """
        with self._lock:
            found = self._open_buffers(partition.topic, partition_count)
            open_buffer = found.buffers[partition.partition]
            if open_buffer is not None:
                receipt = self._append_to(open_buffer, record)
                if receipt is not None:
                    return receipt
            buffer: RecordBuffer = build.RecordBuffer(self._settings.batch_size)
            batch = self._batch(partition, buffer, now_ms=now_ms)
            buffer.owner = batch
            receipt = self._append_to(buffer, record)
            if receipt is not None:
                found.buffers[partition.partition] = buffer
                self._batches_of(partition).append(batch)
            return receipt

    def add(self, partition: TopicPartition, records: BatchRecords, *, now_ms: int) -> Batch:
        """Take a batch that is already full."""
        with self._lock:
            batch = self._batch(partition, records, now_ms=now_ms)
            self._intake.used_bytes += records.size - RECORDS_POSITION
            self._close(self._batches_of(partition).open_batch)
            batch.ready_ms = now_ms
            self._batches_of(partition).append(batch)
            return batch

    def close(self) -> None:
        """Take no more records into the open batches."""
        with self._lock:
            self._intake.topics.clear()

    def _append_to(self, buffer: "RecordBuffer", record: OutgoingRecord) -> "Receipt | None":
        row, batch = buffer.count, buffer.owner
        assert isinstance(batch, Batch), "buffers belong to batches"
        room = self._settings.buffer_memory - self._intake.used_bytes
        size = buffer.append(record.timestamp_ms, record.key, record.value, record.headers, room)
        if size <= 0:
            return None
        self._intake.used_bytes += size
        return batch.receipt(row, record.timestamp_ms)

    def _batch(self, partition: TopicPartition, records: BatchRecords, *, now_ms: int) -> Batch:
        return Batch(
            partition,
            records,
            deadline_ms=now_ms + self._settings.delivery_timeout_ms,
            ready_ms=now_ms + self._settings.linger_ms,
            thread_id=self._thread_id,
        )

    def _batches_of(self, partition: TopicPartition) -> PartitionBatches:
        batches = self._partitions.get(partition)
        if batches is None:
            batches = self._partitions[partition] = PartitionBatches(partition)
        return batches

    def _open_buffers(self, topic: str, partition_count: int) -> "OpenBuffers":
        found = self._intake.topics.get(topic)
        if found is None or found.partition_count < partition_count:
            larger: OpenBuffers = intake.OpenBuffers(partition_count)
            if found is not None:
                larger.buffers[: found.partition_count] = found.buffers
                larger.sticky_partition = found.sticky_partition
            found = self._intake.topics[topic] = larger
        return found

    def _close(self, batch: Batch | None) -> None:
        """Take no more records into a batch."""
        found = None if batch is None else self._intake.topics.get(batch.partition.topic)
        if batch is None or found is None:
            return
        buffer = found.buffers[batch.partition.partition]
        if buffer is not None and buffer.owner is batch:
            found.buffers[batch.partition.partition] = None
            buffer.owner = None

    # Batches go out

    def ready(self, *, now_ms: int) -> list[PartitionBatches]:
        """The partitions whose next batch may be sent now."""
        with self._lock:
            return [
                batches
                for batches in self._partitions.values()
                if batches.may_send() and self._ready_ms(batches) <= now_ms
            ]

    def take(self, batches: PartitionBatches, producer: Producer | None) -> Batch:
        """Send the next batch of a partition; see `PartitionBatches.take`."""
        with self._lock:
            self._close(batches.oldest_waiting)
            return batches.take(producer)

    def take_alone(self, batch: Batch, producer: Producer | None) -> bool:
        """Send a batch if it is the only one of its partition, and no other until it is settled.

        Two connections could bring a broker the second batch before the first.
        """
        with self._lock:
            batches = self._partitions[batch.partition]
            if not batches.is_alone(batch):
                return False
            self._close(batch)
            batches.take(producer)
            batches.is_exclusive = True
            return True

    def leave(self, batch: Batch) -> bool:
        """A batch in flight has failed for good: give back its memory.

        Returns whether it held back another batch.
        """
        with self._lock:
            self._release(batch)
            return self._partitions[batch.partition].leave(batch)

    def store(self, batch: Batch) -> bool:
        """A batch in flight is delivered: give back its memory.

        Returns whether it held back another batch.
        """
        with self._lock:
            self._release(batch)
            self.sent.batches += 1
            self.sent.records += batch.records.count
            self.sent.bytes += batch.records.size
            return self._partitions[batch.partition].leave(batch)

    def retry(self, batch: Batch, error: KafkaError, *, ready_ms: int) -> None:
        """A batch in flight must be sent again."""
        with self._lock:
            self._partitions[batch.partition].retry(batch, error, ready_ms=ready_ms)
            self.sent.retries += batch.records.count

    def split(self, batch: Batch) -> None:
        """A batch in flight is too large: it must be sent in parts."""
        with self._lock:
            self._release(batch)
            for part in self._partitions[batch.partition].split(batch):
                self._intake.used_bytes += part.records.size - RECORDS_POSITION

    def next_deadline_ms(self) -> int | None:
        """When something becomes ready or expires without anything else happening."""
        with self._lock:
            times = [batch.deadline_ms for each in self._partitions.values() for batch in each]
            times += [self._ready_ms(each) for each in self._partitions.values() if each.may_send()]
            return min(times, default=None)

    def expire(self, *, now_ms: int) -> list[Batch]:
        """Take out what waited too long; the caller has to fail it."""
        with self._lock:
            late = [
                batch
                for batches in self._partitions.values()
                for batch in batches.expire(now_ms=now_ms)
            ]
            self._drop(late)
            return late

    def abandon(self) -> list[Batch]:
        """Take out what was never sent; the caller has to fail it."""
        with self._lock:
            unsent = [batch for batches in self._partitions.values() for batch in batches.abandon()]
            self._drop(unsent)
            return unsent

    def is_oldest(self, batch: Batch) -> bool:
        """Whether all batches of the same partition before this one are settled."""
        with self._lock:
            return self._partitions[batch.partition].is_oldest(batch)

    def is_overtaking(self, batch: Batch) -> bool:
        """Whether an older batch of the same partition waits to be sent again."""
        with self._lock:
            return self._partitions[batch.partition].is_overtaking(batch)

    def _drop(self, batches: list[Batch]) -> None:
        for batch in batches:
            self._close(batch)
            self._release(batch)

    def _release(self, batch: Batch) -> None:
        self._intake.used_bytes -= batch.records.size - RECORDS_POSITION

    def _ready_ms(self, batches: PartitionBatches) -> int:
        batch = batches.oldest_waiting
        assert batch is not None, "something waits to be sent"
        if batch.attempts > 0:
            return batch.ready_ms  # the backoff of a retry, which nothing shortens
        is_full = batches.has_full_batch or batch.records.size >= self._settings.batch_size
        return 0 if is_full or self.flushing_count else batch.ready_ms


# In a child process no sender runs: there must be no open batch that takes records in vain, and no
# lock of a thread that is not there.
_accumulators: weakref.WeakSet[Accumulator] = weakref.WeakSet()


def _close_after_fork() -> None:
    for accumulator in _accumulators:
        accumulator._lock._at_fork_reinit()  # type: ignore[attr-defined]
        accumulator._intake.topics.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_after_fork)
