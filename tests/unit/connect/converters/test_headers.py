"""Headers are texts whose kind is guessed."""

import datetime as dt

import pytest

from moldau.connect.converters.headers import SimpleHeaderConverter, guessed, header_text
from moldau.connect.data.record import Datum
from moldau.connect.data.schema import BOOLEAN, DATE_SCHEMA, FLOAT32, INT8, INT16, INT64, STRING
from moldau.connect.errors import DataError

MOMENT = dt.datetime(2024, 2, 29, 1, 2, 3, 456000, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("text", "datum"),
    [
        ("true", Datum(True, BOOLEAN)),
        ("5", Datum(5, INT8)),
        ("-300", Datum(-300, INT16)),
        (str(2**40), Datum(2**40, INT64)),
        (str(2**70), Datum(str(2**70), STRING)),
        ("1.5", Datum(1.5, FLOAT32)),
        ("2024-02-29", Datum(dt.date(2024, 2, 29), DATE_SCHEMA)),
        ("[1,2]", Datum([1, 2])),
        ("{x", Datum("{x", STRING)),
        ("null", Datum()),
        ("some text", Datum("some text", STRING)),
    ],
)
def test_a_text_is_taken_for_what_it_looks_like(text: str, datum: Datum) -> None:
    assert guessed(text) == datum


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (MOMENT, "2024-02-29T01:02:03.456Z"),
        (MOMENT.date(), "2024-02-29"),
        (MOMENT.time(), "01:02:03.456Z"),
        ({"a": [1]}, '{"a":[1]}'),
        (5, "5"),
    ],
)
def test_values_are_written_so_that_they_are_read_again(value: object, text: str) -> None:
    assert header_text(value) == text
    assert guessed(text).value == value


def test_bytes_that_are_no_text_stay_bytes() -> None:
    assert SimpleHeaderConverter({}).from_bytes("h", b"\xff").value == b"\xff"
    with pytest.raises(DataError, match="no date"):
        guessed("2024-13-01")
