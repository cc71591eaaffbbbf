"""Files of DuckDB as source and sink."""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from moldau.connect.connectors.sql.database import Database
from moldau.connect.connectors.sql.opening import connect
from moldau.connect.connectors.sql.source import JdbcSource
from moldau.connect.data.schema import INT64, optional, struct
from moldau.connect.errors import DataError, RetriableConnectError
from moldau.connect.testing import read
from unit.connect.connectors.sql.writing import (
    MOMENT,
    ROW,
    UPDATE,
    UPSERT,
    WIDE,
    WIDE_ROW,
    record,
    rows,
    write,
)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"jdbc:duckdb:{tmp_path}/d"


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    found = connect(url, None, None)
    yield found
    found.close()


def test_records_that_come_again_are_inserted_once(url: str, database: Database) -> None:
    write(url, rows(0, 3, "a"))
    write(url, [*rows(0, 3, "a"), record(3, {"id": 9, "name": None})])
    assert database.query("SELECT * FROM t ORDER BY id") == [
        *((0, "a"), (1, "a"), (2, "a"), (9, None)),
    ]


def test_upserts_updates_and_deletes(url: str, database: Database) -> None:
    write(url, rows(0, 100, "a"), **UPSERT)
    changed = [*rows(100, 50, "b"), record(150, None, key=99), record(151, None, key=7)]
    write(url, changed, **UPSERT)
    # A row that goes and comes again in one transaction.
    again = [record(152, None, key=5), record(153, {"id": 5, "name": "c"}, key=5)]
    write(url, again, **UPSERT)
    write(
        url, [record(154, {"id": 6, "name": "c"}), record(155, {"id": 500, "name": "c"})], **UPDATE
    )
    assert database.query("SELECT name, count(*) FROM t GROUP BY name ORDER BY 1") == [
        *(("a", 49), ("b", 47), ("c", 2)),
    ]
    assert database.tables() == ["moldau_connect_offsets", "t"]


def test_all_types_come_back(url: str, database: Database) -> None:
    write(url, [record(0, WIDE_ROW, WIDE)], **UPSERT)
    config = {"connection.url": url, "mode": "incrementing", "topic.prefix": "p-"}
    found = read(JdbcSource, {**config, "table.whitelist": "t"}).values()
    assert found == [{**WIDE_ROW, "tags": '["a", "b"]', "price": Decimal("-1.500000")}]
    times = {**config, "mode": "timestamp", "timestamp.column.name": "at"}
    (row,) = read(JdbcSource, {**times, "table.whitelist": "t"}).values()
    assert isinstance(row, dict)
    assert row["at"] == MOMENT


def test_a_query_is_polled_as_a_table_is(url: str, database: Database) -> None:
    database.query("CREATE TABLE a (id utinyint, name varchar)")
    database.query("INSERT INTO a VALUES (1, 'x'), (2, 'y'), (3, 'x')")
    config = {"connection.url": url, "mode": "incrementing", "topic.prefix": "p-"}
    query = {"query": "SELECT id, name FROM a WHERE name = 'x'", "incrementing.column.name": "id"}
    found = read(JdbcSource, {**config, **query})
    assert found.values() == [{"id": 1, "name": "x"}, {"id": 3, "name": "x"}]
    assert found.records[0].topic == "p-"


def test_new_fields_become_columns(url: str, database: Database) -> None:
    write(url, [record(0, {"id": 1, "name": "a"})])
    wider = struct([*((each.name, each.schema) for each in ROW.fields), ("extra", optional(INT64))])
    write(url, [record(1, {"id": 2, "name": "b", "extra": 5}, wider)], **{"auto.evolve": "true"})
    assert database.query("SELECT * FROM t ORDER BY 1") == [(1, "a", None), (2, "b", 5)]


def test_a_batch_is_there_as_a_whole_or_not_at_all(url: str, database: Database) -> None:
    database.query("CREATE TABLE t (id bigint PRIMARY KEY, name varchar)")
    with pytest.raises(DataError, match="duplicate key"):
        write(url, [record(0, {"id": 1, "name": "a"}), record(1, {"id": 1, "name": "b"})])
    assert database.query("SELECT count(*) FROM t") == [(0,)]
    write(url, [record(0, {"id": 1, "name": "a"})])
    assert database.query("SELECT id FROM t") == [(1,)]


def test_what_goes_wrong_is_told(database: Database, tmp_path: Path) -> None:
    assert database.columns("nowhere") == []
    with pytest.raises(RetriableConnectError, match="nowhere"):
        database.query("SELECT * FROM nowhere")
    (tmp_path / "no").write_text("no database")
    with pytest.raises(RetriableConnectError):
        connect(f"duckdb:{tmp_path}/no", None, None)
