"""Tables are read as they were at one moment."""

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
