"""Gzip payloads: one member, or several in a row.

By zlib, which stops at a given size by itself. cramjam was tried and is as fast, but its
older versions decompress all of a payload before they look at the room for it.
"""

import zlib

from moldau.errors import ProtocolError
from moldau.records.buffers import ANY_NUMBER, ReadableBuffer, room

LEVEL_DEFAULT = -1  # zlib's own choice, 6

_WINDOW = 16 + zlib.MAX_WBITS  # 16 asks for the gzip container
_GUESS_RATIO = 8
_GUESS_MIN_BYTES = 16 * 1024
_STEP_BYTES = 64 * 1024


def compress(data: ReadableBuffer, level: int = LEVEL_DEFAULT) -> bytes:
    """Compress into one member."""
    compressor = zlib.compressobj(level, zlib.DEFLATED, _WINDOW)
    return compressor.compress(data) + compressor.flush()


def decompress(
    data: ReadableBuffer, *, limit_bytes: int, pieces_max: int = ANY_NUMBER
) -> ReadableBuffer:
    """Decompress all members into at most `limit_bytes`."""
    guess = min(limit_bytes, max(_GUESS_MIN_BYTES, _GUESS_RATIO * len(data)))
    try:
        output = _decompress_single(data, guess)
        if output is not None:
            return output
        return _decompress_in_steps(memoryview(data), limit_bytes, pieces_max)
    except zlib.error as error:
        raise ProtocolError(f"gzip: {error}") from None


def _decompress_single(data: ReadableBuffer, guess: int) -> bytes | None:
    """Decompress the usual payload in one call: a single member no larger than the guess."""
    member = zlib.decompressobj(_WINDOW)
    output = member.decompress(data, guess + 1)
    if member.eof and not member.unused_data and len(output) <= guess:
        return output
    return None


def _decompress_in_steps(data: memoryview, limit_bytes: int, members_max: int) -> memoryview:
    """Decompress what is larger than a guess or has several members.

    zlib hands back a copy of what it did not need, so it is given the data in steps.
    """
    output = room(limit_bytes)
    size = position = 0
    for _ in range(members_max):
        member = zlib.decompressobj(_WINDOW)
        pending: ReadableBuffer = b""
        while not member.eof:
            if not pending:
                pending = data[position : position + _STEP_BYTES]
                position += len(pending)
            if not pending:
                raise ProtocolError("gzip: data is cut off")
            part = member.decompress(pending, _STEP_BYTES)
            if size + len(part) > limit_bytes:
                raise ProtocolError(f"gzip: more than {limit_bytes} bytes when decompressed")
            output[size : size + len(part)] = part
            size += len(part)
            pending = member.unconsumed_tail
        position -= len(member.unused_data)
        if position == len(data):
            return output[:size]
    raise ProtocolError(f"gzip: more than {members_max} members")
