"""What settings make."""

import pytest

from moldau.connect.connectors.capture.tables import TableName
from moldau.connect.connectors.mariadb.events import TableMapped
from moldau.connect.errors import ConfigError
from unit.connect.connectors.mariadb.databases import Database
from unit.connect.connectors.mariadb.tables import LOGGED

pytestmark = pytest.mark.needs("mariadbd")


def test_a_table_is_captured_with_the_key_that_is_wanted(database: Database) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY, name varchar(5))", "CREATE TABLE u (i int)")
    config = {"table.include.list": r".*\.t", "message.key.columns": r".*\.t:name"}
    capture = database.capture(**config)
    assert [each.name.name for each in capture.tables()] == ["t"]
    rules = capture.change_rules()
    name = TableName(database.name, "t")
    mapped = rules.table_of(TableMapped(1, name, LOGGED, has_names=True))
    assert mapped is not None
    assert mapped.table.key_of(["1", "a"]) == {"name": "a"}
    assert mapped.table.topic == f"p.{database.name}.t"
    assert rules.table_of(TableMapped(1, TableName("x", "t"), LOGGED, has_names=True)) is None
    assert rules.table_now(TableName("x", "t")) is None
    now = rules.table_now(name)
    assert now is not None
    assert [each.name for each in now.row_schema.fields] == ["id", "name"]
    capture.close()


def test_a_log_without_names_fails_and_says_what_to_set(database: Database) -> None:
    capture = database.capture()
    table_of = capture.change_rules().table_of
    with pytest.raises(ConfigError, match="binlog_row_metadata"):
        table_of(TableMapped(1, TableName(database.name, "t"), LOGGED, has_names=False))
    capture.close()
