"""The time index of a segment: from which offset on to look for a timestamp.

The file is a run of 12-byte entries: the largest timestamp of the segment so far as int64,
and the last offset of the batch that holds it as int32 relative to the segment's base
offset. Timestamps and offsets rise. The last entry of a sealed segment has the largest
timestamp of all, which is what retention goes by. See `OffsetIndex` for the zeros at the
end and for when entries are written.
"""

from bisect import bisect_left, bisect_right
from struct import Struct
from typing import NamedTuple

from moldau.log.index import CorruptIndex, trimmed
from moldau.model import NO_TIMESTAMP

ENTRY = Struct(">qi")
ENTRY_SIZE = ENTRY.size


class TimestampOffset(NamedTuple):
    """A timestamp and the offset that has it."""

    timestamp: int
    offset: int


class TimeIndex:
    """Maps rising timestamps to offsets."""

    __slots__ = ("_base_offset", "_entries", "_written_size", "last")

    def __init__(self, base_offset: int, data: bytes = b"") -> None:
        """Read the bytes of an index file; raise CorruptIndex if they cannot be one."""
        if len(data) % ENTRY_SIZE:
            raise CorruptIndex(f"{len(data)} bytes are not a whole number of entries")
        self._base_offset = base_offset
        self._entries = trimmed(data, ENTRY_SIZE)
        self._written_size = len(self._entries)
        self.last = self._last()
        first = self.entry(0) if self._entries else self.last
        if self.last.offset < base_offset or self.last.timestamp < first.timestamp:
            raise CorruptIndex(f"ends at {self.last}, before its start {first}")

    def __len__(self) -> int:
        return len(self._entries) // ENTRY_SIZE

    def entry(self, number: int) -> TimestampOffset:
        """Entry `number`."""
        timestamp, relative = ENTRY.unpack_from(self._entries, number * ENTRY_SIZE)
        return TimestampOffset(timestamp, self._base_offset + relative)

    def is_full(self, size_max: int) -> bool:
        """Whether only the entry that ends a segment fits `size_max` bytes."""
        return len(self._entries) + 2 * ENTRY_SIZE > size_max

    def entries_left(self, size_max: int) -> int:
        """How many entries fit before the index is full."""
        return max(0, (size_max - len(self._entries)) // ENTRY_SIZE - 2)

    def append(self, timestamp: int, offset: int) -> None:
        """Add an entry, unless the timestamp is not larger than the last one."""
        if timestamp <= self.last.timestamp:
            return
        assert offset > self.last.offset or not self._entries
        self._entries += ENTRY.pack(timestamp, offset - self._base_offset)
        self.last = TimestampOffset(timestamp, offset)

    def offset_before(self, timestamp: int) -> int:
        """An offset from which a scan forward cannot miss the first record of `timestamp`."""
        number = bisect_right(range(len(self)), timestamp, key=lambda n: self.entry(n).timestamp)
        return self.entry(number - 1).offset if number else self._base_offset

    def truncate_to(self, offset: int) -> None:
        """Drop the entries for `offset` and everything after it."""
        number = bisect_left(range(len(self)), offset, key=lambda n: self.entry(n).offset)
        del self._entries[number * ENTRY_SIZE :]
        self._written_size = min(self._written_size, len(self._entries))
        self.last = self._last()

    def _last(self) -> TimestampOffset:
        """The last entry; no timestamp at the base offset if there is none."""
        if self._entries:
            return self.entry(len(self) - 1)
        return TimestampOffset(NO_TIMESTAMP, self._base_offset)

    @property
    def written_size(self) -> int:
        """How many bytes of the file are right; anything after them must be cut."""
        return self._written_size

    @property
    def has_unwritten(self) -> bool:
        return self._written_size < len(self._entries)

    def take_unwritten(self) -> bytes:
        """The entries that the file does not have yet; from now on it is said to have them."""
        taken = bytes(self._entries[self._written_size :])
        self._written_size = len(self._entries)
        return taken
