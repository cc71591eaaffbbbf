"""The three indexes of one segment, loaded, filled and written together.

The transaction index has a file only if a transaction was aborted in the segment.
"""

from collections.abc import Callable

from moldau.log import names
from moldau.log.index import CorruptIndex, OffsetIndex
from moldau.log.time_index import TimeIndex, TimestampOffset
from moldau.log.transaction_index import AbortedTransaction, TransactionIndex
from moldau.records.batch import BatchHeader
from moldau.runtime.disk import Disk, File

PathOf = Callable[[str], str]
"""Gives the path of one of the segment's files, by kind (`names.OFFSET_INDEX`)."""


class Indexes:
    """What is known about the positions, timestamps and aborted transactions of a segment."""

    __slots__ = ("_base_offset", "_unindexed_size", "has_changed", "offsets", "times",
                 "transactions")  # fmt: skip

    def __init__(self, base_offset: int) -> None:
        """The indexes of a segment without batches, or of one to be indexed anew."""
        self._base_offset = base_offset
        self._unindexed_size = 0
        self.offsets = OffsetIndex(base_offset)
        self.times = TimeIndex(base_offset)
        self.transactions = TransactionIndex(base_offset)
        self.has_changed = True

    def load_transactions(self, disk: Disk, path: str) -> None:
        """Read the transaction index, if there is one; raises CorruptIndex."""
        if disk.status(path) is not None:
            self.transactions = TransactionIndex(self._base_offset, disk.read_file(path))

    def load_positions(self, disk: Disk, path_of: PathOf, *, log_size: int) -> None:
        """Read the other two; raises CorruptIndex if one is missing or cannot be right."""
        base_offset = self._base_offset
        try:
            offsets = OffsetIndex(base_offset, disk.read_file(path_of(names.OFFSET_INDEX)))
            times = TimeIndex(base_offset, disk.read_file(path_of(names.TIME_INDEX)))
        except FileNotFoundError as error:
            raise CorruptIndex("an index file is missing") from error
        if len(offsets) and offsets.last_position >= log_size:
            raise CorruptIndex(f"points past the {log_size} bytes of the segment")
        self.offsets, self.times = offsets, times
        self.has_changed = False

    def add(
        self, position: int, header: BatchHeader, largest: TimestampOffset, interval_bytes: int
    ) -> None:
        """Index a batch if enough bytes went by; `largest` includes this batch."""
        if self._unindexed_size > interval_bytes:
            self.offsets.append(header.base_offset + header.last_offset_delta, position)
            self.times.append(*largest)
            self._unindexed_size = 0
            self.has_changed = True
        self._unindexed_size += header.size

    def add_last(self, largest: TimestampOffset) -> None:
        """Note the largest timestamp of a segment that gets no more batches."""
        self.times.append(*largest)
        self.has_changed = self.has_changed or self.times.has_unwritten

    def add_aborted(self, transaction: AbortedTransaction) -> None:
        """Note a transaction whose abort marker is in the segment."""
        self.transactions.append(transaction)
        self.has_changed = True

    def truncate_to(self, offset: int) -> None:
        """Forget `offset` and everything after it."""
        self.offsets.truncate_to(offset)
        self.times.truncate_to(offset)
        self.transactions.truncate_to(offset)
        self._unindexed_size = 0
        self.has_changed = True

    def forget_positions(self) -> None:
        """Empty the two indexes that a scan of headers can fill again."""
        self.offsets = OffsetIndex(self._base_offset)
        self.times = TimeIndex(self._base_offset)
        self._unindexed_size = 0
        self.has_changed = True

    def is_full(self, size_max: int) -> bool:
        """Whether either index has reached the size the topic allows it.

        One entry of the time index is kept free for the end of the segment.
        """
        return self.offsets.is_full(size_max) or self.times.is_full(size_max)

    def entries_left(self, size_max: int) -> int:
        """How many entries surely fit before either index is full."""
        return min(self.offsets.entries_left(size_max), self.times.entries_left(size_max))

    def write(self, disk: Disk, path_of: PathOf) -> list[File]:
        """Bring the files up to date and return them; the caller syncs them."""
        written = []
        for kind, index in (
            (names.OFFSET_INDEX, self.offsets),
            (names.TIME_INDEX, self.times),
            (names.TRANSACTION_INDEX, self.transactions),
        ):
            path = path_of(kind)
            if kind == names.TRANSACTION_INDEX and not len(index) and disk.status(path) is None:
                continue
            file = disk.open_append(path)
            if file.size() != index.written_size:
                file.truncate(index.written_size)
            if index.has_unwritten:
                file.append(index.take_unwritten())
            written.append(file)
        self.has_changed = False
        return written
