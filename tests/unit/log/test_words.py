"""Fixed-width numbers in Python behave as those of C do."""

import struct

from hypothesis import given
from hypothesis import strategies as st

from moldau.log import words

UNSIGNED = st.integers(0, words.WORD_MAX)
SIGNED = st.integers(-(2**63), 2**63 - 1)


@given(UNSIGNED, UNSIGNED)
def test_a_sum_wraps_at_64_bits(left: int, right: int) -> None:
    assert words.add(left, right) == (left + right) % 2**64


@given(UNSIGNED, st.integers(1, 63))
def test_rotation_loses_no_bit(word: int, count: int) -> None:
    rotated = words.rotate_left(word, count)

    assert rotated <= words.WORD_MAX
    assert words.rotate_left(rotated, 64 - count) == word
    assert rotated & ((1 << count) - 1) == word >> (64 - count)


@given(SIGNED)
def test_numbers_are_read_back_as_they_were_written(value: int) -> None:
    data = memoryview(bytearray(20))

    words.write_int64(data, 3, value)
    words.write_int32(data, 11, value >> 32)
    words.write_int16(data, 15, value >> 48)

    assert words.read_int64(data, 3) == value
    assert words.read_int32(data, 11) == value >> 32
    assert words.read_int16(data, 15) == value >> 48
    assert bytes(data[3:11]) == struct.pack(">q", value)


def test_a_short_word_is_little_endian() -> None:
    assert words.read_word(memoryview(b"\x09\x01\x02\x03"), 1, 3) == 0x030201
    assert words.read_word(memoryview(b""), 0, 0) == 0


@given(SIGNED)
def test_a_varint_of_any_size_is_read(value: int) -> None:
    zigzag, data = value << 1 ^ value >> 63, bytearray()
    while zigzag > 0x7F:
        data.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    data.append(zigzag)

    assert words.read_varint(memoryview(data), 0, len(data)) == (value, len(data))
    assert words.read_varint(memoryview(data), 0, len(data) - 1) == (0, len(data))


def test_a_varint_without_end_is_past_the_end() -> None:
    assert words.read_varint(memoryview(b"\xff" * 20), 0, 20) == (0, 21)


def test_bytes_are_copied_into_place() -> None:
    target = bytearray(5)

    words.copy(
        words.writable_address(memoryview(target)),
        1,
        words.readable_address(memoryview(b"abcdef")),
        2,
        5,
    )

    assert target == b"\0cde\0"
