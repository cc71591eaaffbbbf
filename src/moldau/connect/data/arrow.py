"""Schemas of Connect as types of Arrow, and tables as records.

What Arrow's types cannot say, a schema's name, version, defaults and parameters, is metadata of
the field under `connect.schema`, so that a table carries its whole schema along.
"""

import datetime as dt
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyarrow as pa

from moldau.connect.data.inference import fitted, inferred
from moldau.connect.data.logical import from_stored, to_stored
from moldau.connect.data.record import NULL, ConnectRecord, Datum
from moldau.connect.data.schema import (
    DATE,
    DATE_SCHEMA,
    DECIMAL,
    STRING,
    TIME,
    TIME_SCHEMA,
    TIMESTAMP,
    TIMESTAMP_SCHEMA,
    Field,
    Kind,
    Schema,
    decimal,
)
from moldau.connect.errors import DataError

_META = b"connect.schema"
_PRECISION = "connect.decimal.precision"
_PRECISION_MAX, _WIDE_PRECISION_MAX = 38, 76
_PLAIN: dict[Kind, pa.DataType] = {
    Kind.INT8: pa.int8(),
    Kind.INT16: pa.int16(),
    Kind.INT32: pa.int32(),
    Kind.INT64: pa.int64(),
    Kind.FLOAT32: pa.float32(),
    Kind.FLOAT64: pa.float64(),
    Kind.BOOLEAN: pa.bool_(),
    Kind.STRING: pa.string(),
    Kind.BYTES: pa.binary(),
}
_LOGICAL: dict[str, pa.DataType] = {
    DATE: pa.date32(),
    TIME: pa.time32("ms"),
    TIMESTAMP: pa.timestamp("ms", tz="UTC"),
}
_HEADERS = pa.list_(pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())]))

_PLACES = {
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": pa.int64(),
    "headers": _HEADERS,
}
Side = tuple[Schema, pa.Array]
"""The keys or the values of records, with their schema."""


def arrow_field(name: str, schema: Schema) -> pa.Field:
    """The column of a schema."""
    extra: dict[str, object] = {}
    if schema.name is not None:
        extra["name"] = schema.name
    if schema.version is not None:
        extra["version"] = schema.version
    if schema.doc is not None:
        extra["doc"] = schema.doc
    if schema.parameters:
        extra["parameters"] = dict(schema.parameters)
    if schema.default is not None:
        extra["default"] = to_stored(schema, schema.default)
    metadata = {_META: json.dumps(extra).encode()} if extra else None
    return pa.field(name, _type_of(schema), schema.optional, metadata)


def schema_of(field: pa.Field) -> Schema:
    """The schema of a column; what was not made by `arrow_field` gets the nearest one."""
    extra: Mapping[str, object] = {}
    if field.metadata and _META in field.metadata:
        extra = json.loads(field.metadata[_META])
    found = _of_type(field.type).but(optional=field.nullable)
    for name in ("name", "version", "doc", "parameters"):
        if name in extra:
            found = found.but(**{name: extra[name]})
    if "default" in extra:
        found = found.but(default=from_stored(found, extra["default"]))
    return found


def _type_of(schema: Schema) -> pa.DataType:
    if schema.name in _LOGICAL:
        return _LOGICAL[schema.name]
    if schema.name == DECIMAL:
        precision = int(schema.parameters.get(_PRECISION, _PRECISION_MAX))
        precision = max(precision, schema.scale, 1)
        if precision > _PRECISION_MAX:
            return pa.decimal256(min(precision, _WIDE_PRECISION_MAX), schema.scale)
        return pa.decimal128(precision, schema.scale)
    match schema.kind:
        case Kind.STRUCT:
            return pa.struct([arrow_field(each.name, each.schema) for each in schema.fields])
        case Kind.ARRAY:
            assert schema.value is not None, "an array says what its elements are"
            return pa.list_(arrow_field("item", schema.value))
        case Kind.MAP:
            assert schema.key is not None, "a map says what its keys are"
            assert schema.value is not None, "a map says what its values are"
            key = arrow_field("key", schema.key.but(optional=False))
            return pa.map_(key, arrow_field("value", schema.value))
        case _:
            return _PLAIN[schema.kind]


def _of_type(kind: pa.DataType) -> Schema:
    for mapped, plain in _PLAIN.items():
        if kind.equals(plain):
            return Schema(mapped)
    if pa.types.is_struct(kind):
        listed = [kind.field(index) for index in range(kind.num_fields)]
        return Schema(
            Kind.STRUCT, fields=tuple(Field(each.name, schema_of(each)) for each in listed)
        )
    if pa.types.is_map(kind):
        return Schema(Kind.MAP, key=schema_of(kind.key_field), value=schema_of(kind.item_field))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return Schema(Kind.ARRAY, value=schema_of(kind.value_field))
    if pa.types.is_decimal(kind):
        return decimal(kind.scale, kind.precision)
    return _nearest(kind)


