"""Memory for columns that is used again once no view of it is left."""

from collections import deque

from moldau.records.fetched import kernel

DEFAULT_CAPACITY_BYTES = 256 << 20
SIZE_MIN = 32 << 10
"""Smaller memory is not kept: that of the process itself is as quick."""


class MemoryPool:
    """Gives out memory, and gives it out again after the last view of it is gone.

    Nothing needs to be handed back: a bytearray refuses to change its size while there is a view
    of it, or of a part, and so the pool finds out when it is asked for more. It keeps at most
    `capacity_bytes`; what goes beyond that is given out but not kept. Made for one reader: two
    threads may not share it.
    """

    def __init__(self, capacity_bytes: int = DEFAULT_CAPACITY_BYTES) -> None:
        self._capacity_bytes = capacity_bytes
        self._kept_bytes = 0
        # By size, a power of two: fetches of about the same size then use the same memory.
        self._kept: dict[int, deque[bytearray]] = {}

    @property
    def kept_bytes(self) -> int:
        """How much memory the pool holds on to, in use or not."""
        return self._kept_bytes

    def allocate(self, size: int) -> memoryview:
        """At least `size` bytes, of any content."""
        if size < SIZE_MIN:
            return memoryview(kernel.allocate(size))
        size = 1 << (size - 1).bit_length()
        kept = self._kept.setdefault(size, deque())
        for _ in range(len(kept)):
            memory = kept[0]
            kept.rotate(-1)  # what is given out now is looked at last
            if _is_unviewed(memory):
                return memoryview(memory)
        fresh: bytearray = kernel.allocate(size)
        if self._has_room(size):
            kept.append(fresh)
            self._kept_bytes += size
        return memoryview(fresh)

    def _has_room(self, size: int) -> bool:
        """Whether so much more may be kept, if need be after letting go of what is not in use."""
        if self._kept_bytes + size > self._capacity_bytes:
            for kept in self._kept.values():
                in_use = [memory for memory in kept if not _is_unviewed(memory)]
                kept.clear()
                kept.extend(in_use)
            self._kept_bytes = sum(each * len(kept) for each, kept in self._kept.items())
        return self._kept_bytes + size <= self._capacity_bytes


def _is_unviewed(memory: bytearray) -> bool:
    """Shortening by a byte and back moves nothing, and is refused while there is a view."""
    try:
        memory.pop()
    except BufferError:
        return False
    memory.append(0)
    return True
