"""Topics to records, and records to topics."""

import pytest
from pyspark.errors import SparkRuntimeException
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from moldau.streams import LONG, SessionWindows, StreamsBuilder, json
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
    said = "undecodable record in orders: value: 3 bytes, long has 8 (a topic for such records can"
    assert said in str(caught.value)


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
        ("moldau.error", b"value: not JSON of this schema: no order"),
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


def test_keys_of_windows_are_written_as_kafka_does(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    sessions = SessionWindows.of_inactivity_gap_with_no_grace(1000)
    counts = builder.stream("clicks").group_by_key().windowed_by(sessions).count()
    counts.suppress_until_window_closes().to_stream().to("out")
    found = written(
        spark, builder.build(), [Given("clicks", "k", "x", 1), Given("clicks", "k", "x", 2)]
    )
    # The end of a session goes before its beginning.
    assert found["out"] == [
        Written(b"k" + bytes(7) + b"\2" + bytes(7) + b"\1", bytes(7) + b"\2", 2)
    ]
    assert texts([Written(None, None, 0)]) == [(None, None)]
