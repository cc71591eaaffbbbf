"""Batches on their way from a producer to one partition, in order.

A batch is *open* (the last one, still filling), *waiting*, or *in flight*; it leaves when it is
delivered or has failed. With idempotence it gets its sequence when it is first sent and keeps it
for every retry, so that the broker can distinguish a retry from a new batch. While a retry
waits, only the oldest batch may be sent: the broker would refuse the others.
"""

import asyncio
import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import TYPE_CHECKING

from moldau.client.producer.encoding import BatchRecords, seal
from moldau.client.record import RecordMetadata
from moldau.errors import ErrorCode, KafkaError
from moldau.model import NO_SEQUENCE, NO_TIMESTAMP, TopicPartition
from moldau.records.batch import NO_PRODUCER, SEQUENCE_COUNT, Producer
from moldau.records.building import BatchForm, build
from moldau.records.rows import Rows
from moldau.runtime import native

if TYPE_CHECKING:
    from moldau.client.producer.intake import Receipt

_log = logging.getLogger(__name__)

UNKNOWN_OFFSET = -1
_SIZE_MAX = 2**31 - 1
_new_tuple = tuple.__new__  # many are made at a time, and this takes half as long

intake: ModuleType = native.kernel(
    "moldau.client.producer._intake", "moldau.client.producer.intake"
)

# Receipts are waited for in one thread and settled in another; this is held for an instant.
_settling = threading.Lock()
if hasattr(os, "register_at_fork"):  # where no thread is left to release it
    os.register_at_fork(after_in_child=_settling._at_fork_reinit)  # type: ignore[attr-defined]


