"""Captured tables that tests make without a database."""

from moldau.connect.connectors.capture.tables import CapturedTable, TableName
from moldau.connect.connectors.postgresql.column_types import PgType
from moldau.connect.connectors.postgresql.modes import HandlingModes
from moldau.connect.connectors.postgresql.table_schema import (
    CapturedColumn,
    RowRules,
    captured_table,
)

INT, TEXT = PgType("int4"), PgType("text")
RULES = RowRules(HandlingModes(), lambda _: True, lambda *_: None)


def table(name: str = "t", rules: RowRules = RULES, *, key: str = "id") -> CapturedTable:
    """With a number as its key, a name that is not null, and a note."""
    columns = [
        CapturedColumn("id", INT, is_nullable=False),
        CapturedColumn("name", TEXT, is_nullable=False, default="'anon'::text"),
        CapturedColumn("note", TEXT),
    ]
    return captured_table(TableName("s", name), f"p.s.{name}", columns, [key] if key else [], rules)
