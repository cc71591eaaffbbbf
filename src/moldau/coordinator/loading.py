"""Rebuilding a machine from its partition, in steps that leave the loop to others."""

from collections.abc import Iterator
from typing import Any

from moldau.coordinator.decision import Moment, Source
from moldau.coordinator.shard import Journal, Machine
from moldau.model import NO_PRODUCER_ID
from moldau.records.batch import CONTROL, TRANSACTIONAL, iterate_headers
from moldau.records.buffers import ReadableBuffer
from moldau.records.control import read_end_marker
from moldau.records.fetched import Selection
from moldau.records.rows import Rows

_RECORDS_PER_STEP = 512


class Loading:
    """Replays a journal up to where it ended when loading began."""

    def __init__(self, journal: Journal, machine: Machine[Any, Any], *, max_bytes: int) -> None:
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

    def replay(self, data: ReadableBuffer, *, now: Moment) -> Iterator[None]:
        """Apply a piece; pauses every few hundred records."""
        view = memoryview(data)
        plain_start = end = 0
        next_offset = self._offset
        for position, header in iterate_headers(view):
            end = position + header.size
            if header.attributes & (TRANSACTIONAL | CONTROL):
                yield from self._apply(view[plain_start:position], NO_PRODUCER_ID, now)
                if not header.is_control:
                    yield from self._apply(view[position:end], header.producer_id, now)
                elif header.base_offset >= self._offset:
                    self._end_transaction(header.producer_id, view[position:end])
                plain_start = end
            next_offset = max(next_offset, header.next_offset)
        yield from self._apply(view[plain_start:end], NO_PRODUCER_ID, now)
        # If there was nothing to read, then compaction took the last records.
        self._offset = self._end_offset if next_offset == self._offset else next_offset

    def _apply(self, batches: memoryview, producer_id: int, now: Moment) -> Iterator[None]:
        replay = self._machine.replay
        rows = Rows(batches, Selection(start_offset=self._offset))
        for count, row in enumerate(rows, 1):
            if row.key is not None:
                replay(row.key, row.value, Source(row.offset, producer_id, now))
            if count % _RECORDS_PER_STEP == 0:
                yield

    def _end_transaction(self, producer_id: int, batch: memoryview) -> None:
        marker = read_end_marker(batch)
        if marker is not None:
            self._machine.end_transaction(producer_id, is_commit=marker.is_commit)
