"""Topics to records, and records to topics."""

import pytest
from pyspark.errors import PySparkException, SparkRuntimeException
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as f

from moldau.streams import LONG, SessionWindows, StreamsBuilder, avro, json
from moldau.streams.compile.compilation import Compilation
from moldau.streams.compile.operators import OPERATORS
from unit.streams.given import Given, GivenInputs, Written, texts, written

pytestmark = pytest.mark.needs("java")
ORDER = json("item string, count bigint")


def test_undecodable_records_stop_the_query_and_say_what_to_do(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    builder.stream("orders", value=LONG).to("out")
    with pytest.raises(SparkRuntimeException) as caught:
        written(spark, builder.build(), [Given("orders", "k", b"abc")])
    said = "undecodable record in orders-0 at offset 0: value: 3 bytes, long has 8; on_error= and"
    assert said in str(caught.value)


def test_undecodable_records_are_left_out_where_that_is_said(spark: SparkSession) -> None:
    builder = StreamsBuilder(on_error="continue")
    builder.stream("orders", value=LONG).to("out")
    builder.table("users", value=LONG).to_stream().to("named")
    records = [Given("orders", "k", b"abc"), Given("orders", "k", bytes(8), 5)]
    records += [Given("users", "u", b""), Given("users", "u", bytes(7) + b"1")]
    found = written(spark, builder.build(), records)
    assert found == {
        "out": [Written(b"k", bytes(8), 5)],
        "named": [Written(b"u", bytes(7) + b"1", 0)],
    }


def test_what_cannot_be_written_goes_by_the_policy(spark: SparkSession) -> None:
    schema = '{"type": "record", "name": "N", "fields": [{"name": "n", "type": "int"}]}'
    small, large = Given("orders", "k", "7", 3), Given("orders", "k", "5" * 900, 4)

    def outputs(builder: StreamsBuilder) -> list[Row]:
        builder.stream("orders").to("out")
        builder.stream("orders").map_values("named_struct('n', value)").to(
            "numbers", value=avro(schema)
        )
        inputs = GivenInputs(spark, [small, large], record_bytes_max=1000)
        queries = builder.build().compile(inputs, "app")
        return [row for query in queries for row in query.outputs(query.frame).collect()]

    with pytest.raises(
        PySparkException, match="orders-0 at offset 1: 1001 bytes are more than max"
    ):
        outputs(StreamsBuilder())
    kept = outputs(StreamsBuilder(on_error="continue"))
    assert [(row.topic, row.value) for row in kept] == [("out", b"7")]
    letters = outputs(StreamsBuilder(dead_letters="bad"))
    assert [row.topic for row in letters] == ["out", "bad", "bad", "bad"]
    headers = {each.key: bytes(each.value).decode() for each in letters[1].headers}
    assert headers["__connect.errors.stage"] == "KAFKA_PRODUCE"
    assert headers["__connect.errors.offset"] == "1"
    assert headers["__connect.errors.exception.message"].startswith("1001 bytes are more than")


def test_dead_letters_are_what_came_with_the_reason_in_a_header(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    builder.stream("orders", value=ORDER, dead_letters="unreadable").to("out")
    records = [
        Given("orders", "a", '{"item": "boat", "count": 3}', 7),
        Given("orders", "b", "no order", 8, [("from", b"x")]),
    ]
    (query,) = builder.build().compile(GivenInputs(spark, records), "app")
    assert query.fan_out is not None
    bad, good = query.outputs(query.frame).orderBy("timestamp", ascending=False).collect()
    assert (good.topic, bytes(good.value)) == ("out", b'{"item":"boat","count":3}')
    assert (bad.topic, bytes(bad.key), bytes(bad.value)) == ("unreadable", b"b", b"no order")
    assert [(each.key, bytes(each.value)) for each in bad.headers] == [
        ("from", b"x"),
        ("__connect.errors.topic", b"orders"),
        ("__connect.errors.partition", b"0"),
        ("__connect.errors.offset", b"1"),
        ("__connect.errors.connector.name", b"app"),
        ("__connect.errors.stage", b"VALUE_CONVERTER"),
        ("__connect.errors.class.name", b"KSTREAM-DEADLETTERS-0000000001"),
        ("__connect.errors.exception.class.name", b"UndecodableRecord"),
        ("__connect.errors.exception.message", b"value: not JSON of this schema: no order"),
    ]


def test_a_function_may_choose_the_topic(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    builder.stream("orders").to(lambda key, value: f.concat(f.lit("of-"), key))
    found = written(spark, builder.build(), [Given("orders", "a", "x"), Given("orders", "b", "y")])
    assert found == {"of-a": [Written(b"a", b"x", 0)], "of-b": [Written(b"b", b"y", 0)]}


def test_a_global_table_has_the_latest_value_of_each_key(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    node = builder.global_table("users").node
    records = [Given("users", "a", "old"), Given("users", "b", "gone"), Given("users", "a", "new")]
    records += [Given("users", "b", None), Given("users", None, "no key")]
    inputs = GivenInputs(spark, records)
    rows = Compilation(inputs, "app", "update", OPERATORS).frame(node).collect()
    assert [(row.key, row.value) for row in rows] == [("a", "new")]


def test_of_a_key_in_several_partitions_the_newest_row_holds(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    node = builder.global_table("users").node
    records = [
        Given("users", "a", "newest", 9, partition=1),
        Given("users", "a", "first", 1),
        Given("users", "a", "last", 3),
    ]
    inputs = GivenInputs(spark, records)
    rows = Compilation(inputs, "app", "update", OPERATORS).frame(node).collect()
    assert [(row.key, row.value) for row in rows] == [("a", "newest")]


def test_keys_of_windows_are_written_as_kafka_does(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    sessions = SessionWindows.of_inactivity_gap_with_no_grace(1000)
    grouped = builder.stream("clicks").group_by_key().windowed_by(sessions)
    counts = grouped.summarize(n="count(*)")
    counts.suppress_until_window_closes().to_stream().to("out")
    found = written(
        spark, builder.build(), [Given("clicks", "k", "x", 1), Given("clicks", "k", "x", 2)]
    )
    # The end of a session goes before its beginning.
    assert found["out"] == [Written(b"k" + bytes(7) + b"\2" + bytes(7) + b"\1", b'{"n":2}', 2)]
    assert texts([Written(None, None, 0)]) == [(None, None)]
