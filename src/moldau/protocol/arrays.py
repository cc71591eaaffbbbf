"""Arrays of numbers, packed and unpacked as a whole."""

import struct
from collections.abc import Callable, Sequence
from typing import Any

from moldau.errors import ProtocolError
from moldau.protocol.primitives import Buffer
from moldau.protocol.varint import encode_uvarint

SHORT = 16
"""Arrays with fewer elements go through functions prepared once per length."""


def short_packers(codes: str, *, compact: bool) -> list[Callable[..., bytes]]:
    """For each short length, what packs the count and then the elements."""
    prefix = ">B" if compact else ">i"
    return [struct.Struct(f"{prefix}{count}{codes}").pack for count in range(SHORT)]


def short_unpackers(codes: str) -> list[Callable[[Buffer, int], tuple[Any, ...]]]:
    """For each short length, what unpacks the elements."""
    return [struct.Struct(f">{count}{codes}").unpack_from for count in range(SHORT)]


def pack_long(values: Sequence[object], codes: str, *, compact: bool) -> bytes:
    """The count and the elements of an array of any length."""
    count = len(values)
    elements = struct.pack(f">{count}{codes}", *values)
    return (encode_uvarint(count + 1) if compact else struct.pack(">i", count)) + elements


def unpack_long(buffer: Buffer, position: int, codes: str, count: int) -> tuple[Any, ...]:
    """`count` elements; refuses before it allocates if there are not as many bytes."""
    if count * struct.calcsize(f">{codes}") > len(buffer) - position:
        raise ProtocolError(f"an array claims {count} elements, more than there are bytes for")
    return struct.unpack_from(f">{count}{codes}", buffer, position)
