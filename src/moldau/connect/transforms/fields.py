"""Transformations of single fields: InsertField, ReplaceField, MaskField."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

from moldau.connect.config.values import listed
from moldau.connect.data.logical import EPOCH, from_number
from moldau.connect.data.record import ConnectRecord, Datum
from moldau.connect.data.schema import (
    INT32,
    INT64,
    STRING,
    TIMESTAMP,
    TIMESTAMP_SCHEMA,
    Field,
    Schema,
)
from moldau.connect.errors import ConfigError, DataError
from moldau.connect.transforms.side import RecordSide, field_value, fills_defaults, struct_of


class InsertField:
    """Adds topic, partition, offset, timestamp or a fixed text as fields."""

    def __init__(self, settings: Mapping[str, str], side: RecordSide) -> None:
        self._side = side
        self._filled = fills_defaults(settings)
        self._names = {
            part: _target(settings[f"{part}.field"])
            for part in ("topic", "partition", "offset", "timestamp", "static")
            if f"{part}.field" in settings
        }
        if not self._names:
            raise ConfigError("No field insertion configured")
        if "static" in self._names and "static.value" not in settings:
            name = self._names["static"][0]
            raise ConfigError(
                f"Invalid value null for configuration static.value: "
                f"No value specified for static field: {name}"
            )
        self._static = settings.get("static.value")

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Tombstones stay what they are."""
        datum = self._side.of(record)
        if datum.value is None:
            return record
        inserted = self._inserted(record)
        value = dict(struct_of(datum, "field insertion"))
        schema = datum.schema
        if schema is not None:
            known = {each.name: each for each in schema.fields}
            value = {name: field_value(datum, name, filled=self._filled) for name in known}
            for name, (_, kind) in inserted.items():
                known[name] = Field(name, kind)
            schema = schema.but(fields=tuple(known.values()))
        value |= {name: each for name, (each, _) in inserted.items()}
        return self._side.set(record, Datum(value, schema))

    def _inserted(self, record: ConnectRecord) -> dict[str, tuple[object, Schema]]:
        stamp = record.timestamp_ms
        moment = None if stamp is None else from_number(TIMESTAMP, stamp)
        found: dict[str, tuple[object, Schema]] = {
            "topic": (record.topic, STRING),
            "partition": (record.partition, INT32),
            "offset": (record.offset, INT64),
            "timestamp": (moment, TIMESTAMP_SCHEMA),
            "static": (self._static, STRING),
        }
        result = {}
        for part, (name, is_optional) in self._names.items():
            value, schema = found[part]
            if value is None and part in ("partition", "timestamp"):
                continue
            result[name] = (value, schema.but(optional=is_optional))
        return result


def _target(text: str) -> tuple[str, bool]:
    """A name, and whether the field is optional: `!` says that it is not."""
    if text.endswith("!"):
        return text[:-1], False
    return text.removesuffix("?"), True


class ReplaceField:
    """Takes fields out, keeps some, renames some; filters see the old names."""

    def __init__(self, settings: Mapping[str, str], side: RecordSide) -> None:
        self._side = side
        self._filled = fills_defaults(settings)
        self._exclude = set(listed(settings, "exclude") or listed(settings, "blacklist"))
        self._include = set(listed(settings, "include") or listed(settings, "whitelist"))
        self._renames: dict[str, str] = {}
        for pair in listed(settings, "renames"):
            old, colon, new = pair.partition(":")
            if not colon or not old.strip() or not new.strip():
                raise ConfigError(
                    f"Invalid value {settings['renames']} for configuration renames: "
                    f"Invalid rename mapping: {pair}"
                )
            self._renames[old.strip()] = new.strip()

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Top-level fields only."""
        datum = self._side.of(record)
        if datum.value is None:
            return record
        value = struct_of(datum, "field replacement")
        schema = datum.schema
        if schema is None:
            kept = {self._new(name): each for name, each in value.items() if self._stays(name)}
            return self._side.set(record, Datum(kept))
        fields = [each for each in schema.fields if self._stays(each.name)]
        changed = {
            self._new(each.name): field_value(datum, each.name, filled=self._filled)
            for each in fields
        }
        named = tuple(Field(self._new(each.name), each.schema) for each in fields)
        return self._side.set(record, Datum(changed, schema.but(fields=named)))

    def _stays(self, name: str) -> bool:
        return name not in self._exclude and (not self._include or name in self._include)

    def _new(self, name: str) -> str:
        return self._renames.get(name, name)


class MaskField:
    """Puts an empty value of its kind, or a replacement, in the place of fields."""

    def __init__(self, settings: Mapping[str, str], side: RecordSide) -> None:
        self._side = side
        self._filled = fills_defaults(settings)
        self._fields = set(listed(settings, "fields"))
        if not self._fields:
            raise ConfigError("Invalid value [] for configuration fields: Empty list")
        self._replacement = settings.get("replacement")

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Fields that are not there stay so."""
        datum = self._side.of(record)
        if datum.value is None:
            return record
        value = dict(struct_of(datum, "mask fields"))
        if datum.schema is not None:
            value = {
                each.name: field_value(datum, each.name, filled=self._filled)
                for each in datum.schema.fields
            }
        for name in self._fields & set(value):
            value[name] = self._masked(value[name])
        return self._side.set(record, Datum(value, datum.schema))

    def _masked(self, value: object) -> object:
        if value is None:
            return None
        if self._replacement is not None:
            return _replaced(value, self._replacement)
        match value:
            case bool():
                return False
            case dt.datetime():
                return EPOCH
            case dt.date():
                return EPOCH.date()
            case dt.time():
                return dt.time()
            case int() | float() | str() | bytes() | list() | dict() | Decimal():
                return type(value)()
        raise DataError(f"Cannot mask value of type: {type(value).__name__}")


def _replaced(value: object, replacement: str) -> object:
    if isinstance(value, str):
        return replacement
    if not isinstance(value, bool) and isinstance(value, int | float | Decimal):
        try:
            return type(value)(replacement)
        except (ValueError, InvalidOperation) as error:
            raise DataError(
                f"Unable to convert {replacement} ({type(value).__name__}) to number"
            ) from error
    raise DataError(f"Cannot mask value of type {type(value).__name__} with custom replacement.")
