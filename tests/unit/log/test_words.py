"""Words of a hash in Python behave as those of C do."""

from hypothesis import given
from hypothesis import strategies as st

from moldau.log import words

UNSIGNED = st.integers(0, words.WORD_MAX)


@given(UNSIGNED, UNSIGNED)
def test_a_sum_wraps_at_64_bits(left: int, right: int) -> None:
    assert words.add(left, right) == (left + right) % 2**64


@given(UNSIGNED, st.integers(1, 63))
def test_rotation_loses_no_bit(word: int, count: int) -> None:
    rotated = words.rotate_left(word, count)

    assert rotated <= words.WORD_MAX
    assert words.rotate_left(rotated, 64 - count) == word
    assert rotated & ((1 << count) - 1) == word >> (64 - count)


def test_a_short_word_is_little_endian() -> None:
    assert words.read_word(memoryview(b"\x09\x01\x02\x03"), 1, 3) == 0x030201
    assert words.read_word(memoryview(b""), 0, 0) == 0
