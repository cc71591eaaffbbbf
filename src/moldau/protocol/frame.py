"""Cuts a stream of received bytes into frames: an Int32 size, then as many bytes.

The transport receives straight into `writable()` and reports with `received()`;
`next_frame()` hands out what is complete, as a view that stays valid for as long as
it is held. Memory follows what has arrived, never what a size declares: a new
buffer is at most `growth` times the bytes that wait in it, or `CHUNK_BYTES`, and one that
is used again at most `GROWTH` times the last frame.
"""

import struct

from moldau.errors import ProtocolError

CHUNK_BYTES = 64 * 1024
GROWTH = 4

_SIZE = struct.Struct(">i")


class FrameReader:
    """The received bytes of one connection that are not yet handed out."""

    def __init__(self, limit_bytes: int, *, growth: int = GROWTH) -> None:
        self._growth = growth
        self.limit_bytes = limit_bytes
        """The largest frame allowed; may be changed between frames, as after SASL."""
        self._buffer = bytearray(CHUNK_BYTES)
        self._start = 0
        self._end = 0
        self._last_size = 0

    @property
    def waiting_bytes(self) -> int:
        """How many bytes have arrived that no frame has taken."""
        return self._end - self._start

    @property
    def missing_bytes(self) -> int:
        """How many bytes of the next frame are still to come, as far as its size is known."""
        if self.waiting_bytes < _SIZE.size:
            return 0
        declared: int = _SIZE.unpack_from(self._buffer, self._start)[0]
        return max(0, declared + _SIZE.size - self.waiting_bytes)

    def begins_with(self, high: int) -> bool:
        """Whether the next frame begins with these two bytes, which are a part of its size."""
        waits_for = memoryview(self._buffer)[self._start : self._end]
        return waits_for[:2] == high.to_bytes(2, "big")

    def writable(self) -> memoryview:
        """Where the next bytes may be received; never empty."""
        if self._end == len(self._buffer):
            self._make_room()
        return memoryview(self._buffer)[self._end :]

    def received(self, count: int) -> None:
        """Say that `count` bytes were put at the start of `writable()`."""
        assert 0 <= count <= len(self._buffer) - self._end
        self._end += count

    def feed(self, data: bytes | bytearray | memoryview) -> None:
        """Take bytes that were received elsewhere."""
        rest = memoryview(data)
        while rest:
            room = self.writable()
            count = min(len(room), len(rest))
            room[:count] = rest[:count]
            self.received(count)
            rest = rest[count:]

    def next_frame(self) -> memoryview | None:
        """The next complete frame without its size, or None until more has arrived.

        Raises `ProtocolError` for a size that is negative or above the limit; the
        stream cannot be read on after that.
        """
        size = self._declared_size()
        if size is None or self.waiting_bytes - _SIZE.size < size:
            return None
        start = self._start + _SIZE.size
        self._start = start + size
        self._last_size = size
        frame = memoryview(self._buffer)[start : self._start]
        if self._start == self._end and len(self._buffer) > GROWTH * max(CHUNK_BYTES, size):
            # Large frames have come and gone.
            self._buffer = bytearray(CHUNK_BYTES)
            self._start = self._end = 0
        return frame

    def forget(self) -> None:
        """Let go of what has arrived: no more will come, and the rest of a frame is of no use."""
        self._buffer = bytearray()
        self._start = self._end = self._last_size = 0

    def _declared_size(self) -> int | None:
        if self.waiting_bytes < _SIZE.size:
            return None
        size: int = _SIZE.unpack_from(self._buffer, self._start)[0]
        if not 0 <= size <= self.limit_bytes:
            raise ProtocolError(f"a frame of {size} bytes; the limit is {self.limit_bytes}")
        return size

    def _make_room(self) -> None:
        """Move the waiting bytes to the front of the buffer, or of another one.

        The buffer is used again where frames of its size keep coming and no view of it
        is held: fresh memory for each large frame costs more than receiving it.
        """
        waiting = self.waiting_bytes
        needed = _SIZE.size + (self._declared_size() or 0)
        if needed <= waiting:  # complete frames, which were not taken yet
            needed = 2 * waiting
        expected = GROWTH * max(CHUNK_BYTES, needed, self._last_size)
        if needed <= len(self._buffer) <= expected and self._is_free():
            self._buffer[:waiting] = self._buffer[self._start : self._end]
        else:
            buffer = bytearray(max(CHUNK_BYTES, min(needed, self._growth * waiting)))
            buffer[:waiting] = memoryview(self._buffer)[self._start : self._end]
            self._buffer = buffer
        self._start, self._end = 0, waiting

    def _is_free(self) -> bool:
        """Whether no view of the buffer is left; with one, its size could not change."""
        try:
            self._buffer.append(self._buffer.pop())
        except BufferError:
            return False
        return True
