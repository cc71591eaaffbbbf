"""Plain values have the bytes of Java's serializers."""

import math
import uuid

import pytest

from moldau.client.serdes import plain


@pytest.mark.parametrize(
    ("serde", "value", "data"),
    [
        (plain.STRING, "žluť", "žluť".encode()),
        (plain.BYTES, b"\0", b"\0"),
        (plain.SHORT, -2, b"\xff\xfe"),
        (plain.INTEGER, 258, b"\0\0\1\2"),
        (plain.LONG, -1, b"\xff" * 8),
        (plain.FLOAT, 0.5, b"\x3f\0\0\0"),
        (plain.DOUBLE, math.inf, b"\x7f\xf0" + bytes(6)),
        (plain.BOOLEAN, True, b"\1"),
        (plain.UUID, uuid.UUID(int=7), b"00000000-0000-0000-0000-000000000007"),
    ],
)
def test_values_are_written_as_in_java_and_read_again(
    serde: plain.PlainSerde[object], value: object, data: bytes
) -> None:
    assert serde.serialize(value) == data
    assert serde.deserialize(data) == value


def test_what_does_not_fit_is_an_error_that_says_so() -> None:
    with pytest.raises(ValueError, match="does not fit 4 bytes"):
        plain.INTEGER.serialize(2**31)
    with pytest.raises(ValueError, match="3 bytes instead of 8"):
        plain.LONG.deserialize(b"abc")
    with pytest.raises(ValueError, match="utf-8"):
        plain.STRING.deserialize(b"\xff")
