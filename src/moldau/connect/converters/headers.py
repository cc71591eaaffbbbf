"""SimpleHeaderConverter: headers as text, whose kind is guessed when they are read."""

import datetime as dt
import json
import re
from collections.abc import Mapping

from moldau.connect.converters.json_converter import plain
from moldau.connect.data.logical import from_number, plain_number
from moldau.connect.data.record import NULL, Datum
from moldau.connect.data.schema import (
    BOOLEAN,
    BYTES,
    DATE_SCHEMA,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    STRING,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    Schema,
)
from moldau.connect.errors import DataError

_NUMBER = re.compile(r"[+-]?\d+")
_FRACTION = re.compile(r"[+-]?(\d+\.\d*|\.\d+|\d+)([eE][+-]?\d+)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIME = re.compile(r"\d\d:\d\d:\d\d\.\d{3}Z")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_FLOAT_MAX = 3.4028234663852886e38


class SimpleHeaderConverter:
    """The default of headers."""

    def __init__(self, settings: Mapping[str, str], *, is_key: bool = False) -> None:
        del settings, is_key

    def to_bytes(self, topic: str, datum: Datum) -> bytes | None:
        """A value as text."""
        del topic
        return None if datum.value is None else header_text(datum.value).encode()

    def from_bytes(self, topic: str, data: bytes | None) -> Datum:
        """A value of the kind that the text looks like."""
        del topic
        if data is None:
            return NULL
        try:
            return guessed(data.decode())
        except UnicodeDecodeError:
            return Datum(data, BYTES)


def header_text(value: object) -> str:
    """As Values.convertToString prints it."""
    match value:
        case bool():
            return "true" if value else "false"
        case dt.datetime():
            ms = plain_number(TIMESTAMP_SCHEMA, value)
            shown = from_number(TIMESTAMP_SCHEMA.name or "", ms)
            assert isinstance(shown, dt.datetime), "made from a timestamp"
            return shown.strftime("%Y-%m-%dT%H:%M:%S.") + f"{ms % 1000:03d}Z"
        case dt.date():
            return value.isoformat()
        case dt.time():
            return value.strftime("%H:%M:%S.") + f"{value.microsecond // 1000:03d}Z"
        case bytes():
            return value.decode("latin-1")
        case dict() | list():
            return json.dumps(plain(value), separators=(",", ":"), ensure_ascii=False)
        case _:
            return str(value)


def guessed(text: str) -> Datum:
    """A text as Values.parseString takes it."""
    shown = text.strip()
    if shown in ("true", "false"):
        return Datum(shown == "true", BOOLEAN)
    if shown == "null":
        return NULL
    if _NUMBER.fullmatch(shown):
        return _whole(int(shown))
    if _FRACTION.fullmatch(shown):
        number = float(shown)
        return Datum(number, FLOAT32 if abs(number) <= _FLOAT_MAX else FLOAT64)
    for pattern, schema in (
        (_DATE, DATE_SCHEMA),
        (_TIME, TIME_SCHEMA),
        (_TIMESTAMP, TIMESTAMP_SCHEMA),
    ):
        if pattern.fullmatch(shown):
            return _moment(shown, schema)
    if shown[:1] in ("[", "{"):
        try:
            return Datum(json.loads(shown))
        except ValueError:
            return Datum(text, STRING)
    return Datum(text, STRING)


def _whole(number: int) -> Datum:
    for bits, schema in ((8, INT8), (16, INT16), (32, INT32), (64, INT64)):
        if -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
            return Datum(number, schema)
    return Datum(str(number), STRING)


def _moment(text: str, schema: Schema) -> Datum:
    try:
        if schema is DATE_SCHEMA:
            return Datum(dt.date.fromisoformat(text), schema)
        if schema is TIME_SCHEMA:
            return Datum(dt.time.fromisoformat(text[:-1]), schema)
        return Datum(dt.datetime.fromisoformat(text), schema)
    except ValueError as error:
        raise DataError(f"{text} is no date: {error}") from error
