"""The offset index of a segment: where in the file to start looking for an offset.

The file is a run of 8-byte entries: an offset as int32 relative to the segment's base
offset, and the int32 position of a batch in the segment's file. The offset is the *last*
one of that batch. Entries are sparse and rise. Kafka preallocates the file of an active
segment with zeros; the first zero entry is the end, since no entry points to position 0.

In memory the index is the file's bytes. New entries reach the file when they are taken
with `take_unwritten`: an index is rebuilt from the segment after a crash, so it need
not be written along with every batch.
"""

from bisect import bisect_left, bisect_right
from struct import Struct

ENTRY = Struct(">ii")
ENTRY_SIZE = ENTRY.size
RELATIVE_OFFSET_MAX = 2**31 - 1


class CorruptIndex(Exception):
    """An index that cannot belong to its segment; it must be rebuilt."""


class OffsetIndex:
    """Maps the last offset of some batches to their positions."""

    __slots__ = ("_base_offset", "_entries", "_written_size", "last_offset", "last_position")

    def __init__(self, base_offset: int, data: bytes = b"") -> None:
        """Read the bytes of an index file; raise CorruptIndex if they cannot be one."""
        if len(data) % ENTRY_SIZE:
            raise CorruptIndex(f"{len(data)} bytes are not a whole number of entries")
        self._base_offset = base_offset
        self._entries = trimmed(data, ENTRY_SIZE)
        self._written_size = len(self._entries)
        self.last_offset, self.last_position = self._last()
        if self.last_offset < base_offset:
            raise CorruptIndex(f"ends at {self.last_offset}, before its base {base_offset}")

    def __len__(self) -> int:
        return len(self._entries) // ENTRY_SIZE

    def entry(self, number: int) -> tuple[int, int]:
        """The offset and position of entry `number`."""
        relative, position = ENTRY.unpack_from(self._entries, number * ENTRY_SIZE)
        return self._base_offset + relative, position

    def is_full(self, size_max: int) -> bool:
        """Whether no entry fits an index of `size_max` bytes any more."""
        return len(self._entries) + ENTRY_SIZE > size_max

    def entries_left(self, size_max: int) -> int:
        """How many entries fit before the index is full."""
        return max(0, (size_max - len(self._entries)) // ENTRY_SIZE - 1)

    def append(self, offset: int, position: int) -> None:
        """Add an entry behind all others."""
        assert position > self.last_position
        assert offset > self.last_offset or not self._entries
        self._entries += ENTRY.pack(offset - self._base_offset, position)
        self.last_offset = offset
        self.last_position = position

    def position_of(self, offset: int) -> int:
        """A position from which a scan forward cannot miss `offset`."""
        number = bisect_right(range(len(self)), offset, key=lambda n: self.entry(n)[0])
        return self.entry(number - 1)[1] if number else 0

    def offset_from(self, position: int) -> int | None:
        """The offset of the first entry at or after `position`, None if there is none."""
        number = bisect_left(range(len(self)), position, key=lambda n: self.entry(n)[1])
        return self.entry(number)[0] if number < len(self) else None

    def truncate_to(self, offset: int) -> None:
        """Drop the entries for `offset` and everything after it."""
        number = bisect_left(range(len(self)), offset, key=lambda n: self.entry(n)[0])
        del self._entries[number * ENTRY_SIZE :]
        self._written_size = min(self._written_size, len(self._entries))
        self.last_offset, self.last_position = self._last()

    def _last(self) -> tuple[int, int]:
        """The last entry; the base offset at position 0 if there is none."""
        return self.entry(len(self) - 1) if self._entries else (self._base_offset, 0)

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


def trimmed(data: bytes, entry_size: int) -> bytearray:
    """The entries before the zeros that a preallocated file ends with."""
    used = len(data.rstrip(b"\0"))
    return bytearray(data[: -(-used // entry_size) * entry_size])
