"""Rebuilding a machine from its partition, in steps that leave the loop to others."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from moldau.coordinator.decision import RecordSource
from moldau.coordinator.shard import Journal, ShardMachine
from moldau.errors import ProtocolError
from moldau.model import NO_PRODUCER_ID
from moldau.records.batch import (
    CODEC_MASK,
    CONTROL,
    RECORDS_POSITION,
    TRANSACTIONAL,
    BatchHeader,
    assemble_batch,
    checksum,
    iterate_headers,
)
from moldau.records.buffers import ReadableBuffer, room
from moldau.records.control import read_end_marker
from moldau.records.fetched import Selection
from moldau.records.opening import Opening
from moldau.records.refusal import TooLargeToOpen
from moldau.records.rows import DEFAULT_LIMIT_BYTES, Rows
from moldau.records.scratch import Scratch
from moldau.runtime.clock import Moment

_RECORDS_PER_STEP = 512
_OPENED_AT_ONCE_BYTES = 262_144


class Sealed:
    """A compressed batch, which the replay needs opened before it goes on."""

    def __init__(self, batch: memoryview, header: BatchHeader) -> None:
        self._batch = batch
        self._header = header
        self.opened: memoryview | None = None

    def open(self, bound_bytes: int | None = None) -> None:
        """Open it, in whichever thread; raises TooLargeToOpen if that is beyond the bound."""
        header = self._header
        if checksum(self._batch, 0, header.size) != header.crc:
            raise ProtocolError(f"batch at offset {header.base_offset} has a wrong checksum")
        section = Opening(Scratch(), bound_bytes).open(
            header.codec,
            self._batch[RECORDS_POSITION:],
            limit_bytes=DEFAULT_LIMIT_BYTES,
            allocate=room,
        )
        plain = replace(header, attributes=header.attributes & ~CODEC_MASK)
        self.opened = memoryview(assemble_batch(plain, section))


class Loading:
    """Replays a journal up to where it ended when loading began."""

    def __init__(
        self, journal: Journal, machine: ShardMachine[Any, Any], *, max_bytes: int
    ) -> None:
        self._journal = journal
        self._machine = machine
        self._max_bytes = max_bytes
        self._offset = journal.start_offset
        self._end_offset = journal.end_offset

    @property
    def is_done(self) -> bool:
        return self._offset >= self._end_offset

    async def read(self) -> ReadableBuffer:
        """The next piece of the journal."""
        return await self._journal.read(self._offset, max_bytes=self._max_bytes)

    def replay(self, data: ReadableBuffer, *, now: Moment) -> Iterator[Sealed | None]:
        """Apply a piece; pauses every few hundred records, and where a large batch is sealed."""
        view = memoryview(data)
        plain_start = end = 0
        next_offset = self._offset
        for position, header in iterate_headers(view):
            end = position + header.size
            if header.attributes & (TRANSACTIONAL | CONTROL | CODEC_MASK):
                yield from self._apply(view[plain_start:position], NO_PRODUCER_ID, now)
                yield from self._apply_special(view[position:end], header, now)
                plain_start = end
            next_offset = max(next_offset, header.next_offset)
        yield from self._apply(view[plain_start:end], NO_PRODUCER_ID, now)
        # If there was nothing to read, then compaction took the last records.
        self._offset = self._end_offset if next_offset == self._offset else next_offset

    def _apply_special(
        self, batch: memoryview, header: BatchHeader, now: Moment
    ) -> Iterator[Sealed | None]:
        """Apply a batch that is compressed, or of a transaction."""
        if header.is_control:
            if header.base_offset >= self._offset:
                self._end_transaction(header.producer_id, batch)
            return
        if header.attributes & CODEC_MASK:
            sealed = Sealed(batch, header)
            try:
                sealed.open(_OPENED_AT_ONCE_BYTES)
            except TooLargeToOpen:
                yield sealed
            if sealed.opened is None:
                sealed.open()
            assert sealed.opened is not None
            batch = sealed.opened
        producer_id = header.producer_id if header.is_transactional else NO_PRODUCER_ID
        yield from self._apply(batch, producer_id, now)
        yield None

    def _apply(self, batches: memoryview, producer_id: int, now: Moment) -> Iterator[None]:
        replay = self._machine.replay
        rows = Rows(batches, Selection(start_offset=self._offset))
        for count, row in enumerate(rows, 1):
            if row.key is not None:
                replay(row.key, row.value, RecordSource(row.offset, producer_id, now))
            if count % _RECORDS_PER_STEP == 0:
                yield

    def _end_transaction(self, producer_id: int, batch: memoryview) -> None:
        marker = read_end_marker(batch)
        if marker is not None:
            self._machine.end_transaction(producer_id, is_commit=marker.is_commit)
