"""The byte buffers that the record formats are read from and written to."""

import mmap
from collections.abc import Callable
from typing import TypeAlias

ReadableBuffer: TypeAlias = bytes | bytearray | memoryview
WritableBuffer: TypeAlias = bytearray | memoryview
Allocate: TypeAlias = Callable[[int], memoryview]
"""Gives at least so many bytes of memory, of any content."""

ANY_NUMBER = 2**31 - 1

_CLEARED_MAX_BYTES = 2**20


def room(capacity: int) -> memoryview:
    """A buffer to write into, of which large parts may remain unused.

    A bytearray clears all of itself first, which takes 30 ms for 64 MiB. Pages of an
    anonymous map cost nothing before they are written to, but a small map costs more.
    """
    if capacity > _CLEARED_MAX_BYTES:
        return memoryview(mmap.mmap(-1, capacity))
    return memoryview(bytearray(capacity))