@dataclass(slots=True, eq=False)
class Batch:
    """Records that travel together, and what becomes of them."""

    partition: TopicPartition
    records: BatchRecords
    deadline_ms: int
    ready_ms: int = 0
    """When it need not wait for more records, or may be tried again."""
    attempts: int = 0
    last_error: KafkaError | None = None
    producer: Producer = NO_PRODUCER
    order: tuple[int, int] = (0, 0)
    """Its place among all batches of its partition, and its first row if it is part of one."""
    process_id: int = field(default_factory=os.getpid)
    thread_id: int = 0
    """The thread that settles it, which therefore cannot wait for it."""
    is_settled: bool = False
    """Whether it is delivered or has failed."""
    base_offset: int = UNKNOWN_OFFSET
    append_time_ms: int = NO_TIMESTAMP
    error: KafkaError | None = None
    parts: "list[Batch]" = field(default_factory=list)
    """What it was split into."""
    _callbacks: list[tuple[int, Callable[[], object]]] = field(default_factory=list)

    def deliver(self, base_offset: int, append_time_ms: int) -> None:
        """Give the waiting callers the place of the records."""
        self.base_offset, self.append_time_ms = base_offset, append_time_ms
        self._settle()

    def fail(self, error: KafkaError) -> None:
        """Give the waiting callers the error: the records are lost."""
        self.error = error
        self._settle()

    def receipt(self, row: int, timestamp: int) -> "Receipt":
        """What is handed out for one of its records."""
        made: Receipt = intake.Receipt(self, row, timestamp)
        return made

    def split(self) -> "list[Batch]":
        """Two batches in place of this one, which has two records at least."""
        rows = list(Rows(seal(self.records, BatchForm(_SIZE_MAX))))
        middle = len(rows) // 2
        parts: list[Batch] = []
        for start, part_rows in ((0, rows[:middle]), (middle, rows[middle:])):
            buffer = build.RecordBuffer(_SIZE_MAX)
            for row in part_rows:
                headers = [(name.decode(), value) for name, value in row.headers]
                buffer.append(row.timestamp, row.key, row.value, headers, _SIZE_MAX)
            number, first_row = self.order
            order = (number, first_row + start)
            producer = advanced(self.producer, start)
            part = replace(
                self, records=buffer, order=order, producer=producer, parts=[], _callbacks=[]
            )
            part.ready_ms = 0  # the whole one was ready: nothing more is waited for
            parts.append(part)
        with _settling:
            self.parts = parts
            for row_number, callback in self._callbacks:
                part, part_row = self.of_row(row_number)
                part._callbacks.append((part_row, callback))
            self._callbacks = []
        return parts

    def of_row(self, row: int) -> "tuple[Batch, int]":
        """The batch that a record travels in, and the record's row there."""
        batch = self
        while batch.parts:
            first, second = batch.parts
            batch, row = (
                (first, row)
                if row < first.records.count
                else (
                    second,
                    row - first.records.count,
                )
            )
        return batch, row

    def leaves(self) -> "Iterator[Batch]":
        """What travels of it: itself, or what it was split into, in order."""
        waiting = [self]
        while waiting:
            batch = waiting.pop()
            if batch.parts:
                waiting += reversed(batch.parts)
            else:
                yield batch

    @property
    def is_over(self) -> bool:
        """Whether it, or all that it was split into, is delivered or has failed."""
        return all(each.is_settled for each in self.leaves())

    # Waiting

    def when_settled(self, row: int, callback: Callable[[], object]) -> None:
        """Call back once it is known what became of a record, maybe at once."""
        with _settling:
            batch, row = self.of_row(row)
            if not batch.is_settled:
                batch._callbacks.append((row, callback))
                return
        callback()

    def wait(self, row: int, timestamp: int, timeout_s: float | None) -> RecordMetadata:
        """Block until a record is stored; TimeoutError if that takes too long."""
        if not self.is_settled and not self.of_row(row)[0].is_settled:
            self._check_process()
            if threading.get_ident() == self.thread_id:
                raise RuntimeError("to wait here would wait for ever: use `await`")
            settled = threading.Event()
            self.when_settled(row, settled.set)
            if not settled.wait(timeout_s):
                raise TimeoutError(f"{self.partition}: not stored in {timeout_s} s")
        return self._outcome(row, timestamp)

    async def wait_async(self, row: int, timestamp: int) -> RecordMetadata:
        """Wait until a record is stored."""
        if not self.of_row(row)[0].is_settled:
            self._check_process()
            loop = asyncio.get_running_loop()
            future = loop.create_future()
            thread_id = threading.get_ident()

            def finish() -> None:
                if threading.get_ident() == thread_id:
                    _finish(future)
                else:
                    loop.call_soon_threadsafe(_finish, future)

            self.when_settled(row, finish)
            await future
        return self._outcome(row, timestamp)

    def _check_process(self) -> None:
        if os.getpid() != self.process_id:
            reason = "a receipt cannot be waited for after a fork: ask in the process that sent it"
            raise RuntimeError(reason)

    def _outcome(self, row: int, timestamp: int) -> RecordMetadata:
        batch = self
        if not self.is_settled:  # but its parts are
            batch, row = self.of_row(row)
        if batch.error is not None:
            raise KafkaError(batch.error.code, str(batch.error))
        is_known = batch.base_offset != UNKNOWN_OFFSET
        offset = batch.base_offset + row if is_known else UNKNOWN_OFFSET
        if batch.append_time_ms != NO_TIMESTAMP:
            timestamp = batch.append_time_ms
        topic, partition = self.partition
        return _new_tuple(RecordMetadata, (topic, partition, offset, timestamp))

    def _settle(self) -> None:
        with _settling:
            self.is_settled = True
            callbacks, self._callbacks = self._callbacks, []
        for _, callback in callbacks:
            try:
                callback()
            except Exception:  # noqa: BLE001 - the user's code; others wait as well
                _log.exception("a callback for %s failed", self.partition)


def advanced(producer: Producer, count: int) -> Producer:
    """The producer after so many more records."""
    if producer.base_sequence == NO_SEQUENCE:
        return producer
    return producer._replace(base_sequence=(producer.base_sequence + count) % SEQUENCE_COUNT)


