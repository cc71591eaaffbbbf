"""Memory for what is decompressed only to be looked at."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from moldau.records.pool import MemoryPool

_KEPT_BYTES = 8 << 20


class Scratch:
    """A pool for each thread that is at work: pages of the system cost more than the use of them.

    A pool is taken out while it is used, so that there are never more of them than threads.
    """

    def __init__(self) -> None:
        self._idle: deque[MemoryPool] = deque()

    @contextmanager
    def pool(self) -> Iterator[MemoryPool]:
        """A pool of one's own, until the block ends."""
        try:
            pool = self._idle.pop()
        except IndexError:
            pool = MemoryPool(_KEPT_BYTES)
        try:
            yield pool
        finally:
            self._idle.append(pool)
