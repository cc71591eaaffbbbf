"""Debezium's EventRouter: rows of an outbox table become events of the topics that they name."""

import datetime as dt
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass

from moldau.connect.config.values import flag, listed
from moldau.connect.data.inference import fitted, inferred
from moldau.connect.data.logical import plain_number
from moldau.connect.data.record import NULL, ConnectRecord, Datum
from moldau.connect.data.schema import STRING, TIMESTAMP, Field, Kind, Schema
from moldau.connect.errors import ConfigError, DataError
from moldau.connect.transforms.paths import found_at
from moldau.connect.transforms.routes import RegexRouter
from moldau.connect.transforms.side import RecordSide
from moldau.connect.transforms.unwrap import is_envelope

_log = logging.getLogger(__name__)

_HEADER, _ENVELOPE, _PARTITION = "header", "envelope", "partition"
_OPERATION = ("table.op.invalid.behavior", "debezium.op.invalid.behavior")
_BEHAVIORS = ("warn", "error", "fatal")
_TO_MS = {
    "io.debezium.time.Timestamp": 1,
    "io.debezium.time.MicroTimestamp": 1_000,
    "io.debezium.time.NanoTimestamp": 1_000_000,
}


@dataclass(frozen=True, slots=True)
class _Extra:
    """One more column, and where its value goes."""

    column: str
    placement: str
    alias: str


class EventRouter:
    """The settings `table.*` and `route.*` as Debezium has them."""

    def __init__(self, settings: Mapping[str, str], side: RecordSide) -> None:
        self._id = settings.get("table.field.event.id", "id")
        self._key = settings.get("table.field.event.key")
        self._payload = settings.get("table.field.payload", "payload")
        self._payload_id = settings.get("table.field.payload.id", "aggregateid")
        self._timestamp = settings.get("table.field.event.timestamp")
        self._version = settings.get("table.field.event.schema.version") or settings.get(
            "table.field.schema.version"
        )
        self._route = settings.get("route.by.field", "aggregatetype")
        self._expands = flag(settings, "table.expand.json.payload", default=False)
        self._buries = flag(settings, "route.tombstone.on.empty.payload", default=False)
        self._extras = [
            _extra(each) for each in listed(settings, "table.fields.additional.placement")
        ]
        self._behavior = next((settings[each] for each in _OPERATION if each in settings), "warn")
        if self._behavior not in _BEHAVIORS:
            raise ConfigError(f"{_OPERATION[0]}: must be one of {', '.join(_BEHAVIORS)}")
        self._router = RegexRouter(
            {
                "regex": settings.get("route.topic.regex", "(?<routedByValue>.*)"),
                "replacement": settings.get(
                    "route.topic.replacement", "outbox.event.${routedByValue}"
                ),
            },
            side,
        )

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:
        """New rows become events; deletions and tombstones go, other records pass."""
        if record.value.value is None:
            return None
        if not is_envelope(record.value):
            return record
        operation = found_at(record.value, ["op"])
        kind = None if operation is None else operation.value
        if kind == "d":
            return None
        if kind not in ("c", "r"):
            self._note_unexpected(record)
            return None
        row = found_at(record.value, ["after"])
        if row is None or not isinstance(row.value, dict):
            raise DataError("a row of an outbox has columns, under `after`")
        return self._router.apply(self._event(record, row))

    def _note_unexpected(self, record: ConnectRecord) -> None:
        text = f"Unexpected update message received {record.key.value} and ignored"
        if self._behavior == "fatal":
            raise ConfigError(f"{text}: rows of an outbox are inserted and deleted alone")
        _log.log(logging.WARNING if self._behavior == "warn" else logging.ERROR, text)

    def _event(self, record: ConnectRecord, row: Datum) -> ConnectRecord:
        topic = _column(row, self._route).value
        if not isinstance(topic, str):
            raise DataError(f"{self._route}: {topic!r} is no name that events are routed by")
        extras = {each: _column(row, each.column) for each in self._extras}
        headers = [("id", _column(row, self._id))]
        headers += [(e.alias, found) for e, found in extras.items() if e.placement == _HEADER]
        partitions = [found.value for e, found in extras.items() if e.placement == _PARTITION]
        partition = partitions[0] if partitions else None
        return record.but(
            topic=topic,
            key=self._record_key(row),
            value=self._value(row, topic, extras),
            headers=(*record.headers, *headers),
            timestamp_ms=self._timestamp_ms(record, row),
            partition=partition if isinstance(partition, int) else None,
        )

    def _record_key(self, row: Datum) -> Datum:
        key = None if self._key is None else _column(row, self._key)
        if key is not None and key.value is not None:
            return key
        return found_at(row, [self._payload_id]) or Datum(None, STRING)

    def _value(self, row: Datum, topic: str, extras: Mapping[_Extra, Datum]) -> Datum:
        payload = _column(row, self._payload)
        is_empty = payload.value is None or not str(payload.value).strip()
        if is_empty and self._buries:
            return NULL
        if self._expands:
            payload = _expanded(payload)
        within = {e.alias: found for e, found in extras.items() if e.placement == _ENVELOPE}
        if not within:
            return payload
        parts = {"payload": payload, **within}
        value = {name: each.value for name, each in parts.items()}
        if row.schema is None:
            return Datum(value)
        fields = [Field(name, each.schema or STRING) for name, each in parts.items()]
        version = None if self._version is None else _column(row, self._version).value
        name = _schema_name(row.schema.name, topic)
        schema = Schema(Kind.STRUCT, name=name, fields=tuple(fields))
        return Datum(value, schema.but(version=version) if isinstance(version, int) else schema)

    def _timestamp_ms(self, record: ConnectRecord, row: Datum) -> int | None:
        stamp = None if self._timestamp is None else _column(row, self._timestamp)
        if stamp is None or stamp.value is None:
            found = found_at(record.value, ["ts_ms"])
            stamp_ms = None if found is None else found.value
            return stamp_ms if isinstance(stamp_ms, int) else record.timestamp_ms
        name = None if stamp.schema is None else stamp.schema.name
        if name == TIMESTAMP and stamp.schema is not None and isinstance(stamp.value, dt.datetime):
            return plain_number(stamp.schema, stamp.value)
        if name not in _TO_MS or not isinstance(stamp.value, int):
            raise DataError(f"Unsupported field type {name} for event timestamp")
        return stamp.value // _TO_MS[name]


