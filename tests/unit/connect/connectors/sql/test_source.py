"""Tables are read in each of the modes, and nothing twice."""

import sqlite3
from pathlib import Path

import pytest

from moldau.connect.connectors.sql.source import JdbcSource
from moldau.connect.errors import ConfigError, ConnectError
from moldau.connect.testing import read


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "d"


def execute(path: Path, *statements: str) -> None:
    with sqlite3.connect(path) as connection:
        for each in statements:
            connection.execute(each)
    connection.close()


def config(path: Path, mode: str, **more: str) -> dict[str, str]:
    named = {name.replace("_", "."): text for name, text in more.items()}
    return {"connection.url": f"jdbc:sqlite:{path}", "mode": mode, "topic.prefix": "db-", **named}


def test_new_rows_are_read_by_their_growing_number(path: Path) -> None:
    execute(
        path,
        "CREATE TABLE a (id INTEGER PRIMARY KEY, v TEXT)",
        "INSERT INTO a VALUES (1, 'x'), (2, NULL), (3, 'z')",
    )
    settings = config(path, "incrementing", batch_max_rows="2")
    first = read(JdbcSource, settings)
    assert first.values() == [{"id": 1, "v": "x"}, {"id": 2, "v": None}, {"id": 3, "v": "z"}]
    assert first.records[0].topic == "db-a"
    assert first.offsets == [({"protocol": "1", "table": "a"}, {"incrementing": 3})]
    execute(path, "INSERT INTO a VALUES (4, 'w')")
    assert read(JdbcSource, settings, first.offsets).values() == [{"id": 4, "v": "w"}]


def test_changed_rows_are_read_by_their_time_and_none_of_equal_times_is_lost(path: Path) -> None:
    execute(
        path,
        "CREATE TABLE a (id INTEGER, at TIMESTAMP)",
        "INSERT INTO a VALUES (1, '2024-01-01 00:00:00'), (2, '2024-01-01 00:00:00.5'), "
        "(3, '2024-01-01 00:00:00.5'), (4, '2024-01-01 00:00:01')",
    )
    settings = config(path, "timestamp", timestamp_column_name="at", batch_max_rows="2")
    first = read(JdbcSource, settings)
    assert [each["id"] for each in first.values()] == [1, 2, 3, 4]  # type: ignore[index]
    execute(path, "UPDATE a SET at = '2024-01-01 00:00:02' WHERE id = 1")
    found = read(JdbcSource, settings, first.offsets)
    assert [each["id"] for each in found.values()] == [1]  # type: ignore[index]


def test_rows_of_the_future_wait(path: Path) -> None:
    execute(
        path,
        "CREATE TABLE a (id INTEGER, at TIMESTAMP)",
        "INSERT INTO a VALUES (1, '9999-01-01 00:00:00')",
    )
    settings = config(path, "timestamp", timestamp_column_name="at")
    assert read(JdbcSource, settings).values() == []


def test_time_and_number_together_order_rows_of_equal_times(path: Path) -> None:
    execute(
        path,
        "CREATE TABLE a (id INTEGER PRIMARY KEY, at TIMESTAMP)",
        "INSERT INTO a SELECT value, '2024-01-01 00:00:00' FROM "
        "(WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 7) "
        "SELECT value FROM n)",
    )
    settings = config(
        path, "timestamp+incrementing", timestamp_column_name="at", batch_max_rows="2"
    )
    found = read(JdbcSource, settings)
    assert [each["id"] for each in found.values()] == list(range(1, 8))  # type: ignore[index]
    offset = {"incrementing": 7, "timestamp": 1704067200000, "timestamp_nanos": 0}
    assert found.offsets[0][1] == offset


def test_bulk_reads_all_of_the_tables_that_are_wanted(path: Path) -> None:
    execute(path, "CREATE TABLE a (x)", "CREATE TABLE b (x)", "INSERT INTO a VALUES (1)")
    assert read(JdbcSource, config(path, "bulk", table_blacklist="b")).values() == [{"x": "1"}]
    assert read(JdbcSource, config(path, "bulk", table_whitelist="b")).values() == []


def test_what_cannot_be_read_says_what_to_do(path: Path) -> None:
    execute(path, "CREATE TABLE a (x)")
    for mode, why in (("incrementing", "incrementing"), ("timestamp", "timestamp")):
        with pytest.raises(ConfigError, match=f"{why}.column.name: table a needs one"):
            read(JdbcSource, config(path, mode))
    with pytest.raises(ConnectError, match="table none is not there"):
        read(JdbcSource, config(path, "incrementing", table_whitelist="none"))
    with pytest.raises(ConfigError, match="none of bulk"):
        JdbcSource(config(path, "x"))
