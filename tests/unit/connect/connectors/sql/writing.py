"""Records for sinks of any database, and what a sink makes of them."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal

from moldau.connect.connectors.sql.sink import JdbcSink
from moldau.connect.data.arrow import table_of_records
from moldau.connect.data.record import NULL, ConnectRecord, Datum
from moldau.connect.data.schema import (
    BOOLEAN,
    BYTES,
    DATE_SCHEMA,
    FLOAT64,
    INT16,
    INT64,
    STRING,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    Schema,
    array,
    decimal,
    optional,
    struct,
)

KEY = struct([("id", INT64)])
ROW = struct([("id", INT64), ("name", optional(STRING))])
WIDE = struct(
    [
        *(("id", INT64), ("small", INT16), ("real", FLOAT64), ("flag", BOOLEAN)),
        *(("text", optional(STRING)), ("raw", BYTES), ("day", DATE_SCHEMA), ("clock", TIME_SCHEMA)),
        *(("at", TIMESTAMP_SCHEMA), ("price", decimal(2)), ("tags", array(STRING))),
    ]
)
MOMENT = dt.datetime(2024, 2, 29, 12, 34, 56, 123000, tzinfo=dt.UTC)
WIDE_ROW: dict[str, object] = {
    "id": 1,
    "small": -5,
    "real": 0.5,
    "flag": True,
    "text": 'it\'s \\ 50% "grün" ?',
    "raw": b"\x00'\xff",
    "day": dt.date(2024, 2, 29),
    "clock": dt.time(1, 2, 3),
    "at": MOMENT,
    "price": Decimal("-1.50"),
    "tags": ["a", "b"],
}
UPSERT = {"insert.mode": "upsert", "pk.mode": "record_key", "delete.enabled": "true"}
UPDATE = {"insert.mode": "update", "pk.mode": "record_value", "pk.fields": "id"}


def record(offset: int, value: object, schema: Schema = ROW, key: int = 1) -> ConnectRecord:
    datum = NULL if value is None else Datum(value, schema)
    return ConnectRecord("t", Datum({"id": key}, KEY), datum, (), 0, 0, offset)


def rows(first: int, count: int, name: str) -> list[ConnectRecord]:
    """As many records, one for each key."""
    return [
        record(first + number, {"id": number, "name": name}, key=number) for number in range(count)
    ]


def write(url: str, records: Sequence[ConnectRecord], **settings: str) -> None:
    sink = JdbcSink({"name": "s", "connection.url": url, "auto.create": "true", **settings})
    try:
        sink.write(table_of_records(records), 0)
    finally:
        sink.close()
