"""Decompression by a library function into a buffer of bounded size."""

from collections.abc import Callable

import cramjam

from moldau.errors import ProtocolError
from moldau.records.buffers import Allocate, ReadableBuffer, room

DecompressInto = Callable[[ReadableBuffer, memoryview], int]

_GUESS_RATIO = 8
_GUESS_MIN_BYTES = 16 * 1024


def decompress_bounded(
    decompress_into: DecompressInto,
    data: ReadableBuffer,
    *,
    limit_bytes: int,
    allocate: Allocate = room,
) -> memoryview:
    """Decompress into at most `limit_bytes`.

    Most payloads do not state their size, so the first buffer is a guess, and only those
    it is too small for are tried again with one as large as the limit.
    """
    guess = min(limit_bytes, max(_GUESS_MIN_BYTES, _GUESS_RATIO * len(data)))
    try:
        return _decompress(decompress_into, data, allocate(guess)[:guess])
    except ProtocolError:
        if guess == limit_bytes:
            raise
    return _decompress(decompress_into, data, room(limit_bytes))


def _decompress(
    decompress_into: DecompressInto, data: ReadableBuffer, output: memoryview
) -> memoryview:
    try:
        size = decompress_into(data, output)
    except cramjam.DecompressionError as error:
        raise ProtocolError(f"cannot decompress into {len(output)} bytes: {error}") from None
    return output[:size]
