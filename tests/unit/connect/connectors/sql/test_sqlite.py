"""SQLite: tables, transactions, what may pass, and times as texts."""

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pytest

from moldau.connect.connectors.sql.changes import UPDATE, TableChanges
from moldau.connect.connectors.sql.database import Column, Database
from moldau.connect.connectors.sql.opening import connect
from moldau.connect.connectors.sql.sqlite import Sqlite
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


def test_types_are_sqlites(tmp_path: Path) -> None:
    database = Sqlite(str(tmp_path / "d"))
    kinds = [database.type_of(each) for each in (STRING, INT64, FLOAT64, DATE_SCHEMA)]
    assert kinds == ["TEXT", "INTEGER", "REAL", "TEXT"]
    database.close()


def test_rows_go_and_come_and_times_are_texts(database: Database) -> None:
    moment = dt.datetime(2024, 2, 29, 1, 2, 3, tzinfo=dt.UTC)
    rows = pa.table({"id": [1, 2], "name": ["a", "b"], "at": [moment] * 2})
    nothing = rows.select(["id"]).slice(0, 0)
    database.apply("t", TableChanges("insert", ["id"], [], rows, nothing))
    assert database.query("SELECT * FROM t WHERE id = 1") == [(1, "a", "2024-02-29 01:02:03+00:00")]
    changed = pa.table({"id": [2, 3], "name": ["x", "y"]})
    database.apply("t", TableChanges(UPDATE, ["id"], [], changed, pa.table({"id": [1]})))
    assert database.query("SELECT id, name FROM t") == [(2, "x")]
