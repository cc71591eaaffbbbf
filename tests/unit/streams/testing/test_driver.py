"""A topology runs on piped records, in a session of the test's own."""

import pytest
from pyspark.sql import SparkSession

from moldau.streams import LONG, STRING, StreamsBuilder, json
from moldau.streams.testing.driver import OutputRecord, TestDriver

pytestmark = pytest.mark.needs("java")


def test_records_go_through_in_as_many_steps_as_the_test_wants(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    orders = builder.stream("orders", key=LONG, value=json("item string, price double"))
    orders.filter("value.price > 1").map_values("value.item").to("items")
    orders.filter("value.price <= 1").to("cheap")
    with TestDriver(builder.build(), spark=spark) as driver:
        driver.pipe("orders", key=1, value={"item": "boat", "price": 9.5}, timestamp_ms=5)
        driver.pipe("orders", key=2, value={"item": "pin", "price": 0.5}, timestamp_ms=6)
        driver.run()
        assert driver.read("items", key=LONG) == [OutputRecord("items", 1, "boat", 5)]
        assert driver.last_values("cheap", key=LONG, value=json("item string")) == {
            2: {"item": "pin", "price": 0.5}
        }
        driver.pipe("orders", key=1, value={"item": "raft", "price": 3.5}, timestamp_ms=7)
        driver.run()
        assert driver.last_values("items", key=LONG) == {1: "raft"}
        assert driver.topics() == ["cheap", "items"]
        assert driver.raw("items")[0].key == bytes(7) + b"\1"
        with pytest.raises(ValueError, match="does not read lakes, but orders"):
            driver.pipe("lakes", value="x", timestamp_ms=0)


def test_a_null_value_deletes_a_key(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    builder.table("rivers").to_stream().to("output")
    with TestDriver(builder.build(), spark=spark) as driver:
        driver.pipe("rivers", key="a", value="Vltava", timestamp_ms=0)
        driver.pipe("rivers", key="b", value="Elbe", timestamp_ms=0)
        driver.run()
        driver.pipe("rivers", key="a", value=None, timestamp_ms=1)
        driver.run()
        assert driver.last_values("output", value=STRING) == {"b": "Elbe"}


def test_what_goes_through_a_topic_comes_back(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    lines = builder.stream("lines").through("between", key=STRING, value=STRING)
    words = lines.flat_map_values("split(value, ' ')").select_key("value")
    words = words.through("words", key=STRING, value=STRING)
    words.group_by_key().count().to_stream().to("counts")
    with TestDriver(builder.build(), spark=spark) as driver:
        headers = (("from", b"x"),)
        driver.pipe("lines", key="k", value="to the sea", timestamp_ms=5, headers=headers)
        driver.run()
        line = OutputRecord("between", "k", "to the sea", 5, headers)
        assert driver.read("between") == [line]
        assert {each.headers for each in driver.read("words")} == {headers}
        assert driver.last_values("counts", value=LONG) == {"to": 1, "the": 1, "sea": 1}
        driver.pipe("words", key="the", value="the", timestamp_ms=6)
        driver.pipe("lines", value="the end", timestamp_ms=6)
        driver.run()
        counts = {"to": 1, "the": 3, "sea": 1, "end": 1}
        assert driver.last_values("counts", value=LONG) == counts
