"""Texts, bytes and numbers."""

import pytest

from moldau.connect.converters.plain import (
    NUMBERS,
    ByteArrayConverter,
    NumberConverter,
    StringConverter,
    java_text,
)
from moldau.connect.data.record import Datum
from moldau.connect.errors import DataError


def test_texts_are_utf8_and_others_as_java_prints_them() -> None:
    converter = StringConverter({})
    assert converter.to_bytes("t", Datum("ü")) == "ü".encode()
    assert converter.from_bytes("t", "ü".encode()).value == "ü"
    assert java_text({"a": 1, "b": None}) == "Struct{a=1,b=null}"
    assert java_text([True, "x"]) == "[true, x]"
    with pytest.raises(DataError):
        converter.from_bytes("t", b"\xff")


def test_bytes_stay_and_nothing_else_is_taken() -> None:
    converter = ByteArrayConverter({})
    assert converter.to_bytes("t", Datum(b"\0")) == b"\0"
    assert converter.from_bytes("t", b"\0").value == b"\0"
    with pytest.raises(DataError):
        converter.to_bytes("t", Datum("x"))


@pytest.mark.parametrize(
    ("name", "value", "data"),
    [
        ("IntegerConverter", 1, b"\0\0\0\1"),
        ("LongConverter", -1, b"\xff" * 8),
        ("ShortConverter", 2, b"\0\2"),
        ("DoubleConverter", 1.0, b"\x3f\xf0" + b"\0" * 6),
        ("FloatConverter", 1.0, b"\x3f\x80\0\0"),
        ("BooleanConverter", True, b"\1"),
    ],
)
def test_numbers_are_kafkas(name: str, value: object, data: bytes) -> None:
    converter = NumberConverter(*NUMBERS[name])
    assert converter.to_bytes("t", Datum(value)) == data
    assert converter.from_bytes("t", data).value == value
    with pytest.raises(DataError):
        converter.from_bytes("t", data + b"\0")
