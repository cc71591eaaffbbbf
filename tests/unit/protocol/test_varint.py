"""Unsigned varints: shortest on the way out, at most five bytes on the way in."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.errors import ProtocolError
from moldau.protocol.varint import (
    SHORT_LENGTHS,
    decode_long_length,
    decode_uvarint,
    encode_uvarint,
)


@settings(deadline=None)
@given(st.integers(0, 2**35 - 1))
def test_values_come_back(value: int) -> None:
    encoded = encode_uvarint(value)
    assert decode_uvarint(b"?" + encoded + b"?", 1) == (value, 1 + len(encoded))


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0, "00"),
        (127, "7f"),
        (128, "8001"),
        (300, "ac02"),
        (16383, "ff7f"),
        (16384, "808001"),
        (2**31 - 1, "ffffffff07"),
    ],
)
def test_golden_bytes(value: int, encoded: str) -> None:
    assert encode_uvarint(value).hex() == encoded


def test_six_bytes_are_too_many() -> None:
    with pytest.raises(ProtocolError, match="more than 5 bytes"):
        decode_uvarint(b"\x80\x80\x80\x80\x80\x01", 0)


def test_a_varint_that_ends_too_soon_is_an_index_error_for_the_caller_to_translate() -> None:
    with pytest.raises(IndexError):
        decode_uvarint(b"\x80", 0)


def test_short_lengths_tell_what_one_byte_can_tell() -> None:
    assert SHORT_LENGTHS[1] == 0
    assert SHORT_LENGTHS[127] == 126
    assert {SHORT_LENGTHS[0], *SHORT_LENGTHS[128:]} == {-1}
    assert len(SHORT_LENGTHS) == 256


def test_a_long_length_is_one_less_than_its_varint() -> None:
    assert decode_long_length(b"\xac\x02", 1) == (299, 2)


@pytest.mark.parametrize("null", [b"\x00", b"\x80\x00"])
def test_a_required_length_is_not_null_however_long_it_is_written(null: bytes) -> None:
    with pytest.raises(ProtocolError, match="null"):
        decode_long_length(null, 1)
