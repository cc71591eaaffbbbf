"""Bytes of serdes become values, and values JSON."""

import struct

import pyarrow as pa
import pytest

from moldau.streams.queries.values import WindowedKey, as_json, decoder, encode, hashable
from moldau.streams.serdes import (
    BYTES,
    INTEGER,
    LONG,
    STRING,
    FormatSerde,
    Serde,
    WindowedSerde,
    json,
)


@pytest.mark.parametrize(
    ("serde", "data", "value"),
    [
        (BYTES, b"\xff", b"\xff"),
        (STRING, "Žluťák".encode(), "Žluťák"),
        (LONG, (-2).to_bytes(8, "big", signed=True), -2),
        (INTEGER, b"\0\0\0\7", 7),
        (json("n bigint"), b'{"n": 1}', {"n": 1}),
        (WindowedSerde(STRING), b"a" + struct.pack(">q", 10), WindowedKey("a", 10)),
        (
            WindowedSerde(STRING, is_session=True),
            b"a" + struct.pack(">qq", 20, 10),
            WindowedKey("a", 10, 20),
        ),
    ],
)
def test_a_serde_reads_its_bytes(serde: Serde, data: bytes, value: object) -> None:
    assert decoder(serde)(data) == value


@pytest.mark.parametrize("serde", [LONG, STRING, json("n bigint"), WindowedSerde(STRING)])
def test_bytes_of_something_else_are_refused(serde: Serde) -> None:
    with pytest.raises(ValueError, match=r"."):
        decoder(serde)(b"\xff")


def test_a_format_reads_and_writes_single_values() -> None:
    class Reversed:
        type = pa.string()

        def decode(self, values: pa.Array) -> pa.Array:
            return pa.array([each.as_py()[::-1].decode() for each in values])

        def encode(self, values: pa.Array) -> pa.Array:
            return values.cast(pa.binary())

    assert decoder(FormatSerde(Reversed()))(b"abc") == "cba"
    assert encode(FormatSerde(Reversed()), "cba") == b"cba"


def test_what_json_lacks_is_told_in_its_words() -> None:
    value = {"bytes": b"a", "binary": b"\xff", "window": WindowedKey("k", 1), "list": [(1, None)]}
    assert as_json(value) == {
        "bytes": "a",
        "binary": "ff",
        "window": {"key": "k", "start": 1},
        "list": [[1, None]],
    }
    assert as_json(WindowedKey("k", 1, 2)) == {"key": "k", "start": 1, "end": 2}
    assert as_json(1 + 2j) == "(1+2j)"


def test_objects_are_looked_up_whatever_the_order_of_their_fields() -> None:
    assert hashable({"a": 1, "b": 2}) == hashable({"b": 2, "a": 1})
    assert hashable("a") == "a"


@pytest.mark.parametrize(
    ("serde", "key", "data"),
    [
        (BYTES, b"a", b"a"),
        (STRING, "a", b"a"),
        (LONG, 1, bytes(7) + b"\1"),
        (INTEGER, 1, bytes(3) + b"\1"),
        (json("n bigint"), {"n": 1}, b'{"n":1}'),
        (WindowedSerde(STRING), ("a", 1), b"a" + bytes(7) + b"\1"),
        (
            WindowedSerde(STRING, is_session=True),
            ("a", 1, 2),
            b"a\0\0\0\0\0\0\0\2" + bytes(7) + b"\1",
        ),
    ],
)
def test_keys_are_looked_up_as_they_are_written(serde: Serde, key: object, data: bytes) -> None:
    assert encode(serde, key) == data


def test_a_key_of_another_type_is_refused() -> None:
    with pytest.raises(ValueError, match="'a' cannot be written"):
        encode(LONG, "a")
