"""The transaction index of a segment: the aborted transactions that end in it.

The file is a run of 34-byte entries: an int16 version 0, then as int64 the producer id,
the first and the last offset of the transaction (the last is its marker's), and the last
stable offset right after it ended. Last offsets rise. Most segments have no such file.

In memory the index is the file's bytes; see `OffsetIndex` for when entries are written.
"""

from bisect import bisect_left
from struct import Struct
from typing import NamedTuple

from moldau.log.index import CorruptIndex

ENTRY = Struct(">hqqqq")
ENTRY_SIZE = ENTRY.size
VERSION = 0


class AbortedTransaction(NamedTuple):
    """One aborted transaction, `first_offset` to `last_offset`, both included."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class AbortedInRange(NamedTuple):
    """What one index knows about a range; later segments know more unless it is complete."""

    transactions: list[AbortedTransaction]
    is_complete: bool


class TransactionIndex:
    """The aborted transactions of one segment, by the offset they ended at."""

    __slots__ = ("_entries", "_written_size")

    def __init__(self, base_offset: int, data: bytes = b"") -> None:
        """Read the bytes of an index file; raise CorruptIndex if they cannot be one."""
        if len(data) % ENTRY_SIZE:
            raise CorruptIndex(f"{len(data)} bytes are not a whole number of entries")
        self._entries = bytearray(data)
        self._written_size = len(data)
        previous_last = base_offset - 1
        for version, *fields in ENTRY.iter_unpack(data):
            transaction = AbortedTransaction(*fields)
            if version != VERSION:
                raise CorruptIndex(f"entry of version {version}, not {VERSION}")
            if transaction.last_offset <= previous_last:
                raise CorruptIndex(f"{transaction} ends before {previous_last + 1}")
            if not 0 <= transaction.first_offset <= transaction.last_offset:
                raise CorruptIndex(f"{transaction} ends before it starts")
            previous_last = transaction.last_offset

    def __len__(self) -> int:
        return len(self._entries) // ENTRY_SIZE

    def entry(self, number: int) -> AbortedTransaction:
        """Entry `number`."""
        _version, *fields = ENTRY.unpack_from(self._entries, number * ENTRY_SIZE)
        return AbortedTransaction(*fields)

    def append(self, transaction: AbortedTransaction) -> None:
        """Add a transaction that ended after all others here."""
        assert not self._entries or transaction.last_offset > self.entry(len(self) - 1).last_offset
        self._entries += ENTRY.pack(VERSION, *transaction)

    def collect(self, start_offset: int, end_offset: int) -> AbortedInRange:
        """The transactions with offsets in `[start_offset, end_offset)`, as far as known here.

        The answer is complete once an entry was written when everything before
        `end_offset` was decided: a transaction that ended later cannot reach back there.
        """
        found = []
        for number in range(self._first_ending_from(start_offset), len(self)):
            transaction = self.entry(number)
            if transaction.first_offset < end_offset:
                found.append(transaction)
            if transaction.last_stable_offset >= end_offset:
                return AbortedInRange(found, is_complete=True)
        return AbortedInRange(found, is_complete=False)

    def truncate_to(self, offset: int) -> None:
        """Drop the transactions that ended at `offset` or later."""
        del self._entries[self._first_ending_from(offset) * ENTRY_SIZE :]
        self._written_size = min(self._written_size, len(self._entries))

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

    def _first_ending_from(self, offset: int) -> int:
        return bisect_left(range(len(self)), offset, key=lambda n: self.entry(n).last_offset)
