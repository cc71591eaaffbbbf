"""The framing that every record format shares.

A log and a record set are a row of entries: a batch (magic 2), or a message, which may
wrap a compressed set (magic 0 and 1). All start alike:

    0  offset  int64
    8  length  int32, counts the bytes after itself
    16 magic   int8
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from moldau.errors import ErrorCode, KafkaError
from moldau.records.buffers import ReadableBuffer

PREFIX_SIZE = 12
MAGIC_POSITION = 16
MAGIC_MAX = 2

_LENGTH = struct.Struct(">i")
_LENGTH_POSITION = 8
_LENGTH_MIN = 14  # the empty message of magic 0


class BatchEntry(NamedTuple):
    """Where one batch or message lies; `size` includes the prefix."""

    position: int
    size: int
    magic: int


def entry_at(data: ReadableBuffer, position: int) -> BatchEntry | None:
    """Find the entry at `position`; None if it is not complete.

    An entry whose length or magic cannot be right is CORRUPT_MESSAGE: what follows it
    cannot be found.
    """
    available = len(data) - position
    if available < PREFIX_SIZE:
        return None
    (length,) = _LENGTH.unpack_from(data, position + _LENGTH_POSITION)
    if length < _LENGTH_MIN:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, f"length {length} is below {_LENGTH_MIN}")
    if available <= MAGIC_POSITION:
        return None
    magic = data[position + MAGIC_POSITION]
    if magic > MAGIC_MAX:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, f"unknown magic {magic}")
    size = PREFIX_SIZE + length
    return BatchEntry(position, size, magic) if size <= available else None


def iterate_entries(data: ReadableBuffer, start: int = 0) -> Iterator[BatchEntry]:
    """Yield each complete entry; a partial one at the end is left out, as Kafka does."""
    entry = entry_at(data, start)
    while entry is not None:
        yield entry
        entry = entry_at(data, entry.position + entry.size)
