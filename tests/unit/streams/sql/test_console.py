"""Topics are asked in SQL, and streams run from one to another."""

import json
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from moldau.client.blocking.producer import Producer
from moldau.streams.run.clients import ApplicationOptions
from moldau.streams.sql.console import SqlConsole
from moldau.streams.sql.sampling import sampled
from moldau.streams.sql.shapes import TopicShape, shape_of
from moldau.streams.sql.statements import BadStatement, WatchQuery
from moldau.streams.sql.stream_queries import StreamTarget, written
from moldau.streams.sql.topic_tables import TopicTables
from moldau.testing.broker import EmbeddedBroker, running_broker
from unit.client.topics import create_topic

pytestmark = [pytest.mark.needs("java"), pytest.mark.timeout(600)]
DEADLINE_S = 300
ORDERS = [("ann", 2.0), ("bob", 5.5), ("ann", 7.0)]


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    with running_broker() as running:
        create_topic(running, "orders")
        produce(running, *ORDERS)
        yield running


@pytest.fixture
def console(broker: EmbeddedBroker, spark: SparkSession, tmp_path: Path) -> Iterator[SqlConsole]:
    options = ApplicationOptions(broker.bootstrap_servers, {})

    def shape(topic: str) -> TopicShape:
        records = sampled(options.view, topic)
        return shape_of([each.value for each in records], [each.key for each in records])

    session = spark.newSession()
    target = StreamTarget(options.sink, options.admin, str(tmp_path), {"availableNow": True})
    found = SqlConsole(session, TopicTables(options.source, shape), target)
    yield found
    found.streams.stop_all()


def produce(broker: EmbeddedBroker, *orders: tuple[str, float]) -> None:
    with Producer[bytes, bytes](bootstrap_servers=broker.bootstrap_servers) as producer:
        for number, (user, price) in enumerate(orders):
            value = json.dumps({"id": number, "user": user, "price": price})
            producer.send("orders", value.encode(), key=user.encode())


def rows(console: SqlConsole, text: str) -> list[Sequence[object]]:
    return list(console.run(text, 100).rows)


def test_a_topic_is_a_table(console: SqlConsole) -> None:
    assert rows(console, "SELECT user, sum(price) FROM orders GROUP BY user ORDER BY user") == [
        ("ann", 9.0),
        ("bob", 5.5),
    ]
    answer = console.run("SELECT id, _key, _offset FROM orders WHERE _offset >= 1", 1)
    assert (answer.rows, answer.is_cut) == ([(1, "bob", 1)], True)
    assert ("orders", 1) in rows(console, "SHOW TOPICS")
    with pytest.raises(BadStatement, match="there is no topic nowhere: SHOW TOPICS"):
        console.run("SELECT * FROM nowhere", 1)
    with pytest.raises(BadStatement, match=r"^A column.*`nope` cannot be resolved.* pos 7$"):
        console.run("SELECT nope FROM orders", 1)


def test_columns_may_be_declared(console: SqlConsole) -> None:
    assert rows(console, "SELECT count(*) FROM orders") == [(3,)]
    console.run("CREATE STREAM o (id string, price int) WITH (topic='orders')", 1)
    assert rows(console, "SELECT id, price FROM o WHERE _key = 'bob'") == [("1", None)]


def test_every_statement_sees_what_there_is(console: SqlConsole, broker: EmbeddedBroker) -> None:
    console.run("CREATE TEMPORARY VIEW known AS SELECT * FROM orders", 1)
    assert rows(console, "SELECT count(*) FROM known WHERE _offset < 2") == [(2,)]
    produce(broker, ("cid", 1.0))
    assert rows(console, "SELECT count(*) FROM orders") == [(4,)]
    assert rows(console, "SELECT count(*) FROM known") == [(4,)]


def test_a_stream_writes_what_a_query_gives(console: SqlConsole, broker: EmbeddedBroker) -> None:
    console.run("CREATE TEMPORARY VIEW large AS SELECT * FROM orders WHERE price > 3", 1)
    told = console.run(
        "CREATE STREAM totals WITH (key='user') AS "
        "SELECT user, sum(price) AS total FROM large GROUP BY user",
        1,
    )
    assert told.note == "totals runs, and writes to the topic totals"
    wait_for_end(console)
    assert console.streams.failures() == []
    assert [row[:2] for row in rows(console, "SHOW STREAMS")] == [("totals", "ended")]
    found = rows(console, "SELECT _key, user, total FROM totals ORDER BY total")
    assert found == [("bob", "bob", 5.5), ("ann", "ann", 7.0)]
    console.run("DROP STREAM totals", 1)
    assert rows(console, "SHOW STREAMS") == []


def wait_for_end(console: SqlConsole) -> None:
    pause = threading.Event()
    for _ in range(DEADLINE_S * 10):
        if console.streams.all_ended():
            return
        pause.wait(0.1)
    raise AssertionError("the stream did not end")


def test_rows_are_watched_as_they_come(console: SqlConsole) -> None:
    seen: list[Sequence[object]] = []
    query = WatchQuery("SELECT user, price FROM orders LIMIT 2")

    def show(names: Sequence[str], rows: list[tuple[object, ...]]) -> None:
        assert names == ["user", "price"]
        seen.extend(rows)

    console.watch(query, "earliest", show, threading.Event())
    assert seen == [("ann", 2.0), ("bob", 5.5)]
    with pytest.raises(BadStatement, match="reads no topic"):
        console.watch(WatchQuery("SELECT 1"), "latest", show, threading.Event())


def test_columns_become_records(spark: SparkSession) -> None:
    frame = spark.sql("SELECT 'a' AS _key, 1 AS n, CAST(null AS string) AS s, 0 AS _offset")
    assert [tuple(map(bytes, row)) for row in written(frame).collect()] == [
        (b'{"n":1,"s":null}', b"a")
    ]
    plain = written(spark.sql("SELECT 'text' AS value, 7L AS n7").drop("n7"))
    assert [bytes(row.value) for row in plain.collect()] == [b"text"]
    for text, words in (
        ("SELECT 1 AS a, 2 AS a", "the same name"),
        ("SELECT 1 AS _key", "select a value"),
    ):
        with pytest.raises(BadStatement, match=words):
            written(spark.sql(text))
    with pytest.raises(BadStatement, match="key b: the query has no such column"):
        written(spark.sql("SELECT 1 AS a"), "b")
