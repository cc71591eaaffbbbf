"""Tables as the connector gives them."""

import logging
from dataclasses import replace

import pytest

from moldau.connect.connectors.capture.tables import TableName
from moldau.connect.connectors.mariadb.catalog import KnownColumn
from moldau.connect.connectors.mariadb.column_types import ColumnType
from moldau.connect.connectors.mariadb.table_schema import captured_table
from unit.connect.connectors.mariadb.tables import RULES, table


def test_a_table_has_its_defaults_and_keys() -> None:
    found = table()
    assert found.row(["1", "a"]) == {"id": 1, "name": "a"}
    assert found.key_of(["1", "a"]) == {"id": 1}
    assert [each.schema.default for each in found.row_schema.fields] == [None, "anon"]
    assert found.row(["1", None])["name"] == "anon"


def test_columns_can_be_left_out() -> None:
    rules = replace(RULES, has_column=lambda name: name != "d.t.name")
    assert table(rules=rules).row(["1", "a"]) == {"id": 1}


def test_a_column_of_a_type_that_is_not_known_is_left_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        columns = [KnownColumn("v", ColumnType("vector"), is_nullable=False)]
        found = captured_table(TableName("d", "t"), "p.d.t", columns, [], RULES)
    assert found.row(["x"]) == {}
    assert "d.t.v is left out: its type vector is not known" in caplog.text
