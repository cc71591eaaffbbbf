"""Tables of a real MariaDB, and of a real MySQL, as source and sink."""

import datetime as dt
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest

from mariadb import MariaDb, running_mariadb
from moldau.connect.connectors.sql.database import Database
from moldau.connect.connectors.sql.opening import connect
from moldau.connect.connectors.sql.source import JdbcSource
from moldau.connect.data.schema import INT64, STRING, optional, struct
from moldau.connect.errors import DataError, RetriableConnectError
from moldau.connect.testing import read
from mysql import needs_mysql, running_mysql
from unit.connect.connectors.sql.writing import (
    ROW,
    UPDATE,
    UPSERT,
    WIDE,
    WIDE_ROW,
    record,
    rows,
    write,
)

pytestmark = pytest.mark.needs("mariadbd")


@pytest.fixture(scope="module", params=["mariadb", pytest.param("mysql", marks=needs_mysql())])
def server(request: pytest.FixtureRequest) -> Iterator[MariaDb]:
    with (
        running_mariadb(skip_log_bin="1") if request.param == "mariadb" else running_mysql()
    ) as found:
        yield found


@pytest.fixture
def url(server: MariaDb) -> str:
    """An empty database."""
    connection = server.connect()
    with connection.cursor() as cursor:
        cursor.execute("DROP DATABASE IF EXISTS shop")
        cursor.execute("CREATE DATABASE shop")
    connection.close()
    return f"jdbc:mariadb://root@127.0.0.1:{server.port}/shop"


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    found = connect(url, None, None)
    yield found
    found.close()


def test_records_that_come_again_are_inserted_once(url: str, database: Database) -> None:
    write(url, rows(0, 3, "a"))
    write(url, [*rows(0, 3, "a"), record(3, {"id": 9, "name": None})])
    assert database.query('SELECT * FROM t ORDER BY "id"') == [
        *((0, "a"), (1, "a"), (2, "a"), (9, None)),
    ]


def test_upserts_and_deletes_go_through_a_stage(url: str, database: Database) -> None:
    write(url, rows(0, 100, "a"), **UPSERT)
    changed = [*rows(100, 50, "b"), record(150, None, key=99), record(151, None, key=7)]
    write(url, changed, **UPSERT)
    assert database.query("SELECT name, count(*) FROM t GROUP BY name ORDER BY 1") == [
        *(("a", 49), ("b", 49)),
    ]
    assert database.tables() == ["moldau_connect_offsets", "t"]


def test_rows_are_sent_together(url: str, database: Database) -> None:
    def inserts() -> int:
        ((_, count),) = database.query("SHOW GLOBAL STATUS LIKE 'Com_insert'")
        return int(str(count))

    before = inserts()
    write(url, rows(0, 5_000, "a"), **UPSERT)
    write(url, rows(5_000, 5_000, "b"), **UPSERT)
    assert inserts() - before < 20


def test_updates_change_rows_that_are_there(url: str, database: Database) -> None:
    write(url, [record(0, {"id": 1, "name": "a"})])
    write(url, [record(1, {"id": 1, "name": "b"}), record(2, {"id": 9, "name": "z"})], **UPDATE)
    assert database.query("SELECT * FROM t") == [(1, "b")]


def test_all_types_come_back(url: str, database: Database) -> None:
    write(url, [record(0, WIDE_ROW, WIDE)], **UPSERT)
    config = {"connection.url": url, "mode": "incrementing", "topic.prefix": "p-"}
    found = read(JdbcSource, {**config, "table.whitelist": "t"}).values()
    wanted = {**WIDE_ROW, "flag": 1, "tags": '["a", "b"]', "price": Decimal("-1.500000")}
    assert found == [wanted]
    ((kind,),) = database.query(
        "SELECT COLUMN_TYPE FROM information_schema.COLUMNS "
        "WHERE TABLE_NAME = 't' AND COLUMN_NAME = 'price'"
    )
    assert kind == "decimal(65,2)"


