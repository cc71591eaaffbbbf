"""Cast: fields, or the whole, as another plain type."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal

from moldau.connect.config.values import listed, required
from moldau.connect.data.logical import plain_number
from moldau.connect.data.record import ConnectRecord, Datum
from moldau.connect.data.schema import DATE, DECIMAL, TIME, TIMESTAMP, Field, Kind, Schema
from moldau.connect.errors import ConfigError, DataError
from moldau.connect.transforms.side import RecordSide, field_value, fills_defaults, struct_of

_TARGETS = {
    "int8": Kind.INT8,
    "int16": Kind.INT16,
    "int32": Kind.INT32,
    "int64": Kind.INT64,
    "float32": Kind.FLOAT32,
    "float64": Kind.FLOAT64,
    "boolean": Kind.BOOLEAN,
    "string": Kind.STRING,
}
_BITS = {Kind.INT8: 8, Kind.INT16: 16, Kind.INT32: 32, Kind.INT64: 64}
_SCHEMAS = {DATE: Schema(Kind.INT32, name=DATE), TIME: Schema(Kind.INT32, name=TIME)}
_STAMP = Schema(Kind.INT64, name=TIMESTAMP)


class Cast:
    """`spec` is `field:type,…` or one type for the whole."""

    def __init__(self, settings: Mapping[str, str], side: RecordSide) -> None:
        required(settings, "spec")
        self._side = side
        self._filled = fills_defaults(settings)
        self._whole: Kind | None = None
        self._fields: dict[str, Kind] = {}
        for each in listed(settings, "spec"):
            name, colon, target = each.rpartition(":")
            if target.strip().lower() not in _TARGETS:
                raise ConfigError(
                    f"Invalid value {settings['spec']} for configuration spec: "
                    f"Invalid cast type: {target}"
                )
            kind = _TARGETS[target.strip().lower()]
            if colon:
                self._fields[name.strip()] = kind
            else:
                self._whole = kind
        if not self._fields and self._whole is None:
            raise ConfigError(
                "Invalid value [] for configuration spec: Must specify at least one field to cast."
            )

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Null stays null."""
        datum = self._side.of(record)
        if datum.value is None:
            return record
        if self._whole is not None:
            schema = None if datum.schema is None else _as(datum.schema, self._whole)
            return self._side.set(record, Datum(cast(datum.value, self._whole), schema))
        value = dict(struct_of(datum, "cast types"))
        if datum.schema is not None:
            value = {
                each.name: field_value(datum, each.name, filled=self._filled)
                for each in datum.schema.fields
            }
        for name, kind in self._fields.items():
            if value.get(name) is not None:
                value[name] = cast(value[name], kind)
        return self._side.set(record, Datum(value, self._changed(datum.schema)))

    def _changed(self, schema: Schema | None) -> Schema | None:
        if schema is None:
            return None
        fields = tuple(
            Field(each.name, _as(each.schema, self._fields[each.name]))
            if each.name in self._fields
            else each
            for each in schema.fields
        )
        return schema.but(fields=fields)


def _as(schema: Schema, kind: Kind) -> Schema:
    default = None if schema.default is None else cast(schema.default, kind)
    logical = (DATE, TIME, TIMESTAMP, DECIMAL)
    name = None if schema.name in logical else schema.name
    return Schema(kind, schema.optional, name, default=default)


def cast(value: object, kind: Kind) -> object:
    """A value as another type, as Java casts it: numbers wrap around."""
    try:
        if kind is Kind.STRING:
            return _text(value)
        if kind is Kind.BOOLEAN:
            return _truth(value)
        plain = _number(value)
        if kind in (Kind.FLOAT32, Kind.FLOAT64):
            return float(plain)
        bits = _BITS[kind]
        whole = int(plain)
        if isinstance(value, str):
            whole.to_bytes(bits // 8, "big", signed=True)  # a text that is too large fails
        return (whole + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)
    except (ValueError, OverflowError) as error:
        raise DataError(f"Value ({value}) was out of range for requested data type") from error


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        raise DataError("Cast does not support bytes as text")
    return str(value)


def _truth(value: object) -> bool:
    if isinstance(value, str):
        return value.strip().lower() == "true"
    return _number(value) != 0


def _number(value: object) -> int | float | Decimal:
    match value:
        case bool():
            return int(value)
        case int() | float() | Decimal():
            return value
        case dt.datetime():
            return plain_number(_STAMP, value)
        case dt.date():
            return plain_number(_SCHEMAS[DATE], value)
        case dt.time():
            return plain_number(_SCHEMAS[TIME], value)
        case str() if "." in value or "e" in value.lower():
            return float(value)
        case str():
            return int(value)
    raise DataError(f"Cast does not support {type(value).__name__}")
