"""What is the same of all databases, on SQLite."""

from pathlib import Path

import pytest

from moldau.connect.connectors.sql.database import (
    Column,
    Database,
    Sqlite,
    quoted,
)
from moldau.connect.connectors.sql.opening import connect
from moldau.connect.data.schema import DATE_SCHEMA, FLOAT64, INT64, STRING
from moldau.connect.errors import DataError, RetriableConnectError


@pytest.fixture
def database(tmp_path: Path) -> Database:
    found = connect(f"jdbc:sqlite:{tmp_path}/d", None, None)
    found.query("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT NOT NULL, at TIMESTAMP)")
    return found


def test_tables_and_columns_are_found(database: Database) -> None:
    assert database.tables() == ["t"]
    assert database.columns("t") == [
        Column("id", "integer", False, True),
        Column("name", "text", False, False),
        Column("at", "timestamp", True, False),
    ]
    assert database.columns("none") == []


def test_a_transaction_is_all_or_nothing(database: Database) -> None:
    with pytest.raises(DataError), database.transaction():
        database.run("INSERT INTO t (id, name) VALUES (?, ?)", [(1, "a"), (1, "b")])
    assert database.query("SELECT count(*) FROM t") == [(0,)]
    with database.transaction():
        database.run("INSERT INTO t (id, name) VALUES (?, ?)", [(1, "a")])
    assert database.query("SELECT name FROM t WHERE id = ?", [1]) == [("a",)]


def test_what_may_pass_is_told_from_what_may_not(database: Database, tmp_path: Path) -> None:
    with pytest.raises(RetriableConnectError, match="no such table"):
        database.query("SELECT * FROM zzz")
    with pytest.raises(RetriableConnectError, match="unable to open"):
        connect(f"sqlite:{tmp_path}/none/d", None, None)


def test_names_cannot_break_out_of_a_statement() -> None:
    assert quoted('a"; DROP TABLE x; --') == '"a""; DROP TABLE x; --"'
    assert quoted("s.t") == '"s"."t"'


def test_types_are_sqlites(tmp_path: Path) -> None:
    database = Sqlite(str(tmp_path / "d"))
    kinds = [database.type_of(each) for each in (STRING, INT64, FLOAT64, DATE_SCHEMA)]
    assert kinds == ["TEXT", "INTEGER", "REAL", "TEXT"]
    database.close()
