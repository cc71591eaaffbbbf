"""Java's date patterns."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.connect.errors import ConfigError, DataError
from moldau.connect.transforms.date_formats import DateFormat

MOMENT = dt.datetime(2024, 2, 29, 15, 4, 5, 678000, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("yyyyMMdd", "20240229"),
        ("yyyy-MM-dd'T'HH:mm:ss.SSSX", "2024-02-29T15:04:05.678Z"),
        ("yy/M/d h:mm a", "24/2/29 3:04 PM"),
        ("EEE, d MMM yyyy HH:mm:ss Z", "Thu, 29 Feb 2024 15:04:05 +0000"),
        ("''yyyy''", "'2024'"),
    ],
)
def test_letters_mean_what_java_says(pattern: str, text: str) -> None:
    assert DateFormat(pattern).format(MOMENT) == text


@given(st.datetimes(dt.datetime(1000, 1, 1), dt.datetime(9999, 1, 1)))  # noqa: DTZ001 - made aware
def test_what_was_written_is_read(moment: dt.datetime) -> None:
    form = DateFormat("yyyy-MM-dd HH:mm:ss.SSS")
    aware = moment.replace(tzinfo=dt.UTC, microsecond=moment.microsecond // 1000 * 1000)
    assert form.parse(form.format(aware)) == aware


def test_zones_and_names_of_months_are_read() -> None:
    found = DateFormat("d MMM yyyy hh:mm a X").parse("29 feb 2024 12:30 AM +02")
    assert found == dt.datetime(2024, 2, 28, 22, 30, tzinfo=dt.UTC)


def test_unknown_letters_and_other_texts_are_refused() -> None:
    with pytest.raises(ConfigError, match="w is not supported"):
        DateFormat("yyyy-ww")
    with pytest.raises(DataError, match="does not match"):
        DateFormat("yyyy").parse("x")
    with pytest.raises(DataError, match="Could not parse"):
        DateFormat("yyyy-MM").parse("2024-13")
