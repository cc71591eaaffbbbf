"""What `time.precision.mode` makes of columns; the golden records of Debezium have the rest."""

import datetime as dt

import pytest

from moldau.connect.connectors.capture.temporal import (
    clock_column,
    date_column,
    precision_of,
    timestamp_column,
    zoned_timestamp_column,
)

MOMENT = "2024-02-29 12:34:56.123456"


@pytest.mark.parametrize(
    ("mode", "digits", "name", "value"),
    [
        ("adaptive", 3, "io.debezium.time.Timestamp", 1709210096123),
        ("adaptive", 6, "io.debezium.time.MicroTimestamp", 1709210096123456),
        ("microseconds", 0, "io.debezium.time.MicroTimestamp", 1709210096123456),
        ("nanoseconds", 6, "io.debezium.time.NanoTimestamp", 1709210096123456000),
        ("isostring", 6, "io.debezium.time.IsoTimestamp", "2024-02-29T12:34:56.123456Z"),
    ],
)
def test_timestamps(mode: str, digits: int, name: str, value: object) -> None:
    schema, convert = timestamp_column(mode, digits)
    assert (schema.name, convert(MOMENT)) == (name, value)


def test_nanoseconds_overflow_as_javas_do() -> None:
    convert = timestamp_column("nanoseconds", 6)[1]
    assert convert("9999-12-31 23:59:59") == -4852116232933722624
    assert convert("1000-01-01 00:00:00.000001") == 6283264147419104232
    assert convert("2262-04-11 23:47:16.854775") == 2**63 - 808


@pytest.mark.parametrize(
    ("mode", "digits", "name", "value"),
    [
        ("adaptive", 3, "Time", 86399123),
        ("adaptive", 4, "MicroTime", 86399123400),
        ("adaptive_time_microseconds", 0, "MicroTime", 86399123400),
        ("nanoseconds", 6, "NanoTime", 86399123400000),
        ("isostring", 6, "IsoTime", "23:59:59.1234Z"),
    ],
)
def test_times_of_day(mode: str, digits: int, name: str, value: object) -> None:
    schema, convert = clock_column(mode, digits)
    assert (schema.name, convert("23:59:59.1234")) == (f"io.debezium.time.{name}", value)


def test_connects_own_types_are_pythons_objects_where_those_reach() -> None:
    assert date_column("connect")[1]("2024-02-29") == dt.date(2024, 2, 29)
    assert date_column("connect")[1]("0044-03-15 BC") == -735160
    assert clock_column("connect", 6)[1]("01:02:03.004") == dt.time(1, 2, 3, 4000)
    assert clock_column("connect", 6)[1]("24:00:00") == 86_400_000
    convert = timestamp_column("connect", 6)[1]
    assert convert(MOMENT) == dt.datetime(2024, 2, 29, 12, 34, 56, 123000, dt.UTC)
    assert convert("-infinity") == -9223372036832400


def test_zoned_times_are_texts_with_the_digits_of_the_column() -> None:
    convert = zoned_timestamp_column(3)[1]
    assert convert("2024-02-29 12:34:56.1+02") == "2024-02-29T10:34:56.100Z"
    assert convert("-infinity") == "-infinity"
    for text, shown in (
        ("2024-02-29 12:34:56.123+00", "2024-02-29T12:34:56.123Z"),
        ("2024-02-29 12:34:56+00", "2024-02-29T12:34:56.000Z"),
        ("12024-02-29 12:34:56+00", "+12024-02-29T12:34:56.000Z"),
        ("0044-03-15 12:34:56+00 BC", "-0043-03-15T12:34:56.000Z"),
    ):
        assert convert(text) == shown
    assert zoned_timestamp_column(0)[1]("2024-02-29 12:34:56+00") == "2024-02-29T12:34:56Z"
    assert (precision_of(-1), precision_of(0)) == (6, 0)
