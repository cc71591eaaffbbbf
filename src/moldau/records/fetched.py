"""The batches in a fetch response that are to be read, and where to fetch next.

A broker sends whole stretches of its log: from the batch that contains the wanted offset on,
with markers and aborted transactions among it, and cut off anywhere in the last batch.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from moldau.errors import ProtocolError
from moldau.records.batch import (
    ATTRIBUTES_POSITION,
    CODEC_MASK,
    CONTROL,
    MAGIC,
    MAGIC_POSITION,
    RECORDS_POSITION,
    TRANSACTIONAL,
    BatchHeader,
)
from moldau.records.buffers import ReadableBuffer
from moldau.records.compression import decompress
from moldau.records.control import read_end_marker
from moldau.records.crc32c import crc32c
from moldau.runtime import native

if TYPE_CHECKING:
    from moldau.records.kernel import RecordCursor

kernel: ModuleType = native.kernel("moldau.records._kernel", "moldau.records.kernel")

OFFSET_MAX = 2**63 - 1

_SPECIAL = CODEC_MASK | CONTROL | TRANSACTIONAL  # all other batches are read as they are


class AbortedTransaction(NamedTuple):
    """What a fetch response tells of a transaction that must not be read."""

    producer_id: int
    first_offset: int


@dataclass(frozen=True, slots=True)
class Selection:
    """Which records of the fetched bytes are wanted: offsets in `[start_offset, end_offset)`.

    `aborted` is for readers of committed records only; others leave it empty.
    """

    start_offset: int = 0
    end_offset: int = OFFSET_MAX
    aborted: Sequence[AbortedTransaction] = ()
    check_crc: bool = True


class Stop(Enum):
    """Why reading ended where it did."""

    DATA_END = auto()  # no further complete batch
    END_OFFSET = auto()  # the rest is past the wanted offsets
    SIZE_LIMIT = auto()  # the rest is for another call
    LEGACY = auto()  # what follows has magic 0 or 1, see records/legacy.py


class FetchedBatch(NamedTuple):
    """One batch to be read; its decompressed records are `data[start:end]`."""

    position: int  # of the batch in the fetched bytes
    header: BatchHeader
    data: ReadableBuffer
    start: int
    end: int


class FetchedBatches:
    """Iterates over the batches to be read, and knows how far it came.

    After each batch, and at the end, `position` and `next_offset` say where a reader would go
    on in the fetched bytes and in the log. The checksum of an uncompressed batch is left to
    `check`, so that a reader can do it while it has the bytes at hand.
    """

    def __init__(self, data: ReadableBuffer, selection: Selection, *, limit_bytes: int) -> None:
        self.position = 0
        self.next_offset = selection.start_offset
        self.stop = Stop.DATA_END
        self._data = memoryview(data)
        self._selection = selection
        self._limit_bytes = limit_bytes
        self._aborted = sorted(selection.aborted, key=lambda each: each[1], reverse=True)
        self._aborted_producers: dict[int, None] = {}

    def __iter__(self) -> Iterator[FetchedBatch]:
        data, selection = self._data, self._selection
        size = len(data)
        while self.position + RECORDS_POSITION <= size:
            position = self.position
            if data[position + MAGIC_POSITION] < MAGIC:
                self.stop = Stop.LEGACY
                return
            header = BatchHeader.read(data, position)
            if position + header.size > size:
                return
            base_offset, last_delta = header.base_offset, header.last_offset_delta
            if base_offset < 0 or last_delta < 0 or base_offset >= OFFSET_MAX - last_delta:
                raise ProtocolError(f"batch has offsets {base_offset} + {last_delta}")
            if base_offset >= selection.end_offset:
                self.stop = Stop.END_OFFSET
                return
            self.position += header.size
            next_offset = base_offset + last_delta + 1
            if not header.attributes & _SPECIAL:
                if next_offset > selection.start_offset:
                    start, end = position + RECORDS_POSITION, self.position
                    yield FetchedBatch(position, header, data, start, end)
            elif self._is_readable(header, position) and next_offset > selection.start_offset:
                yield self._open(header, position)
            self.next_offset = max(self.next_offset, min(next_offset, selection.end_offset))

    def check(self, batch: FetchedBatch) -> None:
        """Compare the checksum of a batch, if that is wanted and was not done before."""
        if self._selection.check_crc and batch.data is self._data:
            self._check_crc(batch.header, batch.position)

    def _open(self, header: BatchHeader, position: int) -> FetchedBatch:
        start, end = position + RECORDS_POSITION, position + header.size
        if header.attributes & CODEC_MASK == 0:
            return FetchedBatch(position, header, self._data, start, end)
        if self._selection.check_crc:
            self._check_crc(header, position)
        body = decompress(header.codec, self._data[start:end], limit_bytes=self._limit_bytes)
        return FetchedBatch(position, header, body, 0, len(body))

    def _is_readable(self, header: BatchHeader, position: int) -> bool:
        """Whether a batch holds records for readers, by the rules of transactions."""
        if not header.attributes & (CONTROL | TRANSACTIONAL):
            return True
        while self._aborted and self._aborted[-1][1] <= header.last_offset:
            self._aborted_producers[self._aborted.pop()[0]] = None
        if not header.is_control:
            return header.producer_id not in self._aborted_producers
        if header.producer_id in self._aborted_producers:
            if self._selection.check_crc:
                self._check_crc(header, position)
            marker = read_end_marker(self._data, position)
            if marker is not None and not marker.is_commit:
                del self._aborted_producers[header.producer_id]
        return False

    def _check_crc(self, header: BatchHeader, position: int) -> None:
        covered = self._data[position + ATTRIBUTES_POSITION : position + header.size]
        if header.crc != crc32c(covered):
            raise ProtocolError(f"the batch at offset {header.base_offset} has a wrong checksum")


class Entrance:
    """Enters batches, with one cursor for all that lie in the same buffer."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._data: ReadableBuffer | None = None

    def enter(self, batch: FetchedBatch) -> "RecordCursor":
        """A cursor before the first record of the batch; it moves on with the next call."""
        if batch.data is not self._data:
            self._data = batch.data
            selection = self._selection
            self._cursor: RecordCursor = kernel.RecordCursor(
                memoryview(batch.data), selection.start_offset, selection.end_offset
            )
        self._cursor.start_batch(batch.header, batch.start, batch.end)
        return self._cursor
