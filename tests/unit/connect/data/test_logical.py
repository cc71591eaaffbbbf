"""Logical types are stored as Connect's JSON has them."""

import datetime as dt
import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.connect.data.logical import (
    from_stored,
    integer_bytes,
    scaled,
    to_stored,
    unscaled_bytes,
)
from moldau.connect.data.schema import (
    BYTES,
    DATE_SCHEMA,
    FLOAT64,
    INT32,
    STRING,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    array,
    decimal,
    map_of,
    optional,
    struct,
)
from moldau.connect.errors import DataError


@given(st.integers(-(10**40), 10**40), st.integers(0, 20))
def test_a_decimal_survives_its_bytes(unscaled: int, scale: int) -> None:
    value = Decimal(unscaled).scaleb(-scale)
    sign, digits, _ = Decimal(unscaled).as_tuple()
    value = Decimal((sign, digits, -scale))
    assert scaled(unscaled_bytes(value, scale), scale) == value


@pytest.mark.parametrize(
    ("number", "data"),
    [(0, b"\0"), (127, b"\x7f"), (128, b"\0\x80"), (-1, b"\xff"), (-128, b"\x80")],
)
def test_bytes_of_a_number_are_javas(number: int, data: bytes) -> None:
    assert integer_bytes(number) == data


def test_a_decimal_with_too_many_digits_or_none_is_refused() -> None:
    with pytest.raises(DataError, match="more than 2 digits"):
        unscaled_bytes(Decimal("1.234"), 2)
    with pytest.raises(DataError, match="no number"):
        unscaled_bytes(Decimal("NaN"), 2)


def test_golden_values_of_apache() -> None:
    assert to_stored(decimal(2), Decimal("-12345678.90")) == "tmn9Lg=="
    assert to_stored(DATE_SCHEMA, dt.date(2024, 2, 29)) == 19782
    assert to_stored(FLOAT64, math.nan) == "NaN"
    assert to_stored(FLOAT64, -math.inf) == "-Infinity"


@pytest.mark.parametrize(
    ("schema", "value", "stored"),
    [
        (DATE_SCHEMA, dt.date(1970, 1, 2), 1),
        (TIME_SCHEMA, dt.time(0, 0, 1, 5000), 1005),
        (TIMESTAMP_SCHEMA, dt.datetime(1970, 1, 1, 0, 0, 1, tzinfo=dt.UTC), 1000),
        (BYTES, b"\0\xff", "AP8="),
        (array(INT32), [1, 2], [1, 2]),
        (map_of(STRING, INT32), {"a": 1}, {"a": 1}),
        (map_of(INT32, STRING), {1: "a"}, [[1, "a"]]),
        (struct([("a", optional(INT32))]), {"a": None}, {"a": None}),
        (FLOAT64, math.inf, "Infinity"),
        (decimal(1), Decimal("1.5"), "Dw=="),
    ],
)
def test_values_go_there_and_back(schema: object, value: object, stored: object) -> None:
    assert to_stored(schema, value) == stored  # type: ignore[arg-type]
    assert from_stored(schema, stored) == value  # type: ignore[arg-type]


def test_a_value_of_another_kind_is_refused() -> None:
    with pytest.raises(DataError, match="Invalid type for INT32: str"):
        from_stored(INT32, "x")
    with pytest.raises(DataError, match="expected length 2"):
        from_stored(map_of(INT32, STRING), [[1]])
    with pytest.raises(DataError, match=r"no org\.apache"):
        to_stored(DATE_SCHEMA, "x")


def test_a_number_stands_for_a_time_beyond_pythons() -> None:
    assert to_stored(DATE_SCHEMA, -735160) == -735160
    assert to_stored(TIME_SCHEMA, 86_400_000) == 86_400_000
