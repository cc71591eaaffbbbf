"""The producers of one partition: whose batch may come next, and whose transaction is open.

A producer is known by its last five batches, so that a batch sent again is answered with
the offset it already has instead of being appended twice. It is forgotten after a time
of silence, but never while its transaction is open.

`check_append` decides and changes nothing; `apply` notes a batch that was written. A
batch that was accepted elsewhere (replication, replay of the log) is only applied.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import NamedTuple

from moldau.errors import ErrorCode, KafkaError
from moldau.log.verification import Guard, Verifications
from moldau.model import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE, NO_TIMESTAMP
from moldau.records.batch import SEQUENCE_COUNT, BatchHeader
from moldau.records.control import EndMarker

BATCHES_KEPT = 5
NO_COORDINATOR_EPOCH = -1


class Origin(Enum):
    """Where a batch comes from, which decides how much is checked."""

    CLIENT = auto()  # everything
    COORDINATOR = auto()  # epochs: its batches have no sequences
    REPLICATION = auto()  # nothing: the leader has checked


class KeptBatch(NamedTuple):
    """What is remembered of a batch to recognise it when it is sent again."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @property
    def first_sequence(self) -> int:
        if self.last_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return (self.last_sequence - self.offset_delta) % SEQUENCE_COUNT

    @property
    def first_offset(self) -> int:
        return self.last_offset - self.offset_delta


@dataclass(slots=True)
class ProducerEntry:
    """One producer, as its batches and markers in this partition left it."""

    producer_id: int
    epoch: int = NO_PRODUCER_EPOCH
    coordinator_epoch: int = NO_COORDINATOR_EPOCH
    last_timestamp: int = NO_TIMESTAMP
    transaction_first_offset: int | None = None
    batches: tuple[KeptBatch, ...] = ()

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    def note(self, header: BatchHeader, marker: EndMarker | None) -> None:
        """Become what the producer is after this batch."""
        if header.producer_epoch != self.epoch:
            self.epoch = header.producer_epoch
            self.batches = ()
        self.last_timestamp = header.max_timestamp
        if marker is not None:
            self.coordinator_epoch = marker.coordinator_epoch
            self.transaction_first_offset = None
            return
        batch = KeptBatch(
            header.last_sequence, header.last_offset, header.last_offset_delta, header.max_timestamp
        )
        self.batches = (*self.batches[1 - BATCHES_KEPT :], batch)
        if header.is_transactional and self.transaction_first_offset is None:
            self.transaction_first_offset = header.base_offset


class CompletedTransaction(NamedTuple):
    """A transaction that had data here and has now ended, with the LSO after it."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int
    is_aborted: bool


class LastRecord(NamedTuple):
    """What must stay in the log so that a producer is found again by replay."""

    last_data_offset: int | None
    epoch: int


Batch = tuple[BatchHeader, EndMarker | None]
"""A header with its offsets assigned; a control batch comes with the marker in it.

