"""Defaults of columns as values."""

from decimal import Decimal

import pytest

from moldau.connect.connectors.mariadb.column_types import ColumnType, column_mapping
from moldau.connect.connectors.mariadb.defaults import default_of
from moldau.connect.connectors.mariadb.modes import ValueModes


def default(kind: ColumnType, expression: str | None, *, is_quoted: bool = True) -> object:
    mapping = column_mapping(kind, ValueModes())
    assert mapping is not None
    return default_of(kind, mapping, expression, is_quoted=is_quoted)


@pytest.mark.parametrize(
    ("kind", "expression", "value"),
    [
        (ColumnType("int"), "7", 7),
        (ColumnType("int"), "-7", -7),
        (ColumnType("int"), "NULL", None),
        (ColumnType("int"), None, None),
        (ColumnType("int"), "(1 + 2)", None),
        (ColumnType("varchar"), "'it''s'", "it's"),
        (ColumnType("varchar"), r"'a\'b'", "a'b"),
        (ColumnType("varchar"), "uuid()", None),
        (ColumnType("decimal", size=6, digits=2), "1.5", Decimal("1.50")),
        (ColumnType("datetime"), "current_timestamp()", 0),
        (ColumnType("timestamp"), "'2024-01-01 00:00:00'", "2024-01-01T00:00:00Z"),
        (ColumnType("bit", size=1), "b'1'", True),
        (ColumnType("bit", size=9), "b'1'", b"\1\0"),
        (ColumnType("varbinary"), "'ab'", b"ab"),
        (ColumnType("date"), "'0000-00-00'", None),
    ],
)
def test_literals_are_their_values(kind: ColumnType, expression: str | None, value: object) -> None:
    assert default(kind, expression) == value


def test_mysqls_literals_have_no_quotes() -> None:
    assert default(ColumnType("varchar"), "anon", is_quoted=False) == "anon"
    assert default(ColumnType("datetime"), "CURRENT_TIMESTAMP", is_quoted=False) == 0
    assert default(ColumnType("int"), "soon", is_quoted=False) is None
