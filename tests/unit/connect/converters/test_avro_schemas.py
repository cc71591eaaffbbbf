"""Schemas and values survive Avro's."""

import datetime as dt
from decimal import Decimal

import pytest

from moldau.connect.converters.avro_schemas import avro_of, from_avro, schema_of_avro, to_avro
from moldau.connect.data.schema import (
    DATE_SCHEMA,
    INT16,
    INT32,
    STRING,
    TIMESTAMP_SCHEMA,
    array,
    decimal,
    map_of,
    optional,
    struct,
)
from moldau.connect.errors import DataError

ROW = struct(
    [
        ("id", INT32),
        ("short", INT16),
        ("name", optional(STRING)),
        ("amount", decimal(2)),
        ("day", DATE_SCHEMA),
        ("at", TIMESTAMP_SCHEMA),
        ("tags", array(STRING)),
        ("more", map_of(STRING, INT32)),
    ],
    name="a.Row",
)


def test_a_schema_is_the_same_after_avro() -> None:
    assert schema_of_avro(avro_of(ROW)) == ROW
    assert schema_of_avro(avro_of(optional(STRING))) == optional(STRING)


def test_names_that_avro_refuses_are_changed() -> None:
    declared = avro_of(struct([("1-a", INT32)], name="x-y.Row"))
    assert isinstance(declared, dict)
    assert declared["namespace"] == "x_y"
    assert declared["fields"][0]["name"] == "_1_a"


def test_logical_values_go_there_and_back() -> None:
    day, at = dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, tzinfo=dt.UTC)
    value: dict[str, object] = {
        "id": 1,
        "short": 2,
        "name": None,
        "amount": Decimal("1.50"),
        "day": day,
        "at": at,
    }
    value |= {"tags": ["x"], "more": {"a": 1}}
    stored = to_avro(ROW, value)
    assert isinstance(stored, dict)
    assert stored["day"] == 19782
    assert from_avro(ROW, {**stored, "amount": b"\0\x96"}) == value


def test_what_has_no_counterpart_is_refused() -> None:
    with pytest.raises(DataError, match="no counterpart"):
        schema_of_avro(["int", "string"])
    with pytest.raises(DataError, match="texts as keys"):
        avro_of(map_of(INT32, STRING))