An empty control batch, which compaction leaves behind, has no marker and says nothing.
"""


class Producers:
    """The producer table of one partition; it costs nothing until a producer comes."""

    __slots__ = ("_completed", "_open", "_producers", "_verifications")

    def __init__(self) -> None:
        self._producers: dict[int, ProducerEntry] | None = None
        # First offset -> producer id, in the order of the offsets.
        self._open: dict[int, int] | None = None
        # First offset -> last offset of what ended, but may not be replicated yet.
        self._completed: dict[int, int] | None = None
        self._verifications: Verifications | None = None

    def __len__(self) -> int:
        return len(self._producers or ())

    def __iter__(self) -> Iterator[ProducerEntry]:
        return iter((self._producers or {}).values())

    def get(self, producer_id: int) -> ProducerEntry | None:
        return self._producers.get(producer_id) if self._producers else None

    def check_append(
        self, batches: Sequence[Batch], origin: Origin, guard: Guard | None = None
    ) -> KeptBatch | None:
        """Raise KafkaError unless all batches may be appended.

        Returns the batch that is there already, if this is a repetition: nothing is to
        be appended then, and the answer carries its offset and timestamp. With a table
        of `verifications` a transaction may only be opened under its current guard.
        """
        if origin is Origin.REPLICATION or self._is_plainly_next(batches):
            return None
        seen: dict[int, ProducerEntry] = {}
        for header, marker in batches:
            if header.producer_id == NO_PRODUCER_ID:
                continue
            producer = seen.get(header.producer_id) or self.get(header.producer_id)
            if origin is Origin.CLIENT and producer is not None:
                repeated = _find_repeated(producer, header)
                if repeated is not None:
                    return repeated
            self._check_verified(producer, header, guard)
            before = producer or ProducerEntry(header.producer_id)
            _check_batch(before, header, marker, origin)
            if len(batches) > 1:
                after = seen[header.producer_id] = replace(before)
                after.note(header, marker)
        return None

    def apply(self, header: BatchHeader, marker: EndMarker | None) -> CompletedTransaction | None:
        """Note a batch that is in the log now; returns which transaction it ended, if any."""
        if header.producer_id == NO_PRODUCER_ID or (header.is_control and marker is None):
            return None
        if self._producers is None:
            self._producers = {}
        producer = self._producers.get(header.producer_id)
        if producer is None:
            producer = self._producers[header.producer_id] = ProducerEntry(header.producer_id)
        open_from = producer.transaction_first_offset
        producer.note(header, marker)
        if header.is_transactional and self._verifications is not None:
            # The transaction is open from here on, or over: the next one is verified anew.
            self._verifications.clear(header.producer_id)
        if marker is not None:
            return self._complete(header, marker, open_from)
        if open_from is None and header.is_transactional:
            self._note_open(header.base_offset, header.producer_id)
        return None

    def load(self, producers: Iterable[ProducerEntry], *, now_ms: int, expiration_ms: int) -> None:
        """Start over from a snapshot, without those that have expired."""
        self.clear()
        self._producers = {
            producer.producer_id: producer
            for producer in producers
            if not _is_expired(producer, now_ms, expiration_ms)
        }
        still_open = [
            (producer.transaction_first_offset, producer.producer_id)
            for producer in self._producers.values()
            if producer.transaction_first_offset is not None
        ]
        for first_offset, producer_id in sorted(still_open):
            self._note_open(first_offset, producer_id)

    def clear(self) -> None:
        """Forget everything read from the log; it was truncated or begins anew."""
        self._producers = self._open = self._completed = None

    def expire(self, *, now_ms: int, expiration_ms: int) -> list[int]:
        """Forget producers that have been silent; returns their ids."""
        if self._verifications is not None:
            self._verifications.expire(now_ms=now_ms, expiration_ms=expiration_ms)
        gone = [p.producer_id for p in self if _is_expired(p, now_ms, expiration_ms)]
        for producer_id in gone:
            del (self._producers or {})[producer_id]
        return gone

    def replicated_to(self, high_watermark: int) -> None:
        """Let go of completed transactions whose markers are below the high watermark."""
        if self._completed:
            for first_offset, last_offset in list(self._completed.items()):
                if last_offset < high_watermark:
                    del self._completed[first_offset]

    @property
    def first_undecided_offset(self) -> int | None:
        """Where the oldest open transaction begins."""
        return next(iter(self._open), None) if self._open else None

    @property
    def first_unstable_offset(self) -> int | None:
        """Where the oldest transaction begins that is open, or whose end is not replicated.

        The last stable offset is this one or the high watermark, whichever is smaller.
        """
        first = self.first_undecided_offset
        if not self._completed:
            return first
        completed = min(self._completed)
        return completed if first is None else min(first, completed)

    def has_open_transaction(self, producer_id: int) -> bool:
        producer = self.get(producer_id)
        return producer is not None and producer.transaction_first_offset is not None

    def last_records(self) -> dict[int, LastRecord]:
        """What compaction has to keep for each producer."""
        return {
            producer.producer_id: LastRecord(
                producer.batches[-1].last_offset if producer.batches else None, producer.epoch
            )
            for producer in self
        }

    @property
    def verifications(self) -> Verifications:
        """The transactions that wait for the coordinator's word; asking turns the check on."""
        if self._verifications is None:
            self._verifications = Verifications()
        return self._verifications

    def _is_plainly_next(self, batches: Sequence[Batch]) -> bool:
        """Whether this is one batch, next in sequence, outside of transactions.

        Nearly all are, and for them every check below holds.
        """
        if len(batches) != 1 or self._verifications is not None:
            return False
        header = batches[0][0]
        producer = self.get(header.producer_id)
        return (
            producer is not None
            and header.producer_epoch == producer.epoch
            and header.base_sequence == producer.last_sequence + 1
            and producer.transaction_first_offset is None
            and not header.is_control
        )

    def _check_verified(
        self, producer: ProducerEntry | None, header: BatchHeader, guard: Guard | None
    ) -> None:
        table = self._verifications
        if table is None or header.is_control:
            return
        is_open = producer is not None and producer.transaction_first_offset is not None
        if header.is_transactional and not is_open and not table.holds(header.producer_id, guard):
            raise KafkaError(
                ErrorCode.INVALID_TXN_STATE,
                f"producer {header.producer_id} has no transaction the coordinator knows of",
            )
        lowest = table.lowest_sequence(header.producer_id)
        if lowest is not None and header.base_sequence > lowest:
            raise KafkaError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"producer {header.producer_id} sends sequence {header.base_sequence} "
                f"before {lowest}, which it began with",
            )

    def _note_open(self, first_offset: int, producer_id: int) -> None:
        if self._open is None:
            self._open = {}
        self._open[first_offset] = producer_id

    def _complete(
        self, header: BatchHeader, marker: EndMarker, first_offset: int | None
    ) -> CompletedTransaction | None:
        if first_offset is None:
            return None  # a marker for a transaction that wrote nothing here
        assert self._open is not None
        assert self._open[first_offset] == header.producer_id
        del self._open[first_offset]
        if self._completed is None:
            self._completed = {}
        last_offset = header.base_offset
        self._completed[first_offset] = last_offset
        stable = self.first_undecided_offset
        return CompletedTransaction(
            producer_id=header.producer_id,
            first_offset=first_offset,
            last_offset=last_offset,
            last_stable_offset=last_offset + 1 if stable is None else stable,
            is_aborted=not marker.is_commit,
        )