def test_a_query_is_polled_as_a_table_is(url: str, database: Database) -> None:
    database.query("CREATE TABLE a (id bigint unsigned, name varchar(3))")
    database.query("INSERT INTO a VALUES (1, 'x?'), (2, 'y'), (3, 'x?')")
    config = {"connection.url": url, "mode": "incrementing", "topic.prefix": "p-"}
    query = "SELECT id AS number, name FROM a WHERE name LIKE '%?'"
    found = read(JdbcSource, {**config, "query": query, "incrementing.column.name": "number"})
    assert found.values() == [{"number": 1, "name": "x?"}, {"number": 3, "name": "x?"}]
    assert found.offsets == [({"query": "query"}, {"incrementing": 3})]
    kinds = [(each.name, each.kind) for each in database.query_columns(query)]
    assert kinds == [("number", "numeric"), ("name", "varchar")]


def test_new_fields_become_columns(url: str, database: Database) -> None:
    write(url, [record(0, {"id": 1, "name": "a"})])
    wider = struct([*((each.name, each.schema) for each in ROW.fields), ("extra", optional(INT64))])
    write(url, [record(1, {"id": 2, "name": "b", "extra": 5}, wider)], **{"auto.evolve": "true"})
    assert database.query("SELECT * FROM t ORDER BY 1") == [(1, "a", None), (2, "b", 5)]


def test_a_batch_is_there_as_a_whole_or_not_at_all(url: str, database: Database) -> None:
    database.query("CREATE TABLE t (id bigint PRIMARY KEY, name varchar(3))")
    with pytest.raises(DataError, match="Data too long"):
        write(url, [record(0, {"id": 1, "name": "ok"}), record(1, {"id": 2, "name": "too long"})])
    assert database.query("SELECT count(*) FROM t") == [(0,)]
    assert database.query("SELECT count(*) FROM moldau_connect_offsets") == [(0,)]
    write(url, [record(0, {"id": 1, "name": "ok"})])
    assert database.query("SELECT id FROM t") == [(1,)]


def test_text_keys_have_a_length(url: str, database: Database) -> None:
    named = struct([("name", STRING)])
    config = {"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": "name"}
    write(url, [record(0, {"name": "a"}, named)], **config)
    write(url, [record(1, {"name": "a"}, named)], **config)
    assert database.query("SELECT * FROM t") == [("a",)]
    assert database.columns("t")[0].is_key


def test_rows_are_read_by_times_and_numbers(url: str, database: Database) -> None:
    database.query(
        "CREATE TABLE orders (id int unsigned AUTO_INCREMENT PRIMARY KEY, "
        "at timestamp(6) NOT NULL, clock time, span time, raw varbinary(3), yes tinyint(1))"
    )
    database.query(
        "INSERT INTO orders (at, clock, span, raw, yes) VALUES "
        "('2024-02-29 12:00:00.5', '10:00:01', NULL, 'ab', 1), "
        "('2024-02-29 12:00:00.5', NULL, NULL, NULL, 0)"
    )
    config = {
        "connection.url": url,
        "mode": "timestamp+incrementing",
        "timestamp.column.name": "at",
        "topic.prefix": "p-",
    }
    found = read(JdbcSource, config)
    moment = dt.datetime(2024, 2, 29, 12, 0, 0, 500000, tzinfo=dt.UTC)
    first = {
        "id": 1,
        "at": moment,
        "clock": dt.time(10, 0, 1),
        "span": None,
        "raw": b"ab",
        "yes": 1,
    }
    assert found.values() == [
        first,
        {"id": 2, "at": moment, "clock": None, "span": None, "raw": None, "yes": 0},
    ]
    ((_, offset),) = found.offsets
    assert (offset["incrementing"], offset["timestamp"]) == (2, 1709208000500)


def test_two_tasks_wait_for_each_other(url: str, database: Database) -> None:
    other = connect(url, None, None)
    with ThreadPoolExecutor(1) as pool:
        with database.transaction():
            database.lock(["a"])

            def take() -> str:
                with other.transaction():
                    other.lock(["a"])
                    return "has it"

            waiting = pool.submit(take)
            assert not waiting.done()
        assert waiting.result(60) == "has it"
    other.close()


def test_what_goes_wrong_is_told_without_the_password(url: str) -> None:
    wrong = url.replace("root@", "root:secret@")
    with pytest.raises(RetriableConnectError, match="Access denied") as caught:
        connect(wrong, None, None)
    assert "secret" not in str(caught.value)
    database = connect(url, None, None)
    with pytest.raises(RetriableConnectError, match="nowhere"):
        database.query("SELECT * FROM nowhere")
    assert database.columns("nowhere") == []
    database.close()
    database.close()
