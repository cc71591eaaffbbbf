"""Cast does what Java's casts do."""

import datetime as dt
from decimal import Decimal

import pytest

from moldau.connect.data.record import Datum
from moldau.connect.data.schema import (
    BOOLEAN,
    DATE_SCHEMA,
    FLOAT64,
    INT32,
    INT64,
    STRING,
    Kind,
    optional,
    struct,
)
from moldau.connect.errors import ConfigError, DataError
from moldau.connect.transforms.cast import cast
from unit.connect.transforms.chained import chain, changed

CAST = "Cast$Value"


@pytest.mark.parametrize(
    ("value", "kind", "result"),
    [
        ("12", Kind.INT32, 12),
        (300, Kind.INT8, 44),
        (1.9, Kind.INT64, 1),
        (-1.9, Kind.INT64, -1),
        (True, Kind.INT8, 1),
        ("1.5", Kind.FLOAT64, 1.5),
        (0, Kind.BOOLEAN, False),
        ("TRUE", Kind.BOOLEAN, True),
        (5, Kind.STRING, "5"),
        (False, Kind.STRING, "false"),
        (Decimal("2.7"), Kind.INT32, 2),
        (dt.date(1970, 1, 3), Kind.INT32, 2),
        (dt.datetime(1970, 1, 1, 0, 0, 1, tzinfo=dt.UTC), Kind.INT64, 1000),
        (dt.time(0, 0, 1), Kind.INT32, 1000),
    ],
)
def test_values_are_cast(value: object, kind: Kind, result: object) -> None:
    assert cast(value, kind) == result


@pytest.mark.parametrize(
    ("value", "kind"), [("x", Kind.INT32), ("300", Kind.INT8), ([], Kind.INT8)]
)
def test_what_cannot_be_cast_is_refused(value: object, kind: Kind) -> None:
    with pytest.raises(DataError):
        cast(value, kind)


def test_fields_change_with_their_schemas_and_logical_names_go() -> None:
    row = struct([("a", STRING.but(default="7")), ("d", optional(DATE_SCHEMA)), ("x", INT64)])
    found = changed(CAST, {"a": "1", "d": None, "x": 1}, row, spec="a:int32,d:int64,x:boolean")
    assert found is not None
    assert found.value == {"a": 1, "d": None, "x": True}
    wanted = struct([("a", INT32.but(default=7)), ("d", optional(INT64)), ("x", BOOLEAN)])
    assert found.schema == wanted


def test_the_whole_may_be_cast_and_null_stays() -> None:
    assert changed(CAST, "1", STRING, spec="float64") == Datum(1.0, FLOAT64)
    assert changed(CAST, None, spec="float64") == Datum()
    assert changed(CAST, {"a": "1"}, spec="a:int8") == Datum({"a": 1})


def test_a_spec_of_nothing_or_of_no_type_is_refused() -> None:
    with pytest.raises(ConfigError, match="Invalid cast type: int7"):
        chain(CAST, spec="a:int7")
    with pytest.raises(ConfigError, match="at least one field"):
        chain(CAST, spec="")
