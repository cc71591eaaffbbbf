"""Columns of tables as Connect's schemas, and rows as values."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal

from moldau.connect.connectors.sql.database import Column, Row
from moldau.connect.data.schema import (
    BOOLEAN,
    BYTES,
    DATE_SCHEMA,
    FLOAT32,
    FLOAT64,
    INT16,
    INT32,
    INT64,
    STRING,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    Kind,
    Schema,
    decimal,
    struct,
)

_SCHEMAS = {
    "smallint": INT16,
    "integer": INT32,
    "int": INT64,
    "bigint": INT64,
    "real": FLOAT32,
    "double precision": FLOAT64,
    "double": FLOAT64,
    "float": FLOAT64,
    "boolean": BOOLEAN,
    "bytea": BYTES,
    "blob": BYTES,
    "date": DATE_SCHEMA,
    "time without time zone": TIME_SCHEMA,
    "timestamp without time zone": TIMESTAMP_SCHEMA,
    "timestamp with time zone": TIMESTAMP_SCHEMA,
}
_NUMERIC_SCALE = 6


def row_schema(table: str | None, columns: Sequence[Column], *, is_sqlite: bool) -> Schema:
    """The schema of a table's rows; SQLite's integers and reals have eight bytes."""
    fields = [(each.name, _schema(each, is_sqlite=is_sqlite)) for each in columns]
    return struct(fields, name=table)


def _schema(column: Column, *, is_sqlite: bool) -> Schema:
    kind = column.kind.partition("(")[0].strip()
    found = _SCHEMAS.get(kind, STRING)
    if kind in ("numeric", "decimal"):
        found = FLOAT64 if is_sqlite else decimal(_NUMERIC_SCALE)
    if is_sqlite and kind in ("integer", "real", "date"):
        found = {"integer": INT64, "real": FLOAT64, "date": STRING}[kind]
    return found.but(optional=column.is_nullable)


def value_of(schema: Schema, row: Row) -> dict[str, object]:
    """A row as a value of the table's schema."""
    return {
        field.name: _converted(field.schema, value)
        for field, value in zip(schema.fields, row, strict=True)
    }


def _converted(schema: Schema, value: object) -> object:
    if isinstance(value, dt.datetime):
        return value if value.tzinfo is not None else value.replace(tzinfo=dt.UTC)
    if schema.name == decimal(0).name and isinstance(value, Decimal):
        return value.quantize(Decimal(1).scaleb(-schema.scale))
    if value is not None and schema.kind is Kind.STRING and not isinstance(value, str):
        return str(value)
    if schema.kind is Kind.FLOAT64 and isinstance(value, int):
        return float(value)
    if schema.kind is Kind.BOOLEAN and isinstance(value, int):
        return bool(value)
    return value
