"""Tables with a store are found, and read as they are written."""

import pytest
from pyspark.sql import SparkSession

from moldau.client.blocking.producer import Producer
from moldau.streams import LONG, STRING, SessionWindows, StreamsBuilder, TimeWindows
from moldau.streams.queries.serving import TableServer
from moldau.streams.queries.view import TableView
from moldau.streams.run.tables import StoredTable, stored_tables
from moldau.streams.serdes import WindowedSerde
from moldau.streams.testing.driver import TestDriver
from moldau.testing.broker import running_broker
from unit.streams.given import GivenInputs

pytestmark = pytest.mark.needs("java")
SESSIONS = SessionWindows.of_inactivity_gap_with_no_grace(5)


def tables(spark: SparkSession, builder: StreamsBuilder) -> set[StoredTable]:
    topology = builder.build()
    queries = topology.compile(GivenInputs(spark, []), "app")
    return set(stored_tables(topology, queries, "app"))


def test_keys_are_read_as_they_are_written(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    groups = builder.stream("clicks").group_by_key()
    groups.count(store="counts").to_stream().to("output")
    groups.windowed_by(TimeWindows.of_size_with_no_grace(5)).count(store="windows")
    groups.windowed_by(SESSIONS).count(store="visits")
    assert tables(spark, builder) == {
        StoredTable("counts", "app-counts-changelog", STRING, LONG),
        StoredTable("windows", "app-windows-changelog", WindowedSerde(STRING), LONG),
        StoredTable("visits", "app-visits-changelog", WindowedSerde(STRING, is_session=True), LONG),
    }


def test_sessions_are_asked_over_http(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    builder.stream("clicks").group_by_key().windowed_by(SESSIONS).count(store="visits")
    (table,) = tables(spark, builder)
    with TestDriver(builder.build(), application="app", spark=spark) as driver:
        driver.pipe("clicks", key="anna", value="x", timestamp_ms=1)
        driver.pipe("clicks", key="anna", value="y", timestamp_ms=3)
        driver.run()
        written = driver.raw(table.topic)
    with running_broker() as broker:
        servers = broker.bootstrap_servers
        with Producer[bytes, bytes](bootstrap_servers=servers) as producer:
            for each in written:
                assert isinstance(each.key, bytes)
                assert isinstance(each.value, bytes)
                producer.send(table.topic, each.value, key=each.key)
        with (
            TableView(servers, table.topic, key=table.key, value=table.value) as view,
            TableServer({table.name: view}, port=0) as server,
        ):
            view.wait_until_current()
            visit = {"key": {"key": "anna", "start": 1, "end": 3}, "value": 2}
            assert server.answer("GET", "/tables/visits") == ("200 OK", [visit])
            found = server.answer("GET", "/tables/visits?windows_of=anna")
            assert found == ("200 OK", [visit])
            asked = {"key": ["anna", 1, 3], "value": 2}
            assert server.answer("GET", '/tables/visits/["anna",1,3]') == ("200 OK", asked)


def test_any_table_may_have_a_store(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    rivers = builder.table("rivers", value=LONG, store="rivers")
    long = rivers.filter("value > 400", store="long")
    short = rivers.filter_not("value > 400", store="short")
    rivers.map_values("cast(value as string)", store="texts")
    both = "coalesce(left, 0) + coalesce(right, 0)"
    long.join(short, both, store="inner")
    long.left_join(short, both, store="left")
    long.outer_join(short, both, store="outer")
    rivers.join(long, both, foreign_key="key", store="foreign")
    builder.stream("names").to_table(store="names")
    seas = builder.global_table("seas", store="seas")
    builder.stream("names").join(seas, "right", lookup="value").to("out")
    numbers = ("long", "short", "inner", "left", "outer", "foreign")
    assert tables(spark, builder) == {
        StoredTable("rivers", "rivers", STRING, LONG),
        StoredTable("seas", "seas", STRING, STRING),
        StoredTable("texts", "app-texts-changelog", STRING, STRING),
        StoredTable("names", "app-names-changelog", STRING, STRING),
        *(StoredTable(name, f"app-{name}-changelog", STRING, LONG) for name in numbers),
    }
    told = builder.build().describe()
    assert all(f"(stores: [{name}])" in told for name in (*numbers, "texts", "names"))
