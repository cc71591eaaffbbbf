"""The batches in a fetch response that are to be read, and where to fetch next.

A broker sends whole ranges of its log: from the batch that contains the wanted offset on,
with markers and aborted transactions among it, and cut off anywhere in the last batch.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from moldau.errors import ProtocolError
from moldau.records.batch import (
    CONTROL,
    MAGIC,
    MAGIC_POSITION,
    RECORDS_POSITION,
    TRANSACTIONAL,
    BatchHeader,
    crc_is_valid,
)
from moldau.records.buffers import ReadableBuffer
from moldau.records.compression import codec_of, decompress
from moldau.records.control import read_end_marker
from moldau.runtime import native

if TYPE_CHECKING:
    from moldau.records.kernel import BatchRun, RecordCursor, RunFinder

kernel: ModuleType = native.kernel("moldau.records._kernel", "moldau.records.kernel")

OFFSET_MAX = 2**63 - 1


class AbortedProducer(NamedTuple):
    """What a fetch response says of a transaction that must not be read."""

    producer_id: int
    first_offset: int


@dataclass(frozen=True, slots=True)
class Selection:
    """Which records of the fetched bytes are wanted: offsets in `[start_offset, end_offset)`.

    `aborted` is for readers of committed records only; others leave it empty.
    """

    start_offset: int = 0
    end_offset: int = OFFSET_MAX
    aborted: Sequence[AbortedProducer] = ()
    check_crc: bool = True


class StopReason(Enum):
    """Why reading ended where it did."""

    DATA_END = auto()  # no further complete batch
    END_OFFSET = auto()  # the rest is past the wanted offsets
    SIZE_LIMIT = auto()  # the rest is for another call
    LEGACY = auto()  # what follows has magic 0 or 1, see records/legacy.py


def next_offset_after(data: ReadableBuffer, selection: Selection) -> int:
    """Where to fetch next, after all complete batches of the fetched bytes."""
    finder: RunFinder = kernel.RunFinder(
        memoryview(data), selection.start_offset, selection.end_offset, False
    )
    return finder.next_offset_after_all()


class FetchedBatches:
    """Iterates over the batches to be read in runs, and knows how far it came.

    After each run, and at the end, `position` and `next_offset` say where a reader would go on
    in the fetched bytes and in the log. One batch may decompress to `limit_bytes`; reading stops
    before the records of all exceed `total_bytes_max`, unless the first batch does. Checksums
    of uncompressed batches are left to the cursor, which has the bytes at hand anyway.
    """

    def __init__(
        self,
        data: ReadableBuffer,
        selection: Selection,
        *,
        limit_bytes: int,
        total_bytes_max: int = OFFSET_MAX,
    ) -> None:
        self.position = 0
        self.next_offset = selection.start_offset
        self.stop = StopReason.DATA_END
        self._data = memoryview(data)
        self._selection = selection
        self._limit_bytes = limit_bytes
        self._bytes_left = total_bytes_max
        self._is_first = True
        self._aborted = sorted(selection.aborted, key=lambda each: each[1], reverse=True)
        self._aborted_producers: dict[int, None] = {}
        self._finder: RunFinder = kernel.RunFinder(
            self._data, selection.start_offset, selection.end_offset, selection.check_crc
        )

    @property
    def selection_left(self) -> Selection:
        """What is left to be wanted: of transactions, only those whose end was not read."""
        open_ones = [AbortedProducer(each, self.next_offset) for each in self._aborted_producers]
        return Selection(
            self.next_offset,
            self._selection.end_offset,
            (*open_ones, *self._aborted),
            self._selection.check_crc,
        )

    def cursor(self, *, checks_crc: bool) -> "RecordCursor":
        """A cursor for the records of these batches."""
        selection = self._selection
        cursor: RecordCursor = kernel.RecordCursor(
            self._data, selection.start_offset, selection.end_offset, checks_crc
        )
        return cursor

    def __iter__(self) -> "Iterator[BatchRun]":
        while True:
            run = self._finder.find(self.position, self._bytes_left)
            if run.end == run.position:
                header = self._header()
                if header is None:
                    return
                is_readable = self._is_readable(header, self.position)
                run = self._finder.find_one(self.position, is_readable)
            if run.codec:
                self._decompress(run)
            if run.batch_count > 0:
                if run.size > self._bytes_left and not self._is_first:
                    self.stop = StopReason.SIZE_LIMIT
                    self._advance_to(BatchHeader.read(self._data, run.position).base_offset)
                    return
                self._bytes_left -= run.size
                self._is_first = False
                yield run
            self.position = run.end
            self._advance_to(run.next_offset)

    def _header(self) -> BatchHeader | None:
        """The header of the batch at the current position, or None and why there is none."""
        data, position = self._data, self.position
        if position + RECORDS_POSITION > len(data):
            return None
        if data[position + MAGIC_POSITION] < MAGIC:
            self.stop = StopReason.LEGACY
            return None
        header = BatchHeader.read(data, position)
        if position + header.size > len(data):
            return None
        base_offset, last_delta = header.base_offset, header.last_offset_delta
        if base_offset < 0 or last_delta < 0 or base_offset >= OFFSET_MAX - last_delta:
            raise ProtocolError(f"batch has offsets {base_offset} + {last_delta}")
        if base_offset >= self._selection.end_offset:
            self.stop = StopReason.END_OFFSET
            return None
        return header

    def _decompress(self, run: "BatchRun") -> None:
        section = self._data[run.position + RECORDS_POSITION : run.end]
        body = decompress(codec_of(run.codec), section, limit_bytes=self._limit_bytes)
        run.decompress_to(memoryview(body))

    def _advance_to(self, offset: int) -> None:
        self.next_offset = max(self.next_offset, min(offset, self._selection.end_offset))

    def _is_readable(self, header: BatchHeader, position: int) -> bool:
        """Whether a batch holds records for readers, by the rules of transactions."""
        if not header.attributes & (CONTROL | TRANSACTIONAL):
            return True
        while self._aborted and self._aborted[-1][1] <= header.last_offset:
            self._aborted_producers[self._aborted.pop()[0]] = None
        if not header.is_control:
            return header.producer_id not in self._aborted_producers
        if header.producer_id in self._aborted_producers:
            self._check_crc(header, position)
            marker = read_end_marker(self._data, position)
            if marker is not None and not marker.is_commit:
                del self._aborted_producers[header.producer_id]
        return False

    def _check_crc(self, header: BatchHeader, position: int) -> None:
        if self._selection.check_crc and not crc_is_valid(self._data, position, header.size):
            raise ProtocolError(f"the batch at offset {header.base_offset} has a wrong checksum")
