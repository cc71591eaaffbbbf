"""The few things that C does with memory and Python does otherwise.

`memory.pxd` holds their compiled form: there a view becomes a pointer and a copy a `memcpy`,
so the kernels read the same either way.
"""

from typing import Any

from moldau.records.buffers import ReadableBuffer
from moldau.records.crc32c import Checksum, crc32c


def address(view: memoryview) -> memoryview:
    """Where the bytes of `view` begin; in Python a view is used as it is."""
    return view


def start_of(view: ReadableBuffer) -> memoryview:
    """The same for a buffer that the caller holds on to all the time, which C finds sooner."""
    return memoryview(view)


def writable(target: bytearray) -> memoryview:
    """Where the bytes of `target` begin, to be written to."""
    return memoryview(target)


def writable_view(view: memoryview) -> memoryview:
    """Where the bytes of a view begin that may be written to."""
    return view


def copy(
    target: memoryview, target_position: int, source: memoryview, start: int, end: int
) -> None:
    """Copy `source[start:end]` to `target` at `target_position`."""
    target[target_position : target_position + end - start] = source[start:end]


def copy_bytes(
    target: memoryview, target_position: int, source: memoryview, position: int, size: int
) -> None:
    """Copy `size` bytes from `source` at `position` to `target` at `target_position`."""
    target[target_position : target_position + size] = source[position : position + size]


def copy_object(target: memoryview, target_position: int, source: bytes, size: int) -> None:
    """Copy the first `size` bytes of an object to `target` at `target_position`."""
    target[target_position : target_position + size] = source[:size]


def take_bytes(source: memoryview, position: int, size: int) -> bytes:
    """`size` bytes from `source` at `position` as an object of their own."""
    return bytes(source[position : position + size])


def item(record: Any, index: int) -> Any:
    """A field of a tuple, or of a named tuple, which C would take for any sequence."""
    return record[index]


def ascii_at(source: memoryview, position: int, size: int) -> str:
    """`size` bytes from `source` at `position`, all of them ASCII, as a text."""
    return str(source[position : position + size], "ascii")


def put_ascii(target: memoryview, position: int, text: str) -> int:
    """Copy a text, all of it ASCII, to `target` at `position`; returns where it ends."""
    end = position + len(text)
    target[position:end] = text.encode("ascii")
    return end


def int16_at(source: memoryview, position: int) -> int:
    """The big-endian number of 16 bits at `position`."""
    return int.from_bytes(source[position : position + 2], "big", signed=True)


def int32_at(source: memoryview, position: int) -> int:
    """The big-endian number of 32 bits at `position`."""
    return int.from_bytes(source[position : position + 4], "big", signed=True)


def int64_at(source: memoryview, position: int) -> int:
    """The big-endian number of 64 bits at `position`."""
    return int.from_bytes(source[position : position + 8], "big", signed=True)


def put_int16(target: memoryview, position: int, value: int) -> None:
    """Write a big-endian number of 16 bits to `position`."""
    target[position : position + 2] = value.to_bytes(2, "big", signed=True)


def put_int32(target: memoryview, position: int, value: int) -> None:
    """Write a big-endian number of 32 bits to `position`."""
    target[position : position + 4] = value.to_bytes(4, "big", signed=True)


def put_int64(target: memoryview, position: int, value: int) -> None:
    """Write a big-endian number of 64 bits to `position`."""
    target[position : position + 8] = value.to_bytes(8, "big", signed=True)


def varint_at(source: memoryview, position: int, end: int) -> tuple[int, int]:
    """A zigzag number and the position after it, which is past `end` if it does not end."""
    value = 0
    shift = 0
    while position < end and shift < 64:
        bits = source[position]
        position += 1
        value |= (bits & 0x7F) << shift
        if bits < 0x80:
            return (value >> 1 & 2**63 - 1) ^ -(value & 1), position
        shift += 7
    return 0, end + 1


def sum_of_int64(left: int, right: int) -> int:
    """The sum, wrapped around as Java wraps it."""
    return (left + right + 2**63) % 2**64 - 2**63


def difference_of_int64(left: int, right: int) -> int:
    """The difference, wrapped around as Java wraps it."""
    return (left - right + 2**63) % 2**64 - 2**63


def bounded_sum(left: int, right: int) -> int:
    """The sum, or the number of 64 bits that is nearest to it."""
    return max(-(2**63), min(left + right, 2**63 - 1))


def bounded_difference(left: int, right: int) -> int:
    """The difference, or the number of 64 bits that is nearest to it."""
    return max(-(2**63), min(left - right, 2**63 - 1))


def uninitialised_bytes(size: int) -> bytearray:
    """Fresh memory, which C does not need to clear."""
    return bytearray(size)


def checksum_function() -> Checksum:
    """CRC-32C; C calls its own extension without the interpreter."""
    return crc32c


def checksum_of(function: Checksum, source: memoryview, position: int, size: int) -> int:
    """The checksum of `size` bytes from `source` at `position`."""
    return function(source[position : position + size])
