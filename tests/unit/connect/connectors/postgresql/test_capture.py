"""Settings as what a capture works with."""

import pytest

from moldau.connect.connectors.postgresql.pgoutput import RelationColumn, RelationMessage
from unit.connect.connectors.postgresql.databases import Database

pytestmark = pytest.mark.needs("postgres")


def test_tables_that_are_captured_and_their_keys(database: Database) -> None:
    database.run(
        "CREATE TABLE t (a integer PRIMARY KEY, b integer, secret text)",
        "CREATE TABLE other (a integer)",
    )
    capture = database.capture(
        table_include_list=r"public\.t",
        column_exclude_list=r"public\.t\.secret",
        message_key_columns=r"public\.t:b",
        skipped_operations="none",
    )
    assert [str(each) for each in capture.tables()] == ["public.t"]
    rules = capture.change_rules()
    columns = tuple(RelationColumn(name, 23, -1, False) for name in ("a", "b", "secret"))
    found = rules.table_of(RelationMessage(1, "public", "t", "d", columns))
    assert found is not None
    assert found.row(["1", "2", "3"]) == {"a": 1, "b": 2}
    assert found.key_of(["1", "2", "3"]) == {"b": 2}
    assert rules.table_of(RelationMessage(2, "public", "other", "d", columns)) is None
    assert rules.skipped == frozenset()
    capture.close()