def _extra(text: str) -> _Extra:
    column, _, rest = text.partition(":")
    placement, _, alias = rest.partition(":")
    if placement.lower() not in (_HEADER, _ENVELOPE, _PARTITION) or ":" in alias:
        raise ConfigError(
            f"table.fields.additional.placement: {text} is none of COLUMN:header, "
            "COLUMN:envelope, COLUMN:partition, with :ALIAS or without"
        )
    return _Extra(column, placement.lower(), alias or column)


def _column(row: Datum, name: str) -> Datum:
    found = found_at(row, [name])
    if found is None or (row.schema is None and name not in _names(row)):
        raise DataError(f"Unable to find field {name} in event")
    return found


def _names(row: Datum) -> set[object]:
    return set(row.value) if isinstance(row.value, dict) else set()


def _expanded(payload: Datum) -> Datum:
    """JSON in a text as what it says; another text stays one."""
    if not isinstance(payload.value, str) or payload.value[:1] not in ("{", "["):
        return payload
    try:
        found = json.loads(payload.value)
    except ValueError as error:
        _log.warning("JSON expansion failed: %s", error)
        return payload
    if payload.schema is None:
        return Datum(found)
    schema = inferred([found])
    return Datum(fitted(schema, found), schema)


def _schema_name(of_row: str | None, topic: str) -> str:
    if of_row is None:
        return topic
    around, dot, last = of_row.rpartition(".")
    return f"{around}{dot}{topic}.{last}"
