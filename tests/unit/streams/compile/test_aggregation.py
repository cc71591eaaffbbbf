"""Aggregations inside Spark, against results by hand."""

import pytest
from pyspark.sql import SparkSession

from moldau.streams import LONG, StreamsBuilder, TimeWindows
from unit.streams.given import Given, Written, written

pytestmark = pytest.mark.needs("java")


def long(number: int) -> bytes:
    return number.to_bytes(8, "big")


SALES = [
    Given("sales", "a", long(3), 1000),
    Given("sales", "b", long(10), 1500),
    Given("sales", "a", long(1), 3200),
    Given("sales", None, long(99), 4000),
    Given("sales", "a", None, 5000),
]


def test_built_in_aggregations_pass_over_null_keys_and_values(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    groups = builder.stream("sales", value=LONG).group_by_key()
    groups.count().to_stream().to("count")
    groups.sum().to_stream().to("sum")
    groups.min("value + 1").to_stream().to("min")
    groups.max(lambda value: -value).to_stream().to("max")
    groups.average().to_stream().to("average")
    groups.summarize(n="count(*)", most="max(value)").to_stream().to("both")
    found = {topic: sorted(each) for topic, each in written(spark, builder.build(), SALES).items()}
    assert found["count"] == [Written(b"a", long(2), 3200), Written(b"b", long(1), 1500)]
    assert found["sum"] == [Written(b"a", long(4), 3200), Written(b"b", long(10), 1500)]
    assert [each.value for each in found["min"]] == [long(2), long(11)]
    assert [each.value for each in found["max"]] == [b"\xff" * 8, b"\xff" * 7 + b"\xf6"]
    assert [each.value for each in found["average"]] == [b"2.0", b"10.0"]
    assert found["both"][0].value == b'{"n":2,"most":3}'


def test_in_windows_records_count_without_a_value_too(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    groups = builder.stream("sales", value=LONG).group_by_key()
    tumbling = groups.windowed_by(TimeWindows.of_size_with_no_grace(4000))
    tumbling.count().to_stream().to("count")
    tumbling.sum().to_stream().to("sum")
    found = {topic: sorted(each) for topic, each in written(spark, builder.build(), SALES).items()}
    first, second = b"a" + long(0), b"a" + long(4000)
    assert Written(first, long(2), 3200) in found["count"]
    assert Written(second, long(1), 5000) in found["count"]
    assert [each.key for each in found["sum"] if (each.key or b"").startswith(b"a")] == [first]


def test_windows_begin_at_multiples_of_their_advance(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    groups = builder.stream("sales", value=LONG).group_by_key()
    hopping = TimeWindows.of_size_with_no_grace(2000).advance_by(1000)
    groups.windowed_by(hopping).sum().to_stream().to("hopping")
    found = written(spark, builder.build(), SALES)
    assert sorted(found["hopping"]) == [
        Written(b"a" + long(0), long(3), 1000),
        Written(b"a" + long(1000), long(3), 1000),
        Written(b"a" + long(2000), long(1), 3200),
        Written(b"a" + long(3000), long(1), 3200),
        Written(b"b" + long(0), long(10), 1500),
        Written(b"b" + long(1000), long(10), 1500),
    ]
