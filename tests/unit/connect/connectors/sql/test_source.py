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


def test_a_query_is_polled_as_a_table_is(path: Path) -> None:
    execute(
        path,
        "CREATE TABLE a (id INTEGER PRIMARY KEY, owner INTEGER)",
        "CREATE TABLE owners (owner INTEGER, name TEXT)",
        "INSERT INTO a VALUES (1, 1), (2, 2), (3, 1)",
        "INSERT INTO owners VALUES (1, 'what?'), (2, 'x')",
    )
    query = "SELECT id, name FROM a JOIN owners USING (owner) WHERE name LIKE '%?';"
    settings = config(
        path, "incrementing", query=query, incrementing_column_name="id", batch_max_rows="1"
    )
    first = read(JdbcSource, settings)
    assert first.values() == [{"id": 1, "name": "what?"}, {"id": 3, "name": "what?"}]
    assert first.records[0].topic == "db-"
    assert first.offsets == [({"query": "query"}, {"incrementing": 3})]
    execute(path, "INSERT INTO a VALUES (4, 1)")
    assert read(JdbcSource, settings, first.offsets).values() == [{"id": 4, "name": "what?"}]
    bulk = config(path, "bulk", query="SELECT id FROM a WHERE id > 3 -- the last")
    assert read(JdbcSource, bulk).values() == [{"id": 4}]
    suffixed = config(path, "bulk", query="SELECT id FROM a", query_suffix="ORDER BY id LIMIT 1")
    assert read(JdbcSource, suffixed).values() == [{"id": 1}]


def test_of_several_times_the_first_that_is_there_counts(path: Path) -> None:
    execute(
        path,
        "CREATE TABLE a (id INTEGER, changed TIMESTAMP, made TIMESTAMP)",
        "INSERT INTO a VALUES (1, NULL, '2024-01-01 00:00:00'), "
        "(2, '2024-01-03 00:00:00', '2024-01-01 00:00:00'), (3, NULL, '2024-01-02 00:00:00'), "
        "(4, '2024-01-03 00:00:00', NULL), (5, NULL, NULL)",
    )
    settings = config(path, "timestamp", timestamp_column_name="changed, made", batch_max_rows="1")
    found = read(JdbcSource, settings)
    assert [each["id"] for each in found.values()] == [1, 3, 2, 4]  # type: ignore[index]
    execute(path, "UPDATE a SET changed = '2024-01-04 00:00:00' WHERE id = 1")
    again = read(JdbcSource, settings, found.offsets)
    assert [each["id"] for each in again.values()] == [1]  # type: ignore[index]
    with pytest.raises(ConfigError, match=r"changed, made may be null.*validate\.non\.null=false"):
        read(JdbcSource, {**settings, "validate.non.null": "true"})


def test_where_to_begin_can_be_said(path: Path) -> None:
    execute(
        path,
        "CREATE TABLE a (id INTEGER PRIMARY KEY, at TIMESTAMP NOT NULL)",
        "INSERT INTO a VALUES (1, '2024-01-01 00:00:00'), (2, '2024-01-02 00:00:00')",
    )
    by_number = config(path, "incrementing", incrementing_initial="1")
    (row,) = read(JdbcSource, by_number).values()
    assert row == {"id": 2, "at": "2024-01-02 00:00:00"}
    by_time = config(
        path, "timestamp", timestamp_column_name="at", timestamp_initial="1704067200000"
    )
    assert [each["id"] for each in read(JdbcSource, by_time).values()] == [2]  # type: ignore[index]
    # Now is when it began, and stays that though nothing was found.
    now = read(JdbcSource, {**by_time, "timestamp.initial": "-1"})
    assert now.values() == []
    assert now.offsets[0][1].keys() == {"timestamp", "timestamp_nanos"}


def test_tables_are_chosen_by_patterns(path: Path) -> None:
    execute(path, *(f"CREATE TABLE {each} (id INTEGER)" for each in ("ab", "abc", "b", "bc")))
    settings = config(path, "bulk", table_include_list="a.*, b", table_exclude_list=".*c")
    source = JdbcSource(settings)
    assert [each["table"] for each in source.partitions()] == ["ab", "b"]
    source.close()
    with pytest.raises(ConfigError, match="query: a list of tables"):
        JdbcSource({**settings, "query": "SELECT 1"})
    with pytest.raises(ConfigError, match="table b has no column nr"):
        read(
            JdbcSource,
            config(path, "incrementing", incrementing_column_name="nr", table_whitelist="b"),
        )