def _find_repeated(producer: ProducerEntry, header: BatchHeader) -> KeptBatch | None:
    if header.producer_epoch != producer.epoch:
        return None
    last_sequence = header.last_sequence
    for batch in producer.batches:
        if batch.last_sequence == last_sequence and batch.first_sequence == header.base_sequence:
            return batch
    return None


def _check_batch(
    producer: ProducerEntry, header: BatchHeader, marker: EndMarker | None, origin: Origin
) -> None:
    if header.producer_epoch < producer.epoch:
        raise KafkaError(
            ErrorCode.INVALID_PRODUCER_EPOCH,
            f"producer {producer.producer_id} has epoch {producer.epoch}, "
            f"this batch {header.producer_epoch}",
        )
    if header.is_control:
        if marker is not None and marker.coordinator_epoch < producer.coordinator_epoch:
            raise KafkaError(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"the coordinator of producer {producer.producer_id} has epoch "
                f"{producer.coordinator_epoch}, this marker {marker.coordinator_epoch}",
            )
        return
    if origin is Origin.CLIENT:
        _check_sequence(producer, header)
    if producer.transaction_first_offset is not None and not header.is_transactional:
        raise KafkaError(
            ErrorCode.INVALID_TXN_STATE,
            f"producer {producer.producer_id} writes past its own open transaction",
        )


def _check_sequence(producer: ProducerEntry, header: BatchHeader) -> None:
    if producer.epoch == NO_PRODUCER_EPOCH:
        return  # KIP-360: an unknown or expired producer may begin anywhere
    expected = 0
    if header.producer_epoch == producer.epoch:
        expected = (producer.last_sequence + 1) % SEQUENCE_COUNT
    if header.base_sequence != expected:
        raise KafkaError(
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
            f"producer {producer.producer_id} at epoch {header.producer_epoch} "
            f"sends sequence {header.base_sequence}, expected is {expected}",
        )


def _is_expired(producer: ProducerEntry, now_ms: int, expiration_ms: int) -> bool:
    is_idle = producer.transaction_first_offset is None
    return is_idle and now_ms - producer.last_timestamp >= expiration_ms
