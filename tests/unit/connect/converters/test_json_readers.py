"""Readers that are made for a schema read what was stored, and refuse what `from_stored` does."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.connect.converters.json_readers import reader_of
from moldau.connect.data.logical import from_stored
from moldau.connect.data.schema import (
    BOOLEAN,
    BYTES,
    DATE_SCHEMA,
    FLOAT32,
    FLOAT64,
    INT8,
    INT64,
    STRING,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    Schema,
    array,
    decimal,
    map_of,
    optional,
    struct,
)
from moldau.connect.errors import DataError

_SCALARS = st.sampled_from(
    [
        *(INT8, INT64, FLOAT32, FLOAT64, BOOLEAN, STRING, BYTES, decimal(3)),
        *(DATE_SCHEMA, TIME_SCHEMA, TIMESTAMP_SCHEMA),
    ]
)
_NUMBERS = st.integers(0, 9) | st.floats(0, 9) | st.booleans()
# Of any type: most are none of their field's, and must be refused in the same words.
_STORED = st.none() | _NUMBERS | st.sampled_from(["", "text", "Dw==", "NaN", "-Infinity"])


def _nested(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    structs = st.lists(inner, max_size=4).map(
        lambda found: struct([(f"f{at}", optional(each)) for at, each in enumerate(found)])
    )
    return st.one_of(
        structs,
        inner.map(lambda each: array(optional(each))),
        inner.map(lambda each: map_of(STRING, each)),
    )


def _value_of(draw: st.DrawFn, schema: Schema) -> object:
    """A value of the right shape, whose leaves mostly fit."""
    if schema.fields:
        return {each.name: _value_of(draw, each.schema) for each in schema.fields}
    if schema.key is not None and schema.value is not None:
        return {"key": _value_of(draw, schema.value)}
    if schema.value is not None:
        return [_value_of(draw, schema.value), None]
    fitting = {STRING: "text", BOOLEAN: True, INT8: 3, INT64: 2**40, FLOAT32: 0.5, FLOAT64: 2.5}
    if schema.but(optional=False) in fitting and draw(st.integers(0, 4)):
        return fitting[schema.but(optional=False)]
    return draw(_STORED)


@st.composite
def _case(draw: st.DrawFn) -> tuple[Schema, object]:
    schema = draw(st.recursive(_SCALARS, _nested, max_leaves=6))
    value = _value_of(draw, schema)
    return schema, json.loads(json.dumps(0 if value is None else value))


def _outcome(read: object) -> object:
    assert callable(read)
    try:
        return "read", repr(read())
    except (DataError, ValueError, ArithmeticError) as error:
        return type(error), str(error)


@given(_case())
def test_it_is_what_was_stored(case: tuple[Schema, object]) -> None:
    schema, value = case
    read = reader_of(schema)
    assert _outcome(lambda: read(value)) == _outcome(lambda: from_stored(schema, value))


@pytest.mark.parametrize("value", [[], "text", 3])
def test_what_is_no_struct_is_refused(value: object) -> None:
    with pytest.raises(DataError, match="Invalid type for STRUCT"):
        reader_of(struct([("n", INT8)]))(value)


def test_fields_that_the_schema_has_not_are_left_out() -> None:
    assert reader_of(struct([("n", INT8)]))({"n": 1, "other": 2}) == {"n": 1}
    assert reader_of(struct([("n", optional(INT8))]))({}) == {"n": None}
