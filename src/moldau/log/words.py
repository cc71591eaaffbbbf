"""Numbers of fixed width in memory, as C has them.

`words.pxd` holds the compiled form of these functions, so that a kernel reads the same
either way. Nothing here checks a bound: kernels do, before they call. Headers of batches
are big-endian; the hash reads its input as little-endian words.
"""

WORD_MAX = 0xFFFFFFFFFFFFFFFF


def add(left: int, right: int) -> int:
    """The sum, without what does not fit 64 bits."""
    return (left + right) & WORD_MAX


def rotate_left(word: int, count: int) -> int:
    """The 64 bits of `word`, the upper `count` of them moved to the lower end."""
    return (word << count | word >> (64 - count)) & WORD_MAX


def read_word(data: memoryview, position: int, size: int) -> int:
    """The `size` bytes at `position`, at most eight, as a little-endian number."""
    return int.from_bytes(data[position : position + size], "little")


def read_int16(data: memoryview, position: int) -> int:
    return int.from_bytes(data[position : position + 2], "big", signed=True)


def read_int32(data: memoryview, position: int) -> int:
    return int.from_bytes(data[position : position + 4], "big", signed=True)


def read_int64(data: memoryview, position: int) -> int:
    return int.from_bytes(data[position : position + 8], "big", signed=True)


def write_int16(data: memoryview, position: int, value: int) -> None:
    data[position : position + 2] = value.to_bytes(2, "big", signed=True)


def write_int32(data: memoryview, position: int, value: int) -> None:
    data[position : position + 4] = value.to_bytes(4, "big", signed=True)


def write_int64(data: memoryview, position: int, value: int) -> None:
    data[position : position + 8] = value.to_bytes(8, "big", signed=True)


def read_varint(data: memoryview, position: int, end: int) -> tuple[int, int]:
    """A zigzag number and the position after it, which is past `end` if it does not end."""
    value = 0
    shift = 0
    while position < end and shift < 64:
        bits = data[position]
        position += 1
        value |= (bits & 0x7F) << shift
        if bits < 0x80:
            return (value >> 1 & WORD_MAX >> 1) ^ -(value & 1), position
        shift += 7
    return 0, end + 1


def readable_address(view: memoryview) -> memoryview:
    """Where the bytes of `view` begin; in Python a view is used as it is."""
    return view


def writable_address(view: memoryview) -> memoryview:
    """Where the bytes of `view` begin, to be written to."""
    return view


def copy(
    target: memoryview, target_position: int, source: memoryview, start: int, end: int
) -> None:
    """Copy `source[start:end]` to `target` at `target_position`."""
    target[target_position : target_position + end - start] = source[start:end]
