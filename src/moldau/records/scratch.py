"""Memory for what is decompressed only to be looked at."""

from collections import deque

from moldau.records.pool import MemoryPool

_KEPT_BYTES = 8 << 20


class Scratch:
    """A pool for each thread that is at work: pages of the system cost more than the use of them.

    A pool is taken out while it is used, so that there are never more of them than threads.
    """

    def __init__(self) -> None:
        self._idle: deque[MemoryPool] = deque()

    def take(self) -> MemoryPool:
        """A pool of one's own, until it is given back."""
        try:
            return self._idle.pop()
        except IndexError:
            return MemoryPool(_KEPT_BYTES)

    def give_back(self, pool: MemoryPool) -> None:
        """Let others have it."""
        self._idle.append(pool)
