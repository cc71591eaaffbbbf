"""Decompression by a library function into a buffer of bounded size."""

import mmap
from collections.abc import Callable

import cramjam

from moldau.errors import ProtocolError
from moldau.records.buffers import ReadableBuffer

DecompressInto = Callable[[ReadableBuffer, memoryview], int]

_GUESS_RATIO = 8
_GUESS_MIN_BYTES = 16 * 1024
_CLEARED_MAX_BYTES = 2**20


def room(capacity: int) -> memoryview:
    """A buffer to decompress into, of which large parts may remain unused.

    A bytearray clears all of itself first, which takes 30 ms for 64 MiB. Pages of an
    anonymous map cost nothing before they are written to, but a small map costs more.
    """
    if capacity > _CLEARED_MAX_BYTES:
        return memoryview(mmap.mmap(-1, capacity))
    return memoryview(bytearray(capacity))


def decompress_bounded(
    decompress_into: DecompressInto, data: ReadableBuffer, *, limit_bytes: int
) -> memoryview:
    """Decompress into at most `limit_bytes`.

    Most payloads do not tell their size, so the first buffer is a guess, and only those
    it is too small for are tried again with one as large as the limit.
    """
    guess = min(limit_bytes, max(_GUESS_MIN_BYTES, _GUESS_RATIO * len(data)))
    try:
        return _decompress(decompress_into, data, guess)
    except ProtocolError:
        if guess == limit_bytes:
            raise
    return _decompress(decompress_into, data, limit_bytes)


def _decompress(decompress_into: DecompressInto, data: ReadableBuffer, capacity: int) -> memoryview:
    output = room(capacity)
    try:
        size = decompress_into(data, output)
    except cramjam.DecompressionError as error:
        raise ProtocolError(f"cannot decompress into {capacity} bytes: {error}") from None
    return output[:size]
