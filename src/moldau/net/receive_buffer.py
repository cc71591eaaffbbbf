# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The buffer that one connection receives into; compiled as `_receive_buffer`.

What has come and is not taken yet stands between `start` and `end`; the frame that was taken last
stands before `start`, and stays there until room is made.
"""

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from moldau.runtime import uncompiled as cython

if not cython.compiled:
    from moldau.records.memory import int32_at, writable

# Enough for how clients begin. Thousands may connect and then say nothing: only who has more to
# say gets the whole buffer.
FIRST_BYTES = 512
_SIZE_BYTES = 4


class ReceiveBuffer:
    """Grows with the bytes that arrive, never to the size that was only announced.

    A view that is still held keeps a buffer alive that was replaced, unchanged.
    """

    def __init__(self, capacity: int, frame_size_max: int) -> None:
        """`capacity` is what every connection may have; more is for larger frames."""
        self._capacity = capacity
        self._size_max = max(capacity, frame_size_max + _SIZE_BYTES)
        self.size = min(FIRST_BYTES, capacity)
        self._bytes = bytearray(self.size)
        self._view = memoryview(self._bytes)
        self.start = 0
        self.end = 0

    def free(self) -> memoryview:
        """Where to receive into."""
        return self._view[self.end :]

    def int_at(self, position: int) -> int:
        """The number at a position, which has come."""
        return int32_at(writable(self._bytes), position)

    def take(self, offset: int, size: int) -> memoryview:
        """So many bytes that have come, after those that are passed over."""
        start = self.start + offset
        self.start = start + size
        return self._view[start : self.start]

    def must_grow(self) -> bool:
        """Whether a full buffer can only be replaced by one that is larger than usual."""
        return self.start == 0 and self.size >= self._capacity

    def make_room(self) -> None:
        """Let there be free bytes in a full buffer."""
        if self.size < self._capacity:
            self._replace(self._capacity)
        elif self.start == 0:
            self._replace(min(2 * self.size, self._size_max))
        else:
            waiting = self.end - self.start
            self._view[:waiting] = self._view[self.start : self.end]
            self.start, self.end = 0, waiting

    def shrink(self) -> None:
        """Give back what a large frame needed, unless what waits needs it too."""
        if self.end - self.start < self._capacity < self.size:
            self._replace(self._capacity)

    def forget(self) -> None:
        """Keep no memory."""
        self.size = self.start = self.end = 0
        self._bytes = bytearray()
        self._view = memoryview(self._bytes)

    def _replace(self, size: int) -> None:
        waiting = self._view[self.start : self.end]
        made = bytearray(size)
        made[: len(waiting)] = waiting
        self._bytes, self._view, self.size = made, memoryview(made), size
        self.start, self.end = 0, len(waiting)
