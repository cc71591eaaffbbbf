"""A run of consecutive batches in one file, with its indexes.

Only the last segment of a log is appended to; the others are sealed. A segment that
is not used is cold: it holds no descriptor and no index, only its base offset and size.
"""

import contextlib
import logging
from collections.abc import Iterator, Sequence
from typing import Self

from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.log import names, scan
from moldau.log.index import RELATIVE_OFFSET_MAX, CorruptIndex
from moldau.log.indexes import Indexes
from moldau.log.time_index import ENTRY_SIZE as TIME_ENTRY_SIZE
from moldau.log.time_index import TimeIndex, TimestampOffset
from moldau.log.transaction_index import AbortedInRange, AbortedTransaction
from moldau.log.volume import Folder
from moldau.model import NO_TIMESTAMP
from moldau.records.batch import BatchHeader
from moldau.runtime.disk import Buffer, File

_log = logging.getLogger(__name__)

# Used where an index is rebuilt on the way; the topic's own setting is not at hand there.
_REBUILT_INTERVAL_BYTES = 4096
_RECENT_MAX = 16


class Segment:
    """The batches from `base_offset` on, up to the next segment's base offset."""

    __slots__ = (
        "_file",
        "_folder",
        "_indexes",
        "_is_writable",
        "_largest",
        "_recent",
        "_suffix",
        "base_offset",
        "created_ms",
        "first_timestamp",
        "size",
    )

    def __init__(
        self, folder: Folder, base_offset: int, *, size: int, created_ms: int, suffix: str = ""
    ) -> None:
        """Describe a segment whose files exist; `created_ms` is the file's time on disk."""
        self.base_offset = base_offset
        self.size = size
        self.created_ms = created_ms
        self._folder = folder
        self._suffix = suffix
        self._file: File | None = None
        self._is_writable = False
        self._indexes: Indexes | None = None
        self.first_timestamp: int | None = None
        self._largest: TimestampOffset | None = None
        # Followers and consumers that keep up ask for the offsets of the last appends: by
        # these their batches are found without a look at the file.
        self._recent: dict[int, tuple[int, BatchHeader]] | None = None

    @classmethod
    def create(cls, folder: Folder, base_offset: int, *, now_ms: int, suffix: str = "") -> Self:
        """Create the files of an empty segment; whatever was there under their names is gone."""
        segment = cls(folder, base_offset, size=0, created_ms=now_ms, suffix=suffix)
        for kind in names.SEGMENT_SUFFIXES:
            folder.disk.remove(segment.path(kind))
        segment._file = folder.disk.open_append(segment.path(names.LOG))
        segment._is_writable = True
        segment.reset_indexes()
        segment.write_indexes()
        folder.volume.touch(segment)
        return segment

    def path(self, kind: str) -> str:
        """The path of one of the segment's files, such as `names.LOG`."""
        return self._folder.file(self.base_offset, kind + self._suffix)

    def file(self) -> File:
        """The open file of the batches; a caller that holds it can go on reading it."""
        self._folder.volume.touch(self)
        if self._file is None:
            self._file = self._folder.disk.open_read(self.path(names.LOG))
            self._is_writable = False
        return self._file

    # Appending

    def append(
        self, data: Buffer, headers: Sequence[BatchHeader], *, index_interval_bytes: int
    ) -> None:
        """Write batches behind all others. `headers` are those of `data`, offsets in place.

        After an OSError the file may hold part of them, the segment does not.
        """
        if self._file is None or not self._is_writable:
            self._file = self._folder.disk.open_append(self.path(names.LOG))
            self._is_writable = True
        self._folder.volume.touch(self)
        largest = self._largest or self.largest
        indexes = self._indexes or self.indexes
        self._file.append(data)
        position = self.size
        if position == 0:
            self.first_timestamp = headers[0].max_timestamp
        for header in headers:
            if header.max_timestamp > largest.timestamp:
                largest = TimestampOffset(header.max_timestamp, header.last_offset)
            indexes.add(position, header, largest, index_interval_bytes)
            position += header.size
        self._largest = largest
        self._note_append(self.size, headers[0])
        self.size = position

    def _note_append(self, position: int, header: BatchHeader) -> None:
        recent = self._recent
        if recent is None:
            recent = self._recent = {}
        elif len(recent) == _RECENT_MAX:
            del recent[next(iter(recent))]
        recent[header.base_offset] = position, header

    def can_hold(self, offset: int) -> bool:
        """Whether `offset` fits the four bytes that the indexes have for it."""
        return 0 <= offset - self.base_offset <= RELATIVE_OFFSET_MAX

    def age_ms(self, *, now_ms: int, timestamp: int) -> int:
        """How long the segment has been filled when a batch of `timestamp` comes.

        It goes by the timestamps of the batches, so that replaying old data does not roll
        a segment per batch; by the wall clock only if they have none.
        """
        if self.first_timestamp is None and self.size:
            _, first = next(self.headers())
            self.first_timestamp = first.max_timestamp
        if self.first_timestamp is not None and self.first_timestamp >= 0:
            return timestamp - self.first_timestamp
        return now_ms - self.created_ms

    def add_aborted(self, transaction: AbortedTransaction) -> None:
        """Note a transaction whose abort marker was just appended."""
        self.indexes.add_aborted(transaction)

    def seal(self) -> None:
        """Finish a segment that gets no more batches, for now or for good."""
        self._recent = None
        self.indexes.add_last(self.largest)
        self.write_indexes()

    # Looking up

    @property
    def indexes(self) -> Indexes:
        if self._indexes is None:
            self._load_indexes()
            self._folder.volume.touch(self)
            assert self._indexes is not None
        return self._indexes

    @property
    def largest(self) -> TimestampOffset:
        """The largest timestamp and the last offset of the first batch that has it."""
        if self._largest is None:
            self._largest = self._read_largest()
        return self._largest

    def headers(self, start: int = 0) -> Iterator[tuple[int, BatchHeader]]:
        """Position and header of each batch from position `start` on."""
        return scan.headers(self.file(), start, self.size)

    def batches(self, start: int = 0) -> Iterator[tuple[int, BatchHeader, memoryview]]:
        """Position, header and bytes of each batch from position `start` on."""
        return scan.batches(self.file(), start, self.size)

    def locate(self, offset: int) -> tuple[int, BatchHeader] | None:
        """Find the batch that holds `offset`, or else the next one; None if none follows."""
        recent = None if self._recent is None else self._recent.get(offset)
        if recent is not None:
            return recent
        try:
            return self._search(offset, self.indexes.offsets.position_of(offset))
        except (ProtocolError, CorruptIndex) as error:
            self._rebuild_indexes(error)
            return self._search(offset, self.indexes.offsets.position_of(offset))

    def next_offset(self) -> int:
        """The offset behind the last batch, found through the end of the index."""
        try:
            return self._last_next_offset(self.indexes.offsets.last_position)
        except ProtocolError as error:
            self._rebuild_indexes(error)
            return self._last_next_offset(0)

    @property
    def has_aborted(self) -> bool:
        """Whether a transaction that was aborted has ended here."""
        return len(self.indexes.transactions) > 0

    def aborted_in(self, start_offset: int, end_offset: int) -> AbortedInRange:
        """The aborted transactions with offsets in a range, as far as this segment knows."""
        return self.indexes.transactions.collect(start_offset, end_offset)

    # Changing what is there

    def truncate_to(self, offset: int) -> int:
        """Drop the batch that holds `offset` and everything after it; returns the new end."""
        located = self.locate(offset)
        self._recent = None
        self.indexes.truncate_to(offset)
        if located is None:
            return offset
        position, dropped = located
        self._file = self._folder.disk.open_append(self.path(names.LOG))
        self._is_writable = True
        self._file.truncate(position)
        self.size = position
        if self.size == 0:
            self.first_timestamp = None
        self._largest = self._scan_largest(self.indexes.times.last)
        return min(offset, dropped.base_offset)

    def cut(self, size: int) -> None:
        """Drop everything from position `size` on; the caller has indexed only what is before."""
        if size < self.size:
            self._recent = None
            self._folder.disk.open_append(self.path(names.LOG)).truncate(size)
            self.size = size

    def reset_indexes(self) -> None:
        """Forget all indexes; `index` and `add_aborted` fill them again."""
        self._indexes = Indexes(self.base_offset)
        self._largest = TimestampOffset(NO_TIMESTAMP, self.base_offset)
        self.first_timestamp = None

    def reindex(self, *, interval_bytes: int) -> None:
        """Index all batches anew; the transaction index stays as it is.

        Raises ProtocolError where the file does not hold a batch.
        """
        if self._indexes is None:
            self._indexes = Indexes(self.base_offset)
            self._load_transactions(self._indexes)
        self._indexes.forget_positions()
        self._largest = TimestampOffset(NO_TIMESTAMP, self.base_offset)
        for position, header in self.headers():
            self.index(position, header, interval_bytes=interval_bytes)

    def index(self, position: int, header: BatchHeader, *, interval_bytes: int) -> None:
        """Index a batch that is in the file already."""
        largest = self.largest
        if header.max_timestamp > largest.timestamp:
            self._largest = largest = TimestampOffset(header.max_timestamp, header.last_offset)
        self.indexes.add(position, header, largest, interval_bytes)

    def write_indexes(self) -> list[File]:
        """Bring the index files up to date; returns those that were written to."""
        if self._indexes is None or not self._indexes.has_changed:
            return []
        return self._indexes.write(self._folder.disk, self.path)

    def rename(self, suffix: str) -> list[str]:
        """Give all files of the segment another suffix, such as `names.DELETED`.

        The file of the batches goes first: indexes that a crash leaves behind without it
        are orphans, which are removed when the log is opened. Returns the new paths.
        """
        disk = self._folder.disk
        paths = []
        for kind in names.SEGMENT_SUFFIXES:
            old, new = self.path(kind), self._folder.file(self.base_offset, kind + suffix)
            if kind == names.LOG or disk.status(old) is not None:
                disk.rename(old, new)
                paths.append(new)
        self._suffix = suffix
        return paths

    def cool(self) -> None:
        """Let go of the descriptor, and of indexes that are safe on disk.

        A descriptor with unsynced bytes may go too: the kernel reports a write-back error
        to the next descriptor that syncs the file.
        """
        self._file = None
        if self._indexes is not None and not self._indexes.has_changed:
            self._indexes = None

    # Searching and repairing

    def _search(self, offset: int, start: int) -> tuple[int, BatchHeader] | None:
        if start >= self.size > 0:
            raise CorruptIndex(f"index leads {offset} past the end, to {start}")
        for position, header in self.headers(start):
            if position == start != 0 and not self.base_offset <= header.base_offset <= offset:
                raise CorruptIndex(f"index leads {offset} to a batch at {header.base_offset}")
            if header.last_offset >= offset:
                return position, header
        return None

    def _last_next_offset(self, start: int) -> int:
        found = self.base_offset
        for _, header in self.headers(start):
            found = header.next_offset
        return found

    def _load_indexes(self) -> None:
        indexes = Indexes(self.base_offset)
        self._load_transactions(indexes)
        self._indexes = indexes
        try:
            indexes.load_positions(self._folder.disk, self.path, log_size=self.size)
        except CorruptIndex as error:
            self._rebuild_indexes(error)

    def _load_transactions(self, indexes: Indexes) -> None:
        path = self.path(names.TRANSACTION_INDEX)
        try:
            indexes.load_transactions(self._folder.disk, path)
        except CorruptIndex as error:
            # To go on without it would show aborted records as if they were committed.
            raise KafkaError(ErrorCode.CORRUPT_MESSAGE, f"{path}: {error}") from error

    def _rebuild_indexes(self, reason: Exception) -> None:
        """Index the segment again, by its headers alone; opening a log does it with checks."""
        _log.warning("Rebuilding indexes of %s: %s", self.path(names.LOG), reason)
        try:
            self.reindex(interval_bytes=_REBUILT_INTERVAL_BYTES)
        except ProtocolError as error:
            message = f"{self.path(names.LOG)}: {error}"
            raise KafkaError(ErrorCode.CORRUPT_MESSAGE, message) from error

    def _read_largest(self) -> TimestampOffset:
        """The last entry of the time index, if possible without reading the rest of it."""
        if self._indexes is None:
            with contextlib.suppress(FileNotFoundError, CorruptIndex):
                file = self._folder.disk.open_read(self.path(names.TIME_INDEX))
                size = file.size()
                tail = file.read(max(0, size - TIME_ENTRY_SIZE), TIME_ENTRY_SIZE)
                if size % TIME_ENTRY_SIZE == 0 and tail.strip(b"\0"):
                    return TimeIndex(self.base_offset, tail).last
        return self._scan_largest(self.indexes.times.last)

    def _scan_largest(self, known: TimestampOffset) -> TimestampOffset:
        """The largest timestamp, given the last that is indexed."""
        largest = known
        for _, header in self.headers(self.indexes.offsets.position_of(known.offset)):
            if header.max_timestamp > largest.timestamp:
                largest = TimestampOffset(header.max_timestamp, header.last_offset)
        return largest
