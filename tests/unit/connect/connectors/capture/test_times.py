"""Dates and times are counted as PostgreSQL counts them, beyond Python's own."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.connect.connectors.capture.times import (
    civil_of,
    clock_us,
    date_days,
    days_of,
    iso_clock,
    iso_date,
    iso_timestamp,
    timestamp_us,
    zoned_clock_us,
)

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@given(st.dates())
def test_days_are_those_of_the_calendar(day: dt.date) -> None:
    days = (day - EPOCH.date()).days
    assert days_of(day.year, day.month, day.day) == days
    assert civil_of(days) == (day.year, day.month, day.day)
    assert date_days(day.isoformat()) == days
    assert iso_date(days) == day.isoformat()


@given(st.integers(-2_451_508, 107_000_000))
def test_all_days_of_postgresql_come_back(days: int) -> None:
    assert days_of(*civil_of(days)) == days


@given(st.datetimes(timezones=st.just(dt.UTC)))
def test_times_are_microseconds(moment: dt.datetime) -> None:
    micros = (moment - EPOCH) // dt.timedelta(microseconds=1)
    assert timestamp_us(str(moment)) == micros  # ends with +00:00
    assert timestamp_us(str(moment.replace(tzinfo=None))) == micros
    assert f"{iso_timestamp(micros, 6)}+00:00" == moment.isoformat(timespec="microseconds")


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("infinity", 9223372036825200000),
        ("-infinity", -9223372036832400000),
        ("0044-03-15 00:00:01 BC", -735160 * 86_400_000_000 + 1_000_000),
        ("2024-02-29 12:34:56.5+05:30", 1709190296500000),
        ("2024-02-29 00:00:00-00:00:10", 1709164810000000),
    ],
)
def test_what_python_cannot_say(text: str, micros: int) -> None:
    assert timestamp_us(text) == micros


def test_dates_without_end_are_what_32_bits_hold() -> None:
    assert [date_days("infinity"), date_days("-infinity")] == [-2147472692, -2147472691]
    assert iso_date(date_days("infinity")) == "-5877611-06-21"
    assert iso_date(days_of(10000, 1, 2)) == "+10000-01-02"


def test_clocks() -> None:
    assert clock_us("24:00:00") == 86_400_000_000
    assert clock_us("00:00") == 0
    assert zoned_clock_us("12:00:00.5+02") == 36_000_500_000
    assert zoned_clock_us("01:00:00+02") == 23 * 3_600_000_000
    assert [iso_clock(clock_us(each)) for each in ("10:00:00.50", "24:00:00")] == [
        "10:00:00.5",
        "00:00:00",
    ]
    assert iso_clock(1_500_000, 3) == "00:00:01.500"
    with pytest.raises(ValueError, match="invalid literal"):
        clock_us("soon")
