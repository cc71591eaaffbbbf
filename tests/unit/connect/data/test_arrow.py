"""Schemas and records survive Arrow."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest

from moldau.connect.data.arrow import (
    arrow_field,
    records_of,
    schema_of,
    table_of,
    table_of_records,
)
from moldau.connect.data.record import NULL, ConnectRecord, Datum
from moldau.connect.data.schema import (
    BYTES,
    DATE_SCHEMA,
    INT32,
    INT64,
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
        ("id", INT64),
        ("name", optional(STRING).but(default="anon", doc="who")),
        ("amount", decimal(2, 10)),
        ("day", optional(DATE_SCHEMA)),
        ("at", TIMESTAMP_SCHEMA),
        ("tags", array(optional(STRING))),
        ("more", map_of(STRING, INT32)),
        ("raw", BYTES.but(name="io.debezium.data.Bits", version=1, parameters={"length": "5"})),
    ],
    name="a.Value",
    version=2,
)
VALUE = {
    "id": 1,
    "name": "x",
    "amount": Decimal("1.50"),
    "day": dt.date(2024, 2, 29),
    "at": dt.datetime(2024, 2, 29, tzinfo=dt.UTC),
    "tags": ["a", None],
    "more": {"b": 2},
    "raw": b"\x16",
}


def test_a_schema_is_the_same_after_arrow() -> None:
    assert schema_of(arrow_field("value", ROW)) == ROW


def test_records_are_the_same_after_arrow() -> None:
    table = table_of(STRING, ROW, [{"key": "k", "value": VALUE, "topic": "t", "timestamp": 5}])
    [record] = records_of(table)
    assert record.value.value == VALUE
    assert record.value.schema == ROW.but(optional=True)
    assert (record.key.value, record.topic, record.timestamp_ms) == ("k", "t", 5)


def test_a_sinks_table_has_places_and_tombstones() -> None:
    records = [
        ConnectRecord("t", value=Datum({"id": 1}, struct([("id", INT64)])), partition=0, offset=7),
        ConnectRecord("t", key=Datum("k"), value=NULL, partition=1, offset=8),
    ]
    table = table_of_records(records)
    assert table.column("offset").to_pylist() == [7, 8]
    assert table.column("value").to_pylist() == [{"id": 1}, None]
    assert table.column("key").to_pylist() == [None, "k"]


def test_values_without_schema_get_one() -> None:
    table = table_of_records([ConnectRecord("t", value=Datum({"a": 1, "b": [1.5]}))])
    assert table.schema.field("value").type == pa.struct(
        [pa.field("a", pa.int64()), pa.field("b", pa.list_(pa.float64()))]
    )


def test_columns_that_others_made_get_the_nearest_schema() -> None:
    assert schema_of(pa.field("a", pa.large_string())).kind is STRING.kind
    assert schema_of(pa.field("a", pa.uint32())).kind is INT64.kind
    assert schema_of(pa.field("a", pa.timestamp("us"))).name == TIMESTAMP_SCHEMA.name
    with pytest.raises(DataError, match="no counterpart"):
        schema_of(pa.field("a", pa.duration("s")))


def test_a_record_without_a_topic_is_refused() -> None:
    with pytest.raises(DataError, match="says its topic"):
        list(records_of(table_of(None, STRING, [{"value": "x"}])))
    assert next(records_of(table_of(None, STRING, [{"value": "x"}]), "t")).topic == "t"


def test_a_value_that_is_none_of_its_schema_is_a_records_fault() -> None:
    row = struct([("id", INT32)])
    for value, schema in (({"id": 2**40}, row), ({"id": "x"}, row), ({"id": 2**70}, None)):
        with pytest.raises(DataError, match="a value does not fit its schema"):
            table_of_records([ConnectRecord("t", value=Datum(value, schema))])
