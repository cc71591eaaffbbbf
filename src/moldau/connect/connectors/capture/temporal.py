"""Columns of dates and times: what `time.precision.mode` makes of them."""

import datetime as dt
from collections.abc import Callable

from moldau.connect.connectors.capture.times import (
    DATE_INFINITY,
    DAY_US,
    clock_us,
    date_days,
    iso_clock,
    iso_date,
    iso_timestamp,
    timestamp_us,
    zoned_clock_us,
)
from moldau.connect.data.logical import EPOCH
from moldau.connect.data.schema import DATE_SCHEMA, TIME_SCHEMA, TIMESTAMP_SCHEMA, Kind, Schema

_DAYS_MIN, _DAYS_MAX = -719_162, 2_932_896  # of Python's dates
_MS_DIGITS, _DIGITS_MAX = 3, 6
_LONG_HALF = 2**63

TextConversion = Callable[[str], object]
Mapped = tuple[Schema, TextConversion]


def time_schema(name: str, kind: Kind = Kind.INT64) -> Schema:
    """One of Debezium's schemas of times, by the last part of its name."""
    return Schema(kind, name=f"io.debezium.time.{name}", version=1)


def date_column(mode: str) -> Mapped:
    """Of a `date`."""
    if mode == "isostring":
        return time_schema("IsoDate", Kind.STRING), lambda text: f"{iso_date(date_days(text))}Z"
    if mode == "connect":
        return DATE_SCHEMA, _connect_date
    return time_schema("Date", Kind.INT32), date_days


def clock_column(mode: str, digits: int) -> Mapped:
    """Of a `time` with so many digits after its seconds."""
    if mode == "isostring":
        return time_schema("IsoTime", Kind.STRING), lambda text: f"{iso_clock(clock_us(text))}Z"
    if mode == "connect":
        return TIME_SCHEMA, _connect_time
    if mode == "nanoseconds":
        return time_schema("NanoTime"), lambda text: clock_us(text) * 1000
    if mode == "adaptive" and digits <= _MS_DIGITS:
        return time_schema("Time", Kind.INT32), lambda text: clock_us(text) // 1000
    return time_schema("MicroTime"), clock_us


def timestamp_column(mode: str, digits: int) -> Mapped:
    """Of a `timestamp` with so many digits after its seconds."""
    if mode == "isostring":
        schema = time_schema("IsoTimestamp", Kind.STRING)
        return schema, lambda text: f"{iso_timestamp(timestamp_us(text))}Z"
    if mode == "connect":
        return TIMESTAMP_SCHEMA, _connect_timestamp
    if mode == "nanoseconds":
        return time_schema("NanoTimestamp"), _nanoseconds
    if mode != "microseconds" and digits <= _MS_DIGITS:
        return time_schema("Timestamp"), lambda text: timestamp_us(text) // 1000
    return time_schema("MicroTimestamp"), timestamp_us


def zoned_timestamp_column(digits: int) -> Mapped:
    """Of a `timestamptz`: text in every mode, as many digits as the column has."""

    def convert(text: str) -> object:
        if text.endswith("+00") and text[10] == " ":
            # In UTC, and of this era: it is in its form already, but for the digits.
            clock, _, fraction = text[11:-3].partition(".")
            shown = fraction.ljust(digits, "0")[:digits]
            return f"{text[:10]}T{clock}{'.' if shown else ''}{shown}Z"
        if text in ("infinity", "-infinity"):
            return text
        return f"{iso_timestamp(timestamp_us(text), digits)}Z"

    return time_schema("ZonedTimestamp", Kind.STRING), convert


def zoned_clock_column() -> Mapped:
    """Of a `timetz`."""
    schema = time_schema("ZonedTime", Kind.STRING)
    return schema, lambda text: f"{iso_clock(zoned_clock_us(text))}Z"


def _nanoseconds(text: str) -> object:
    """Since 1970, in 64 bits: before 1678 and after 2261 they overflow, as Java's do."""
    return (timestamp_us(text) * 1000 + _LONG_HALF) % (2 * _LONG_HALF) - _LONG_HALF


# Connect's own types are Python's objects here; numbers where those do not reach.


def _connect_date(text: str) -> object:
    days = date_days(text)
    if days == DATE_INFINITY or not _DAYS_MIN <= days <= _DAYS_MAX:
        return days
    return EPOCH.date() + dt.timedelta(days=days)


def _connect_time(text: str) -> object:
    micros = clock_us(text)
    if micros >= DAY_US:
        return micros // 1000
    return (EPOCH + dt.timedelta(milliseconds=micros // 1000)).time()


def _connect_timestamp(text: str) -> object:
    ms = timestamp_us(text) // 1000
    if not _DAYS_MIN * 86_400_000 <= ms <= _DAYS_MAX * 86_400_000:
        return ms
    return EPOCH + dt.timedelta(milliseconds=ms)


def precision_of(typmod: int) -> int:
    """How many digits a column of times has."""
    return _DIGITS_MAX if typmod < 0 else typmod
