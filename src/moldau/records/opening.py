"""Opening the records of a request to look at them, within bounds on the event loop.

The size of compressed records says little: some kilobytes may open to many megabytes, or be
thousands of small pieces. What they open to is known when they have been opened, so that is
tried, up to a bound; whatever is beyond it has cost no more than the bound, and is opened in a
thread.

This file runs as it stands and is also compiled as `_opening`: each Produce request makes one.
"""

from moldau.errors import ProtocolError
from moldau.records.buffers import ANY_NUMBER, Allocate, ReadableBuffer
from moldau.records.compression import Codec, decompress
from moldau.records.refusal import TooLargeToOpen
from moldau.records.scratch import Scratch

ON_LOOP_BYTES = 2_097_152
"""Of all records of a request: as much as takes some milliseconds."""
# Each takes a few microseconds, however small it is.
_PIECES_MAX = 2000
_READ_ONE_BY_ONE_MAX = 1000


class Opening:
    """How much may still be opened of one request's records; anything, if that is None."""

    __slots__ = ("left_bytes", "scratch")

    def __init__(self, scratch: Scratch, left_bytes: int | None = None) -> None:
        self.scratch = scratch
        self.left_bytes = left_bytes

    def look_at(self, size: int) -> None:
        """Raise TooLargeToOpen if so many bytes, which are not compressed, are too much here."""
        left = self.left_bytes
        if left is not None:
            if size > left:
                raise TooLargeToOpen
            self.left_bytes = left - size

    def open(
        self, codec: Codec, payload: ReadableBuffer, *, limit_bytes: int, allocate: Allocate
    ) -> memoryview:
        """Decompress into at most `limit_bytes`; raise TooLargeToOpen if it is too much here."""
        left, pieces_max = self.left_bytes, ANY_NUMBER
        if left is not None:
            limit_bytes, pieces_max = min(left, limit_bytes), _PIECES_MAX
        try:
            opened = decompress(
                codec, payload, limit_bytes=limit_bytes, allocate=allocate, pieces_max=pieces_max
            )
        except ProtocolError:
            if left is None:
                raise
            raise TooLargeToOpen from None
        if left is not None:
            self.left_bytes = left - len(opened)
        return memoryview(opened)

    def read_one_by_one(self, record_count: int) -> None:
        """Raise TooLargeToOpen if so many records are too many to be read one by one here."""
        if self.left_bytes is not None and record_count > _READ_ONE_BY_ONE_MAX:
            raise TooLargeToOpen
