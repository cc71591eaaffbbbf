"""Transformations of times: TimestampConverter, TimestampRouter."""

import datetime as dt
from collections.abc import Mapping

from moldau.connect.config.values import required
from moldau.connect.data.logical import EPOCH, from_number, plain_number
from moldau.connect.data.record import ConnectRecord, Datum
from moldau.connect.data.schema import (
    DATE_SCHEMA,
    INT64,
    STRING,
    TIME_SCHEMA,
    TIMESTAMP,
    TIMESTAMP_SCHEMA,
    Field,
    Schema,
)
from moldau.connect.errors import ConfigError, DataError
from moldau.connect.transforms.date_formats import DateFormat
from moldau.connect.transforms.side import RecordSide, field_value, fills_defaults, struct_of

_UNITS = {"seconds": 1, "milliseconds": 10**3, "microseconds": 10**6, "nanoseconds": 10**9}
_TARGETS: dict[str, Schema] = {
    "string": STRING,
    "unix": INT64,
    "Date": DATE_SCHEMA,
    "Time": TIME_SCHEMA,
    "Timestamp": TIMESTAMP_SCHEMA,
}


class TimestampConverter:
    """A field, or the whole, as text, number, Date, Time or Timestamp; exact to milliseconds."""

    def __init__(self, settings: Mapping[str, str], side: RecordSide) -> None:
        self._side = side
        self._filled = fills_defaults(settings)
        self._field = settings.get("field", "")
        self._target = required(settings, "target.type")
        if self._target not in _TARGETS:
            raise ConfigError(
                f"Invalid value {self._target} for configuration target.type: String must be one "
                f"of: {', '.join(_TARGETS)}"
            )
        unit = settings.get("unix.precision", "milliseconds")
        if unit not in _UNITS:
            raise ConfigError(
                f"Invalid value {unit} for configuration unix.precision: String must be one of: "
                f"{', '.join(_UNITS)}"
            )
        self._per_second = _UNITS[unit]
        pattern = settings.get("format", "")
        if self._target == "string" and not pattern.strip():
            raise ConfigError(
                "TimestampConverter requires format option to be specified when using string "
                "timestamps"
            )
        self._format = DateFormat(pattern) if pattern.strip() else None

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Null stays null."""
        datum = self._side.of(record)
        if not self._field:
            if datum.value is None:
                return record
            schema = None if datum.schema is None else self._changed(datum.schema)
            return self._side.set(record, Datum(self._converted(datum.value), schema))
        if datum.value is None:
            return record
        value = dict(struct_of(datum, "converting timestamp formats"))
        if datum.schema is not None:
            value = {
                each.name: field_value(datum, each.name, filled=self._filled)
                for each in datum.schema.fields
            }
        if value.get(self._field) is not None:
            value[self._field] = self._converted(value[self._field])
        return self._side.set(record, Datum(value, self._with_field(datum.schema)))

    def _with_field(self, schema: Schema | None) -> Schema | None:
        if schema is None:
            return None
        fields = tuple(
            Field(each.name, self._changed(each.schema)) if each.name == self._field else each
            for each in schema.fields
        )
        return schema.but(fields=fields)

    def _changed(self, schema: Schema) -> Schema:
        return _TARGETS[self._target].but(optional=schema.optional)

    def _converted(self, value: object) -> object:
        moment = self._moment(value)
        match self._target:
            case "string":
                assert self._format is not None, "checked when it was made"
                return self._format.format(moment)
            case "unix":
                ms = plain_number(TIMESTAMP_SCHEMA, moment)
                return ms * self._per_second // 1000
            case "Date":
                return moment.date()
            case "Time":
                return moment.time().replace(microsecond=moment.microsecond // 1000 * 1000)
        return moment

    def _moment(self, value: object) -> dt.datetime:
        match value:
            case dt.datetime():
                return value
            case dt.date():
                return dt.datetime(value.year, value.month, value.day, tzinfo=dt.UTC)
            case dt.time():
                return dt.datetime.combine(EPOCH.date(), value, dt.UTC)
            case bool():
                pass
            case int():
                found = from_number(TIMESTAMP, value * 1000 // self._per_second)
                assert isinstance(found, dt.datetime), "made as a timestamp"
                return found
            case str() if self._format is not None:
                return self._format.parse(value)
        raise DataError(f"Schema {type(value).__name__} does not correspond to a known timestamp")


class TimestampRouter:
    """Names the topic after the record's time."""

    def __init__(self, settings: Mapping[str, str], side: RecordSide) -> None:
        del side
        self._topic = settings.get("topic.format", "${topic}-${timestamp}")
        self._format = DateFormat(settings.get("timestamp.format", "yyyyMMdd"))

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """A record without a time fails."""
        if record.timestamp_ms is None:
            raise DataError(f"Timestamp missing on record: {record.topic}")
        moment = from_number(TIMESTAMP, record.timestamp_ms)
        assert isinstance(moment, dt.datetime), "made as a timestamp"
        named = self._topic.replace("${topic}", record.topic)
        return record.but(topic=named.replace("${timestamp}", self._format.format(moment)))
