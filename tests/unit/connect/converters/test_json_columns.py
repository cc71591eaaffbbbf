"""Columns of many values are what the values are that are read one after the other."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.connect.converters.json_columns import has_columns
from moldau.connect.converters.json_converter import JsonConverter
from moldau.connect.data.arrow import table_of_records
from moldau.connect.data.record import ConnectRecord
from moldau.connect.data.schema import (
    BOOLEAN,
    DATE_SCHEMA,
    FLOAT32,
    FLOAT64,
    INT8,
    INT64,
    STRING,
    Field,
    Kind,
    Schema,
    array,
    optional,
    struct,
)
from moldau.connect.errors import DataError

_FIELDS = {"i": "int64", "b": "int8", "d": "double", "t": "string", "f": "boolean"}
_HEAD = (
    b'{"schema": {"type": "struct", "optional": false, "fields": ['
    + b", ".join(
        b'{"field": "%s", "type": "%s", "optional": true}' % (name.encode(), kind.encode())
        for name, kind in _FIELDS.items()
    )
    + b']}, "payload": '
)
_GOOD = b'{"i": 1, "b": -2, "d": 0.5, "t": "x", "f": true}'
_VALUES = {
    "i": st.none() | st.integers(-(2**63), 2**63 - 1),
    "b": st.none() | st.integers(-128, 127),
    "d": st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**25), 5),
    "t": st.none() | st.text(max_size=5),
    "f": st.none() | st.booleans(),
}


def converter(first: bytes = _HEAD + _GOOD + b"}") -> JsonConverter:
    """One that has read a value with the schema."""
    found = JsonConverter({})
    found.from_bytes("t", first)
    return found


def one_after_the_other(payloads: list[bytes]) -> object:
    """The column as it is made of single values; None if one of them is refused."""
    reader = converter()
    try:
        data = [reader.from_bytes("t", _HEAD + each + b"}") for each in payloads]
        return table_of_records([ConnectRecord("t", value=each) for each in data]).column("value")
    except DataError:
        return None


def together(payloads: list[bytes]) -> object:
    found = converter().structs([_HEAD + each + b"}" for each in payloads])
    return None if found is None else found[1]


def test_many_values_are_read_at_once() -> None:
    found = converter().structs([_HEAD + _GOOD + b"}"] * 3)
    assert found is not None
    schema, values = found
    assert schema.fields[1] == Field("b", optional(INT8))
    assert values.to_pylist() == [{"i": 1, "b": -2, "d": 0.5, "t": "x", "f": True}] * 3


@given(st.lists(st.fixed_dictionaries({}, optional=_VALUES), min_size=1, max_size=6))
def test_they_are_what_each_would_be(rows: list[dict[str, object]]) -> None:
    payloads = [json.dumps({**each, "more": [1, {"x": None}]}).encode() for each in rows]
    expected, found = one_after_the_other(payloads), together(payloads)
    assert found is not None
    assert expected.combine_chunks().equals(found)  # type: ignore[attr-defined]
    assert str(expected.to_pylist()) == str(found.to_pylist())  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "payload",
    [
        *(
            b'{"i": 1.0}',
            b'{"i": "1"}',
            b'{"i": true}',
            b'{"i": 9223372036854775808}',
            b'{"i": 1e2}',
        ),
        *(b'{"b": 128}', b'{"t": 5}', b'{"t": ["x"]}', b'{"f": 1}', b'{"d": "0.5"}', b'{"d": {}}'),
        *(b'{"d": Inf}', b'{"d": 01}', b'{"i": 1} {"i": 2}', b'{"i": 1}, "x": {"i": 2}', b"[1]"),
        *(b'{"i": 1', b'"i": 1}', b"{'i': 1}", b'{"i": 1,}', b"", b"null", b"5", b'{"t": "\xff"}'),
        *(b'{"t": "\\ud800"}', b'{"t": "a\nb"}', b'{"t": "\xed\xa0\x80"}'),
        # Right, but Arrow would have them otherwise, or not at all.
        *(b'{"d": -0}', b'{"d": NaN}', b'{"d": -Infinity}', b'{"d": 1e999}', b'{"i": 1, "i": 2}'),
    ],
)
def test_what_is_wrong_or_doubtful_is_left_to_the_other_way(payload: bytes) -> None:
    assert together([_GOOD, payload, _GOOD]) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [(b'{"t": "}', b'{"t": "{"}'), (b'{"i": 1}{"i": 2}', b'{"x": {"i": 1'), (b'{"x": {}', b"{}}")],
)
def test_broken_values_never_make_whole_ones_together(one: bytes, other: bytes) -> None:
    assert together([_GOOD, one, other]) is None
    assert together([one, other, _GOOD]) is None


def test_other_schemas_and_values_without_one_are_left_to_the_other_way() -> None:
    reader, good = converter(), _HEAD + _GOOD + b"}"
    assert reader.structs([good, None]) is None
    assert reader.structs([None, good]) is None
    assert reader.structs([good, good.replace(b'"optional": false', b'"optional":false')]) is None
    assert reader.structs([good, good[:-1] + b"]"]) is None
    assert JsonConverter({}).structs([good]) is None
    plain = JsonConverter({"schemas.enable": "false"})
    plain.from_bytes("t", good)
    assert plain.structs([good]) is None
    required = good.replace(b"true}", b"false}")
    assert converter(required).structs([required]) is not None
    missing = required.replace(b'"b": -2, ', b"")
    assert converter(required).structs([required, missing]) is None


def test_schemas_that_arrow_reads_alike() -> None:
    fields = [("a", INT64), ("b", optional(FLOAT64)), ("c", BOOLEAN), ("d", STRING)]
    assert has_columns(struct(fields))
    for other in (FLOAT32, DATE_SCHEMA, Schema(Kind.BYTES), array(INT64), struct(fields)):
        assert not has_columns(struct([*fields, ("other", other)]))
    assert not has_columns(struct([]))
    assert not has_columns(INT64)
    assert not has_columns(struct([("a", INT64), ("a", INT64)]))
