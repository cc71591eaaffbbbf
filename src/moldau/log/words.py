"""Words of 64 bits as a hash uses them, which C wraps around by itself.

`words.pxd` holds the compiled form of these functions, so that the hash reads the same
either way. Nothing here checks a bound: kernels do, before they call.
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
