"""Unsigned variable-length integers: seven bits per byte, lowest first (KIP-482)."""

from moldau.errors import ProtocolError
from moldau.protocol.primitives import UVARINT_SIZE_MAX, Buffer

SINGLE_BYTES = tuple(bytes((value,)) for value in range(128))
"""The encoding of each value that fits in one byte, which nearly all do."""

SHORT_LENGTHS = (-1, *range(127), *(-1 for _ in range(128)))
"""For the first byte of a compact length, the length; or -1 if the byte does not say it."""


def encode_uvarint(value: int) -> bytes:
    """The shortest encoding of `value`."""
    if value < 128:
        return SINGLE_BYTES[value]
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def decode_uvarint(buffer: Buffer, position: int) -> tuple[int, int]:
    """The value at `position` and the position after it; IndexError past the end."""
    value = 0
    for shift in range(0, 7 * UVARINT_SIZE_MAX, 7):
        byte = buffer[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, position
    raise ProtocolError(f"a varint has more than {UVARINT_SIZE_MAX} bytes")


def decode_long_length(buffer: Buffer, position: int) -> tuple[int, int]:
    """Read again, as a whole, a compact length for whose first byte there is no short cut.

    `position` is the one after that first byte. Lengths travel plus one; zero
    means null, and comes here only where null is not allowed.
    """
    length, position = decode_uvarint(buffer, position - 1)
    if length == 0:
        raise ProtocolError("null where a value is required")
    return length - 1, position
