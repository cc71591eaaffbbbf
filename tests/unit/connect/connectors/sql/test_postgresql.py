"""Tables of a real PostgreSQL as source and sink."""

import datetime as dt
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest

from moldau.connect.connectors.sql.database import Database
from moldau.connect.connectors.sql.opening import connect
from moldau.connect.connectors.sql.sink import JdbcSink
from moldau.connect.connectors.sql.source import JdbcSource
from moldau.connect.data.arrow import table_of_records
from moldau.connect.data.record import NULL, ConnectRecord, Datum
from moldau.connect.data.schema import (
    BYTES,
    DATE_SCHEMA,
    INT64,
    STRING,
    TIMESTAMP_SCHEMA,
    array,
    decimal,
    optional,
    struct,
)
from moldau.connect.errors import DataError, RetriableConnectError
from moldau.connect.testing import read
from postgres import running_postgres
from unit.waiting import until

pytestmark = pytest.mark.needs("postgres")
MOMENT = dt.datetime(2024, 2, 29, 12, 34, 56, 123456, tzinfo=dt.UTC)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running_postgres() as found:
        yield found


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    found = connect(url, None, None)
    yield found
    found.close()


def config(url: str, **more: str) -> dict[str, str]:
    named = {name.replace("_", "."): text for name, text in more.items()}
    return {"connection.url": f"jdbc:{url}", "topic.prefix": "db-", **named}


def test_rows_are_read_with_their_types_and_none_is_lost_or_doubled(
    url: str, database: Database
) -> None:
    database.query(
        "CREATE TABLE orders (id serial PRIMARY KEY, amount numeric(10,2), at timestamptz, "
        "day date, paid boolean, note text, raw bytea)"
    )
    insert = "INSERT INTO orders (amount, at, day, paid, note, raw) VALUES (?, ?, ?, ?, ?, ?)"
    row = (Decimal("1.50"), MOMENT, MOMENT.date(), True, "ü 100% ?", b"\0")
    database.run(insert, [row] * 5)
    settings = config(
        url,
        mode="timestamp+incrementing",
        table_whitelist="orders",
        timestamp_column_name="at",
        batch_max_rows="2",
    )
    found = read(JdbcSource, settings)
    assert [each["id"] for each in found.values()] == [1, 2, 3, 4, 5]  # type: ignore[index]
    assert found.values()[0] == {
        "id": 1,
        "amount": Decimal("1.500000"),
        "at": MOMENT.replace(microsecond=123000),
        "day": MOMENT.date(),
        "paid": True,
        "note": "ü 100% ?",
        "raw": b"\0",
    }
    assert found.offsets[0][1]["timestamp_nanos"] == 123456000
    assert read(JdbcSource, settings, found.offsets).values() == []


def test_upserts_deletes_and_new_columns_make_the_tables_image(
    url: str, database: Database
) -> None:
    key = struct([("id", INT64)])
    row = struct(
        [("id", INT64), ("price", decimal(2)), ("at", TIMESTAMP_SCHEMA), ("day", DATE_SCHEMA)]
    )
    wider = row.but(fields=(*row.fields, *struct([("name", optional(STRING))]).fields))
    moment = MOMENT.replace(microsecond=123000)
    value = {"id": 1, "price": Decimal("2.50"), "at": moment, "day": MOMENT.date()}
    settings = config(
        url,
        name="image",
        insert_mode="upsert",
        pk_mode="record_key",
        delete_enabled="true",
        auto_create="true",
        auto_evolve="true",
    )

    def record(offset: int, number: int, datum: Datum) -> ConnectRecord:
        return ConnectRecord("image", Datum({"id": number}, key), datum, (), 0, 0, offset)

    first = [record(0, 1, Datum(value, row)), record(1, 2, Datum({**value, "id": 2}, row))]
    second = [record(2, 1, Datum({**value, "name": "x"}, wider)), record(3, 2, NULL)]
    for batch in (first, second, second):  # the last one comes again
        sink = JdbcSink(settings)
        sink.write(table_of_records(batch), 0)
        sink.close()
    assert database.query("SELECT * FROM image") == [
        (1, Decimal("2.50"), moment, MOMENT.date(), "x")
    ]
    assert database.query("SELECT next_offset FROM moldau_connect_offsets") == [(4,)]


ITEM = struct(
    [
        ("id", INT64),
        ("note", optional(STRING)),
        ("raw", optional(BYTES)),
        ("tags", optional(array(STRING))),
    ]
)


def write_items(place: str, first: int, *items: dict[str, object] | int, **settings: str) -> None:
    """Items, and numbers of items that go; a place is an address and the name of a table."""
    url, _, table = place.rpartition(" ")
    records = [
        ConnectRecord(
            table,
            Datum(each if isinstance(each, int) else each["id"], INT64),
            NULL if isinstance(each, int) else Datum(each, ITEM),
            (),
            0,
            0,
            offset,
        )
        for offset, each in enumerate(items, first)
    ]
    sink = JdbcSink(config(url, name=table, pk_mode="record_key", pk_fields="id", **settings))
    try:
        sink.write(table_of_records(records), 0)
    finally:
        sink.close()


