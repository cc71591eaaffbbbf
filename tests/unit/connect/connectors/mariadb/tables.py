"""Captured tables that tests make without a database."""

from moldau.connect.connectors.capture.tables import CapturedTable, TableName
from moldau.connect.connectors.mariadb.catalog import KnownColumn
from moldau.connect.connectors.mariadb.column_types import ColumnType
from moldau.connect.connectors.mariadb.envelope_schemas import source_schema
from moldau.connect.connectors.mariadb.modes import ValueModes
from moldau.connect.connectors.mariadb.row_images import LONG, VARCHAR, LogColumn
from moldau.connect.connectors.mariadb.table_schema import ColumnRules, captured_table

INT, TEXT = ColumnType("int"), ColumnType("varchar")
RULES = ColumnRules(ValueModes(), lambda _: True, lambda *_: None, source_schema("mariadb"))
LOGGED = (LogColumn("id", LONG), LogColumn("name", VARCHAR, size=20, encoding="utf8"))


def table(name: str = "t", rules: ColumnRules = RULES) -> CapturedTable:
    """With a number as its key, and a name that is not null."""
    columns = [
        KnownColumn("id", INT, is_nullable=False),
        KnownColumn("name", TEXT, is_nullable=False, default="'anon'"),
    ]
    return captured_table(TableName("d", name), f"p.d.{name}", columns, ["id"], rules)
