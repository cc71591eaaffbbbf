"""Writers that are made for a schema do what its values are stored as."""

import datetime as dt
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.connect.converters import json_structs, json_writers
from moldau.connect.converters.json_text import json_text
from moldau.connect.converters.json_writers import JsonRules, text_writer_of, writer_of
from moldau.connect.data.logical import to_stored
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

Case = tuple[Schema, object]
_PLAIN = JsonRules(fills_defaults=False)
_TIMES = st.datetimes(timezones=st.just(dt.UTC))
_SCALARS: tuple[st.SearchStrategy[Case], ...] = (
    st.tuples(st.just(INT8), st.integers(-128, 127)),
    st.tuples(st.just(INT64), st.integers(-(2**63), 2**63 - 1)),
    st.tuples(st.sampled_from([FLOAT32, FLOAT64]), st.floats()),
    st.tuples(st.just(FLOAT64), st.integers(-5, 5)),
    st.tuples(st.just(BOOLEAN), st.booleans()),
    st.tuples(st.just(STRING), st.text(max_size=5)),
    st.tuples(st.just(BYTES), st.binary(max_size=5)),
    st.tuples(st.just(decimal(3)), st.decimals(-(10**40), 10**40, places=3)),
    st.tuples(st.just(DATE_SCHEMA), st.dates()),
    st.tuples(st.just(TIME_SCHEMA), st.times()),
    st.tuples(st.just(TIMESTAMP_SCHEMA), _TIMES),
)


def _nested(inner: st.SearchStrategy[Case]) -> st.SearchStrategy[Case]:
    structs = st.lists(inner, max_size=4).map(
        lambda cases: (
            struct([(f"f{at}", optional(schema)) for at, (schema, _) in enumerate(cases)]),
            {f"f{at}": value for at, (_, value) in enumerate(cases)},
        )
    )
    lists = inner.map(lambda case: (array(optional(case[0])), [case[1], None, case[1]]))
    maps = inner.map(lambda case: (map_of(STRING, case[0]), {"key": case[1]}))
    pairs = inner.map(lambda case: (map_of(INT8, case[0]), {1: case[1]}))
    return st.one_of(structs, lists, maps, pairs)


@given(st.recursive(st.one_of(_SCALARS), _nested, max_leaves=8))
def test_it_is_what_is_stored(case: Case) -> None:
    schema, value = case
    write = writer_of(schema, _PLAIN)
    assert write(value) == to_stored(schema, value)
    assert write(None) is None


@pytest.mark.parametrize("form", ["chosen", "source"])
@given(case=st.recursive(st.one_of(_SCALARS), _nested, max_leaves=8))
def test_the_text_is_of_what_is_stored(form: str, case: Case) -> None:
    schema, value = case
    with pytest.MonkeyPatch.context() as patched:
        if form == "source":
            patched.setattr(json_writers, "structs", json_structs)
        text = text_writer_of(schema, _PLAIN)
    assert text(value) == json_text(to_stored(schema, value))
    assert text(None) == "null"


def test_null_is_the_default_in_structs_and_at_the_top_and_not_in_lists() -> None:
    counted = optional(decimal(1)).but(default=Decimal("1.5"))
    schema = struct([("n", counted), ("l", array(counted)), ("s", struct([("n", counted)]))])
    value: dict[str, object] = {"n": None, "l": [None], "s": {}}
    filled = {"n": "Dw==", "l": [None], "s": {"n": "Dw=="}}
    assert writer_of(schema, JsonRules())(value) == filled
    empty = {"n": None, "l": [None], "s": {"n": None}}
    assert writer_of(schema, _PLAIN)(value) == empty
    assert writer_of(counted, JsonRules())(None) == "Dw=="
    numbers = JsonRules(decimals_are_numbers=True)
    assert writer_of(schema, numbers)(value) == {"n": 1.5, "l": [None], "s": {"n": 1.5}}
    assert writer_of(array(decimal(0)), numbers)([Decimal(2)]) == [2]
    whole = optional(schema).but(default={"n": None})
    for rules in (JsonRules(), _PLAIN, numbers):
        write, text = writer_of(whole, rules), text_writer_of(whole, rules)
        assert [text(value), text(None)] == [json_text(write(value)), json_text(write(None))]


@pytest.mark.parametrize(("schema", "value"), [(struct([]), 5), (array(INT8), "x"), (BYTES, "x")])
def test_a_value_of_another_kind_is_a_mistake(schema: Schema, value: object) -> None:
    with pytest.raises(AssertionError):
        writer_of(schema, _PLAIN)(value)
    with pytest.raises(AssertionError):
        text_writer_of(schema, _PLAIN)(value)
