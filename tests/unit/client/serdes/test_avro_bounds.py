"""A few bytes of Avro cannot ask for endless work."""

import io
from typing import Any

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.client.serdes import avro_bounds
from moldau.client.serdes.avro_bounds import AvroTooLarge, check_bounds

NODE = {"type": "record", "name": "n.Node", "fields": [{"name": "next", "type": ["null", "Node"]}]}
EVERY = {
    "type": "record",
    "name": "Every",
    "fields": [
        {"name": "flag", "type": "boolean"},
        {"name": "number", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "small", "type": "float"},
        {"name": "text", "type": ["null", "string"]},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
        {"name": "again", "type": "Kind"},
        {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 3}},
        {"name": "list", "type": {"type": "array", "items": {"type": "map", "values": "int"}}},
        {"name": "data", "type": "bytes"},
        {"name": "large", "type": "double"},
    ],
}


def check(body: bytes, schema: Any) -> None:
    names: dict[str, Any] = {}
    parsed = fastavro.parse_schema(schema, named_schemas=names)
    check_bounds(body, parsed, names)


def number(value: int) -> bytes:
    output = io.BytesIO()
    fastavro.schemaless_writer(output, "long", value)
    return output.getvalue()


VALUES = st.fixed_dictionaries(
    {
        "flag": st.booleans(),
        "number": st.integers(0, 2**40),
        "small": st.just(0.5),
        "text": st.none() | st.text(),
        "kind": st.sampled_from("AB"),
        "again": st.sampled_from("AB"),
        "hash": st.binary(min_size=3, max_size=3),
        "list": st.lists(st.dictionaries(st.text(), st.integers(-(2**31), 2**31 - 1))),
        "data": st.binary(),
        "large": st.just(1.5),
    }
)


@given(VALUES)
def test_what_is_sound_is_let_through_and_what_is_cut_off_is_not(value: dict[str, object]) -> None:
    output = io.BytesIO()
    fastavro.schemaless_writer(output, fastavro.parse_schema(EVERY), value)
    body = output.getvalue()
    check(body, EVERY)
    with pytest.raises(ValueError, match="cut off"):
        check(body[:-1], EVERY)


@pytest.mark.parametrize("count", [2**62, -(2**62), avro_bounds.ITEMS_MAX + 1])
def test_items_that_take_no_bytes_are_counted(count: int) -> None:
    size = number(0) if count < 0 else b""
    with pytest.raises(AvroTooLarge, match="items: that is too many"):
        check(number(count) + size, {"type": "array", "items": "null"})
    with pytest.raises(AvroTooLarge):
        check(number(100_001) * 3, {"type": "array", "items": "null"})


def test_a_value_that_nests_itself_is_refused() -> None:
    check(b"\x02" * 20 + b"\x00", NODE)
    with pytest.raises(AvroTooLarge, match="nested deeper"):
        check(b"\x02" * 1_000_000, NODE)
    endless = {"type": "record", "name": "E", "fields": [{"name": "e", "type": "E"}]}
    with pytest.raises(AvroTooLarge):
        check(b"", endless)


def test_names_of_the_schema_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(avro_bounds, "TEXT_BYTES_MAX", 1000)
    long = {"type": "enum", "name": "L", "symbols": ["x" * 100]}
    check(number(9) + b"\x00" * 9 + b"\x00", {"type": "array", "items": long})
    with pytest.raises(AvroTooLarge, match="names of its schema"):
        check(number(99) + b"\x00" * 99 + b"\x00", {"type": "array", "items": long})


def test_a_decimal_has_few_digits() -> None:
    decimal = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
    check(number(2) + b"\x01\x02", decimal)
    with pytest.raises(AvroTooLarge, match="decimal"):
        check(number(5000) + b"x" * 5000, decimal)


@pytest.mark.parametrize(
    ("body", "schema"),
    [
        (b"\x04", ["null", "int"]),
        (b"\x01", ["null", "int"]),
        (b"\x06", {"type": "enum", "name": "E", "symbols": ["A"]}),
        (b"\x01", "string"),
        (b"\xff" * 11, "long"),
        (b"", "float"),
    ],
)
def test_what_is_broken_is_said(body: bytes, schema: Any) -> None:
    with pytest.raises(ValueError, match=r"branch|symbol|bytes|cut off") as refused:
        check(body, schema)
    assert not isinstance(refused.value, AvroTooLarge)
