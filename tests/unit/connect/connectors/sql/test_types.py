"""Columns become schemas, rows values."""

import datetime as dt
from decimal import Decimal

from moldau.connect.connectors.sql.database import Column
from moldau.connect.connectors.sql.types import row_schema, value_of
from moldau.connect.data.schema import (
    BOOLEAN,
    FLOAT64,
    INT32,
    INT64,
    STRING,
    TIMESTAMP_SCHEMA,
    decimal,
    optional,
    struct,
)

COLUMNS = [
    Column("i", "integer", False, True),
    Column("n", "numeric", True, False),
    Column("b", "boolean", True, False),
    Column("t", "timestamp without time zone", True, False),
    Column("u", "uuid", True, False),
]


def test_postgresqls_types_are_kept() -> None:
    schema = row_schema("t", COLUMNS, is_sqlite=False)
    assert schema == struct(
        [
            ("i", INT32),
            ("n", optional(decimal(6))),
            ("b", optional(BOOLEAN)),
            ("t", optional(TIMESTAMP_SCHEMA)),
            ("u", optional(STRING)),
        ],
        name="t",
    )
    row = (1, Decimal("1.5"), True, dt.datetime(2024, 1, 1), 5)  # noqa: DTZ001 - as it is read
    assert value_of(schema, row) == {
        "i": 1,
        "n": Decimal("1.500000"),
        "b": True,
        "t": dt.datetime(2024, 1, 1, tzinfo=dt.UTC),
        "u": "5",
    }


def test_sqlites_numbers_are_wide() -> None:
    schema = row_schema("t", COLUMNS[:3], is_sqlite=True)
    assert [each.schema.but(optional=False) for each in schema.fields] == [INT64, FLOAT64, BOOLEAN]
    assert value_of(schema, (1, 2, 1)) == {"i": 1, "n": 2.0, "b": True}
