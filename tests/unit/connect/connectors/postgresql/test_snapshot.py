"""Tables are read as they were at one moment."""

import threading
import time
from collections import defaultdict

import pytest

from moldau.connect.connectors.capture.tables import TableName
from moldau.connect.connectors.postgresql.snapshot import TableSnapshot
from moldau.connect.errors import ConfigError, RetriableConnectError
from unit.connect.connectors.postgresql.databases import Database

pytestmark = pytest.mark.needs("postgres")
A, B, PARTS = (TableName("public", name) for name in ("a", "b", "parts"))


def test_rows_are_those_of_the_moment_table_by_table(database: Database) -> None:
    database.run(
        "CREATE TABLE a (id integer PRIMARY KEY, v text, g integer GENERATED ALWAYS AS (1) STORED)",
        "CREATE TABLE b (i integer)",
        "CREATE TABLE child () INHERITS (a)",
        "CREATE TABLE parts (i integer) PARTITION BY RANGE (i)",
        "CREATE TABLE part1 PARTITION OF parts FOR VALUES FROM (0) TO (10)",
        "INSERT INTO a VALUES (1, E'tab\\t\\\\'), (2, NULL), (3, '\\N')",
        "INSERT INTO child VALUES (9, 'not of a itself')",
        "INSERT INTO parts VALUES (7)",
    )
    capture = database.capture()
    snapshot = TableSnapshot(capture.server, "test", "serializable")
    moment = snapshot.moment()
    database.run("INSERT INTO a VALUES (4, 'later')")
    assert moment.lsn <= database.lsn()
    assert moment.visible.split(":")[1] == str(moment.tx_id)
    found = list(snapshot.rows([A, B, PARTS], capture.table))
    assert [(each.table.name, each.cells) for each in found] == [
        (A, ["1", "tab\t\\"]),
        (A, ["2", None]),
        (A, ["3", "\\N"]),
        (PARTS, ["7"]),
    ]
    assert [(each.is_first_of, each.is_last_of) for each in found] == [
        *((True, False), (False, False), (False, True), (True, True)),
    ]
    snapshot.close()
    capture.close()


def test_a_moment_needs_isolation_and_tables_that_stay(database: Database) -> None:
    capture = database.capture()
    with pytest.raises(ConfigError, match="read_committed is none of"):
        TableSnapshot(capture.server, "test", "read_committed")
    snapshot = TableSnapshot(capture.server, "test", "repeatable_read")
    assert list(snapshot.rows([TableName("public", "gone")], capture.table)) == []
    snapshot.close()
    snapshot = TableSnapshot(capture.server, "test", "repeatable_read")
    with pytest.raises(RetriableConnectError, match="invalid snapshot identifier"):
        snapshot.take_over("it's")
    snapshot.close()
    capture.close()


def test_tables_are_read_at_a_time_as_they_were_at_one_moment(database: Database) -> None:
    tables = [TableName("public", f"t{number}") for number in range(5)]
    for number, table in enumerate(tables):
        database.run(
            f"CREATE TABLE {table.name} (id integer PRIMARY KEY)",
            f"INSERT INTO {table.name} SELECT generate_series(1, {number * 500})",
        )
    capture = database.capture()
    snapshot = TableSnapshot(capture.server, "parallel", "serializable")
    assert snapshot.moment().lsn <= database.lsn()
    database.run(*(f"INSERT INTO {table.name} VALUES (9999)" for table in tables))
    rows = snapshot.rows(tables, capture.table, 3)
    found = [next(rows)]
    until_connected(database, 4)  # of which one holds the moment
    found += rows
    read = defaultdict(list)
    for each in found:
        read[each.table.name].append(each.cells)
    for number, table in enumerate(tables):
        assert read[table] == [[str(each)] for each in range(1, number * 500 + 1)]
    snapshot.close()
    until_connected(database, 0)
    capture.close()


def test_a_read_by_threads_can_be_given_up(database: Database) -> None:
    for name in ("a", "b", "c"):
        database.run(f"CREATE TABLE {name} AS SELECT generate_series(1, 9000) AS i")
    capture = database.capture()
    snapshot = TableSnapshot(capture.server, "parallel", "repeatable_read")
    next(snapshot.rows([A, B, TableName("public", "c")], capture.table, 8))
    until_connected(database, 4)
    snapshot.close()
    until_connected(database, 0)
    assert "table-reader" not in {each.name for each in threading.enumerate()}
    capture.close()


def test_connections_of_threads_that_end_may_be_tried_again(database: Database) -> None:
    for name in ("a", "b"):
        database.run(f"CREATE TABLE {name} AS SELECT generate_series(1, 90000) AS i")
    capture = database.capture()
    snapshot = TableSnapshot(capture.server, "parallel", "repeatable_read")
    rows = snapshot.rows([A, B], capture.table, 2)
    next(rows)
    until_connected(database, 3)
    database.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE application_name = 'moldau-connect parallel snapshot' "
        "AND datname = current_database()"
    )
    with pytest.raises(RetriableConnectError, match=r"PostgreSQL at .*connection"):
        list(rows)
    snapshot.close()
    until_connected(database, 0)
    capture.close()


def test_what_goes_wrong_in_a_thread_is_raised(database: Database) -> None:
    database.run("CREATE TABLE a (i integer)", "CREATE TABLE b (i integer)")
    database.run("CREATE ROLE reader_of_a LOGIN", "GRANT SELECT ON a TO reader_of_a")
    capture = database.capture(database_user="reader_of_a")
    snapshot = TableSnapshot(capture.server, "parallel", "repeatable_read")
    with pytest.raises(RetriableConnectError, match="permission denied for table b"):
        list(snapshot.rows([A, B], capture.table, 2))
    snapshot.close()
    until_connected(database, 0)
    capture.close()
    database.run("DROP OWNED BY reader_of_a", "DROP ROLE reader_of_a")


def until_connected(database: Database, count: int) -> None:
    """Wait until so many connections read."""
    deadline = time.monotonic() + 60
    query = (
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE application_name = 'moldau-connect parallel snapshot' "
        "AND datname = current_database()"
    )
    while database.rows(query) != [(count,)]:
        assert time.monotonic() < deadline, database.rows(query)