def _finish(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class PartitionBatches:
    """The batches of one partition, oldest first."""

    def __init__(self, partition: TopicPartition) -> None:
        self.partition = partition
        self._waiting: deque[Batch] = deque()
        self._in_flight: list[Batch] = []
        self._count = 0
        self._counted_for: tuple[int, int] | None = None
        self._epoch = 0
        self._next_sequence = 0
        self._is_renumbering = False
        self.is_exclusive = False
        """Whether nothing more may be sent while what is in flight is."""

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
        batch.order = (self._count, 0)
        self._waiting.append(batch)

    def may_send(self) -> bool:
        """Whether the next batch may be sent without overtaking another."""
        if not self._waiting:
            return False
        if self._is_renumbering or self.is_exclusive:
            return not self._in_flight
        # A retry must have nothing older in flight, and nothing new may overtake a retry.
        return self._waiting[0].attempts == 0 or not self._in_flight

    def take(self, producer: Producer | None) -> Batch:
        """Send the next batch; `producer` numbers it, None leaves it without a sequence."""
        if self._is_renumbering:
            self._renumber()
        self.is_exclusive = False
        batch = self._waiting.popleft()
        batch.attempts += 1
        if producer is not None and batch.producer == NO_PRODUCER:
            self._count_for(producer)
            batch.producer = Producer(
                producer.producer_id, producer.epoch + self._epoch, self._next_sequence
            )
            count = batch.records.count
            self._next_sequence = (self._next_sequence + count) % SEQUENCE_COUNT
        self._in_flight.append(batch)
        return batch

    def is_alone(self, batch: Batch) -> bool:
        """Whether this batch waits to be sent for the first time, and there is no other."""
        return not self._in_flight and len(self._waiting) == 1 and self.open_batch is batch

    def _count_for(self, producer: Producer) -> None:
        """Begin to count anew for another producer or epoch (KIP-360)."""
        identity = (producer.producer_id, producer.epoch)
        if self._counted_for not in (None, identity):
            self._epoch = 0
            self._next_sequence = 0
        self._counted_for = identity

    def leave(self, batch: Batch) -> bool:
        """The batch in flight is delivered or has failed for good.

        Returns whether it held back another, which may be sent as soon as it is ready.
        """
        held_back = not self.may_send()
        self._in_flight.remove(batch)
        return held_back and self.may_send()

    def retry(self, batch: Batch, error: KafkaError, *, ready_ms: int) -> None:
        """The batch in flight must be sent again, before those that are younger."""
        is_oldest = self.is_oldest(batch)
        self._in_flight.remove(batch)
        batch.ready_ms = ready_ms
        self._insert(batch)
        if is_oldest and error.code in (
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
            ErrorCode.UNKNOWN_PRODUCER_ID,
        ):
            # All before it is settled, so its number is wrong for good: something older failed,
            # or the broker lost it. It was certainly not written (KIP-360).
            self._is_renumbering = True

    def is_oldest(self, batch: Batch) -> bool:
        """Whether all batches before this one are settled."""
        return all(each.order >= batch.order for each in self)

    def is_overtaking(self, batch: Batch) -> bool:
        """Whether an older batch waits to be sent again."""
        return any(each.order < batch.order for each in self._waiting)

    def abandon(self) -> list[Batch]:
        """Take out the batches that have no number yet, which brokers therefore do not miss."""
        abandoned = [batch for batch in self._waiting if batch.producer == NO_PRODUCER]
        for batch in abandoned:
            self._waiting.remove(batch)
        return abandoned

    def split(self, batch: Batch) -> list[Batch]:
        """Put two batches in place of the one in flight, which the broker found too large.

        They take over its numbers: the broker has stored none of them.
        """
        self._in_flight.remove(batch)
        parts = batch.split()
        for part in parts:
            self._insert(part)
        return parts

    def expire(self, *, now_ms: int) -> list[Batch]:
        """Take out the waiting batches whose time is up."""
        late = [batch for batch in self._waiting if batch.deadline_ms <= now_ms]
        for batch in late:
            self._waiting.remove(batch)
        return late

    def _insert(self, batch: Batch) -> None:
        place = sum(1 for each in self._waiting if each.order < batch.order)
        self._waiting.insert(place, batch)

    def _renumber(self) -> None:
        """Begin a new epoch for this partition: the broker then expects sequence 0."""
        self._is_renumbering = False
        self._epoch += 1
        self._next_sequence = 0
        for batch in self._waiting:
            batch.producer = NO_PRODUCER