def _nearest(kind: pa.DataType) -> Schema:
    if pa.types.is_date(kind):
        return DATE_SCHEMA
    if pa.types.is_time(kind):
        return TIME_SCHEMA
    if pa.types.is_timestamp(kind):
        return TIMESTAMP_SCHEMA
    if pa.types.is_large_string(kind) or pa.types.is_dictionary(kind) or pa.types.is_null(kind):
        return STRING
    if pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return Schema(Kind.BYTES)
    if pa.types.is_unsigned_integer(kind):
        return Schema(Kind.INT32 if kind.bit_width < 32 else Kind.INT64)
    raise DataError(f"Arrow's {kind} has no counterpart among Connect's types")


def table_of(
    key: Schema | None, value: Schema | None, rows: Iterable[Mapping[str, object]]
) -> pa.Table:
    """Rows with `key` and `value`, and maybe topic, partition, timestamp and headers."""
    listed = list(rows)
    arrays: dict[str, pa.Array] = {}
    fields: list[pa.Field] = []
    for name, schema in (("key", key), ("value", value)):
        if schema is not None:
            field = arrow_field(name, schema).with_nullable(nullable=True)
            fields.append(field)
            arrays[name] = pa.array([row.get(name) for row in listed], field.type)
    types = {"topic": pa.string(), "partition": pa.int32(), "timestamp": pa.int64()}
    for name, kind in {**types, "headers": _HEADERS}.items():
        if any(row.get(name) is not None for row in listed):
            fields.append(pa.field(name, kind))
            arrays[name] = pa.array([row.get(name) for row in listed], kind)
    if not fields:
        raise DataError("a table of records has keys, values, or topics")
    return pa.table([arrays[each.name] for each in fields], schema=pa.schema(fields))


def records_of(table: pa.Table, topic: str | None = None) -> Iterator[ConnectRecord]:
    """The rows of a table that a source has read."""
    names = set(table.column_names)
    schemas = {name: schema_of(table.field(name)) for name in ("key", "value") if name in names}
    for row in table.to_pylist(maps_as_pydicts="strict"):
        target = row.get("topic") or topic
        if target is None:
            raise DataError("a record of a source says its topic, in the column `topic`")
        yield ConnectRecord(
            target,
            _datum(row, "key", schemas),
            _datum(row, "value", schemas),
            tuple(
                (each["key"], Datum(each["value"], Schema(Kind.BYTES)))
                for each in row.get("headers") or ()
            ),
            _ms(row.get("timestamp")),
            row.get("partition"),
        )


def table_of_records(records: Sequence[ConnectRecord]) -> pa.Table:
    """What a sink gets: records of one schema, with their places in their topics.

    A schema is inferred where the values have none, so that sinks need not know the difference.
    """
    sides: dict[str, Side] = {}
    for name, data in (
        ("key", [each.key for each in records]),
        ("value", [each.value for each in records]),
    ):
        schema = next((each.schema for each in data if each.schema is not None), None)
        values = [each.value for each in data]
        if schema is None:
            schema = inferred(values)
            values = [fitted(schema, each) for each in values]
        sides[name] = (schema, _array(name, values, arrow_field(name, schema).type))
    return table_of_columns(
        sides,
        {
            "topic": [each.topic for each in records],
            "partition": [each.partition for each in records],
            "offset": [each.offset for each in records],
            "timestamp": [each.timestamp_ms for each in records],
            "headers": [_headers(each) for each in records],
        },
    )


def table_of_columns(sides: Mapping[str, Side], places: Mapping[str, Sequence[object]]) -> pa.Table:
    """The same of values in columns, `key` and `value`, and of their places."""
    fields: list[pa.Field] = []
    columns: list[pa.Array] = []
    for name, (schema, values) in sides.items():
        fields.append(arrow_field(name, schema).with_nullable(nullable=True))
        columns.append(values)
    for name, kind in _PLACES.items():
        fields.append(pa.field(name, kind))
        columns.append(pa.array(places[name], kind))
    return pa.table(columns, schema=pa.schema(fields))


def _array(side: str, values: Sequence[object], kind: pa.DataType) -> pa.Array:
    """DataError if one of them is none of the type, since a record is to blame for that."""
    try:
        return pa.array(values, kind)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise DataError(f"a {side} does not fit its schema: {error}") from error


def _headers(record: ConnectRecord) -> list[dict[str, object]]:
    return [{"key": name, "value": _bytes(datum.value)} for name, datum in record.headers]


def _bytes(value: object) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    return str(value).encode()


def _datum(row: Mapping[str, object], name: str, schemas: Mapping[str, Schema]) -> Datum:
    value = row.get(name)
    if name not in schemas:
        return NULL
    return Datum(value, schemas[name])


def _ms(stamp: object) -> int | None:
    if isinstance(stamp, dt.datetime):
        return int(stamp.timestamp() * 1000)
    return stamp if isinstance(stamp, int) else None