def item(number: int, note: str | None, **more: object) -> dict[str, object]:
    return {"id": number, "note": note, "raw": None, "tags": None, **more}


def test_a_query_has_the_types_of_the_server(url: str, database: Database) -> None:
    database.query("CREATE TABLE asked (id bigint, tags jsonb, note text, at timestamptz)")
    database.query(
        "INSERT INTO asked VALUES (1, '{\"a\": 1}', 'a%', '2024-01-01Z'), "
        "(2, '{\"b\": 1}', 'why?', '2024-01-02Z')"
    )
    query = (
        "SELECT id, count(*) AS n, max(at) AS at, note FROM asked "
        "WHERE note LIKE '%?' OR tags ?? 'a' GROUP BY id, note -- asked"
    )
    settings = config(
        url,
        mode="timestamp+incrementing",
        query=query,
        timestamp_column_name="at",
        incrementing_column_name="id",
    )
    found = read(JdbcSource, settings)
    assert found.values() == [
        {"id": 1, "n": 1, "at": dt.datetime(2024, 1, 1, tzinfo=dt.UTC), "note": "a%"},
        {"id": 2, "n": 1, "at": dt.datetime(2024, 1, 2, tzinfo=dt.UTC), "note": "why?"},
    ]
    with pytest.raises(RetriableConnectError, match="asket"):
        read(JdbcSource, {**settings, "query": "SELECT * FROM asket"})


def test_what_is_staged_takes_the_types_of_the_table(url: str, database: Database) -> None:
    database.query("CREATE TABLE items (id integer PRIMARY KEY, note text, raw bytea, tags jsonb)")
    write_items(f"{url} items", 0, item(1, "", raw=b"\0\xff", tags=["a,b", 'c"']), item(2, None))
    assert database.query("SELECT * FROM items ORDER BY id") == [
        (1, "", b"\0\xff", ["a,b", 'c"']),
        (2, None, None, None),
    ]
    write_items(f"{url} items", 2, item(2, "x\n\\."), item(3, "new"), insert_mode="update")
    assert database.query("SELECT id, note FROM items ORDER BY id") == [(1, ""), (2, "x\n\\.")]
    deleting = {"insert_mode": "upsert", "delete_enabled": "true"}
    write_items(f"{url} items", 4, 1, item(3, "a"), item(3, "b"), 2, item(2, "back"), **deleting)
    assert database.query("SELECT id, note FROM items ORDER BY id") == [(2, "back"), (3, "b")]
    assert database.query("SELECT relname FROM pg_class WHERE relname LIKE 'moldau_stage%'") == []


def test_a_batch_with_a_record_that_does_not_fit_leaves_nothing(
    url: str, database: Database
) -> None:
    database.query(
        "CREATE TABLE refused (id integer PRIMARY KEY, note text, raw bytea, tags jsonb)"
    )
    for number, note in ((2**40, "x"), (5, "nul\0")):
        with pytest.raises(DataError):
            write_items(
                f"{url} refused", 9, item(4, "fits"), item(number, note), insert_mode="upsert"
            )
    with pytest.raises(DataError, match="duplicate key"):
        write_items(f"{url} refused", 9, item(4, "a"), item(4, "b"))
    assert database.query("SELECT * FROM refused") == []
    write_items(f"{url} refused", 9, item(4, "fits"))
    assert database.query("SELECT id FROM refused") == [(4,)]


def test_a_record_is_to_blame_or_the_server(url: str, database: Database) -> None:
    with pytest.raises(DataError, match="division by zero"):
        database.query("SELECT 1 / 0")
    with pytest.raises(RetriableConnectError, match="does not exist") as refused:
        connect(url.replace("/postgres?", "/none?"), "postgres", "secret")
    assert "secret" not in str(refused.value)
    assert "orders" in database.tables()


async def test_what_a_task_commits_that_was_taken_for_dead_is_not_written_again(
    url: str, database: Database
) -> None:
    database.query("CREATE TABLE late (id bigint)")
    value = Datum({"id": 1}, struct([("id", INT64)]))
    records = table_of_records([ConnectRecord("late", value=value, partition=0, offset=0)])
    settings = {**config(url), "name": "s"}
    first = JdbcSink(settings)
    first.write(records, 0)
    more = table_of_records([ConnectRecord("late", value=value, partition=0, offset=1)])
    other = connect(url, None, None)
    second = JdbcSink(settings)
    with ThreadPoolExecutor(1) as threads:
        with other.transaction():
            other.lock(["s/late-0"])
            writing = threads.submit(second.write, more, 0)
            waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            await until(lambda: writing.done() or database.query(waiting)[0][0] == 1)
            other.query("INSERT INTO late VALUES (1)")
            other.query("UPDATE moldau_connect_offsets SET next_offset = 2 WHERE connector = 's'")
        writing.result()
    assert database.query("SELECT count(*) FROM late") == [(2,)]
    for each in (first, second, other):
        each.close()
