"""Defaults of columns."""

from decimal import Decimal

import pytest

from moldau.connect.connectors.postgresql.column_types import PgType, column_mapping
from moldau.connect.connectors.postgresql.defaults import default_of
from moldau.connect.connectors.postgresql.modes import HandlingModes


@pytest.mark.parametrize(
    ("name", "expression", "expected"),
    [
        ("int8", "nextval('s.t_id_seq'::regclass)", 0),
        ("int4", "'-1'::integer", -1),
        ("int4", "7", 7),
        ("text", "'it''s'::text", "it's"),
        ("text", "NULL::text", None),
        ("bool", "true", True),
        ("timestamptz", "now()", "1970-01-01T00:00:00.000000Z"),
        ("timestamptz", "CURRENT_TIMESTAMP", "1970-01-01T00:00:00.000000Z"),
        (
            "timestamptz",
            "'2024-01-01 00:00:00+00'::timestamp with time zone",
            "2024-01-01T00:00:00.000000Z",
        ),
        ("uuid", "gen_random_uuid()", "00000000-0000-0000-0000-000000000000"),
        ("int4", "(1 + 2)", None),
        ("text", None, None),
        ("bytea", "'\\x00'::bytea", None),
        ("point", "'(1,2)'::point", None),
        ("numeric", "0", None),  # of no scale: a struct
    ],
)
def test_a_literal_is_its_value_and_a_call_a_zero(
    name: str, expression: str | None, expected: object
) -> None:
    kind = PgType(name)
    mapping = column_mapping(kind, -1, HandlingModes())
    assert mapping is not None
    assert default_of(kind, mapping, expression) == expected


def test_decimals_have_the_scale_of_their_column() -> None:
    kind = PgType("numeric")
    mapping = column_mapping(kind, (6 << 16 | 2) + 4, HandlingModes())
    assert mapping is not None
    assert str(default_of(kind, mapping, "1")) == str(Decimal("1.00"))


def test_the_default_of_an_enum_is_one_of_its_labels() -> None:
    kind = PgType("mood", "e", labels=("sad",))
    mapping = column_mapping(kind, -1, HandlingModes())
    assert mapping is not None
    assert default_of(kind, mapping, "'sad'::s.mood") == "sad"
    assert default_of(kind, mapping, "'new'::s.mood") is None
