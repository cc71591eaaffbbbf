"""Batches on their way from a producer to one partition, in order.

A batch is *open* (the last one, still filling), *waiting*, or *in flight*; it leaves when it is
delivered or has failed. With idempotence it gets its sequence when it is first sent and keeps it
for every retry, so that the broker can tell a retry from a new batch. While a retry waits, only
the oldest batch may be sent: the broker would refuse the others.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from moldau.client.encoding import Rows
from moldau.client.record import RecordMetadata
from moldau.errors import ErrorCode, KafkaError
from moldau.model import NO_TIMESTAMP, TopicPartition
from moldau.records.batch import NO_PRODUCER, SEQUENCE_COUNT, Producer

UNKNOWN_OFFSET = -1


class Receipt(Protocol):
    """Where the outcome of a record goes; an asyncio future is one."""

    def done(self) -> bool:
        """Whether nobody waits any more."""

    def set_result(self, result: RecordMetadata, /) -> None:
        """The record is stored."""

    def set_exception(self, exception: BaseException, /) -> None:
        """The record is lost."""


@dataclass(slots=True, eq=False)
class Batch:
    """Records that travel together."""

    partition: TopicPartition
    deadline_ms: int
    ready_ms: int
    """When it need not wait for more records, or may be tried again."""
    rows: Rows = field(default_factory=Rows)
    receipts: list[Receipt | None] = field(default_factory=list)
    size_bytes: int = 0
    attempts: int = 0
    last_error: KafkaError | None = None
    producer: Producer = NO_PRODUCER
    order: int = 0
    """Its place among all batches of its partition."""
    is_settled: bool = False
    """Whether it is delivered or has failed."""

    def deliver(self, base_offset: int, append_time_ms: int) -> None:
        """Tell whoever waits where the records are."""
        self.is_settled = True
        for row, receipt in enumerate(self.receipts):
            if receipt is not None and not receipt.done():
                offset = base_offset if base_offset == UNKNOWN_OFFSET else base_offset + row
                timestamp = self.rows.timestamps[row]
                if append_time_ms != NO_TIMESTAMP:
                    timestamp = append_time_ms
                receipt.set_result(RecordMetadata(*self.partition, offset, timestamp))

    def fail(self, error: KafkaError) -> None:
        """Tell whoever waits that the records are lost."""
        self.is_settled = True
        for receipt in self.receipts:
            if receipt is not None and not receipt.done():
                receipt.set_exception(KafkaError(error.code, str(error)))


class PartitionBatches:
    """The batches of one partition, oldest first."""

    def __init__(self, partition: TopicPartition) -> None:
        self.partition = partition
        self._waiting: deque[Batch] = deque()
        self._in_flight: list[Batch] = []
        self._count = 0
        self._epoch = 0
        self._next_sequence = 0
        self._is_renumbering = False

    def __bool__(self) -> bool:
        return bool(self._waiting or self._in_flight)

    def __iter__(self) -> Iterator[Batch]:
        return iter((*self._in_flight, *self._waiting))

    @property
    def open_batch(self) -> Batch | None:
        """The one that may take more records: the last, if it was never sent."""
        if self._waiting and self._waiting[-1].attempts == 0:
            return self._waiting[-1]
        return None

    @property
    def oldest_waiting(self) -> Batch | None:
        """The next to be sent, if anything is to be sent."""
        return self._waiting[0] if self._waiting else None

    @property
    def has_full_batch(self) -> bool:
        """Whether a batch waits that can take no more."""
        return len(self._waiting) > 1

    def append(self, batch: Batch) -> None:
        """Begin a new batch."""
        self._count += 1
        batch.order = self._count
        self._waiting.append(batch)

    def may_send(self) -> bool:
        """Whether the next batch may be sent without overtaking another."""
        if not self._waiting:
            return False
        if self._is_renumbering:
            return not self._in_flight
        # A retry must have nothing older in flight, and nothing new may overtake a retry.
        return self._waiting[0].attempts == 0 or not self._in_flight

    def take(self, producer: Producer | None) -> Batch:
        """Send the next batch; `producer` says who numbers batches, None that nobody does."""
        if self._is_renumbering:
            self._renumber()
        batch = self._waiting.popleft()
        batch.attempts += 1
        if producer is not None and batch.producer == NO_PRODUCER:
            batch.producer = Producer(
                producer.producer_id, producer.epoch + self._epoch, self._next_sequence
            )
            self._next_sequence = (self._next_sequence + len(batch.rows)) % SEQUENCE_COUNT
        self._in_flight.append(batch)
        return batch

    def leave(self, batch: Batch) -> None:
        """The batch in flight is delivered or has failed for good."""
        self._in_flight.remove(batch)

    def retry(self, batch: Batch, error: KafkaError, *, ready_ms: int) -> None:
        """The batch in flight must be sent again, before those that are younger."""
        is_oldest = all(each.order >= batch.order for each in self)
        self._in_flight.remove(batch)
        batch.ready_ms = ready_ms
        place = sum(1 for each in self._waiting if each.order < batch.order)
        self._waiting.insert(place, batch)
        if is_oldest and error.code in (
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
            ErrorCode.UNKNOWN_PRODUCER_ID,
        ):
            # All before it is settled, so its number is wrong for good: something older failed,
            # or the broker lost it. It was certainly not written (KIP-360).
            self._is_renumbering = True

    def expire(self, *, now_ms: int) -> list[Batch]:
        """Take out the waiting batches whose time is up."""
        late = [batch for batch in self._waiting if batch.deadline_ms <= now_ms]
        for batch in late:
            self._waiting.remove(batch)
        return late

    def _renumber(self) -> None:
        """Begin a new epoch for this partition: the broker then expects sequence 0."""
        self._is_renumbering = False
        self._epoch += 1
        self._next_sequence = 0
        for batch in self._waiting:
            batch.producer = NO_PRODUCER
