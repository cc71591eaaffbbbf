"""Steps that look at one record at a time, against results by hand."""

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from moldau.streams import StreamsBuilder, vectorized
from unit.streams.given import Given, texts, written

pytestmark = pytest.mark.needs("java")
LINES = [
    Given("lines", "k", "to the sea", 1000),
    Given("lines", "l", "to", 2000),
    Given("lines", "m", None, 3000),
]


def test_records_are_filtered_and_mapped(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    lines = builder.stream("lines")
    lines.filter(lambda value: f.length(value) > 2).to("long")
    lines.filter_not("value = 'to'").to("others")
    lines.map(lambda key, value: (value, f.concat(key, f.lit("!")))).to("turned")
    lines.map("struct(upper(key) as key, value as value)").to("upper-keys")
    lines.map_values(lambda key, value: f.concat(key, f.lit("="), value)).to("joined")
    lines.select_key("length(value)").map("struct(cast(key as string) as key, 'n' as value)").to(
        "lengths"
    )
    found = {topic: texts(each) for topic, each in written(spark, builder.build(), LINES).items()}
    assert found["long"] == [("k", "to the sea")]
    assert found["others"] == [("k", "to the sea"), ("m", None)]
    assert found["turned"] == [("to the sea", "k!"), ("to", "l!"), (None, "m!")]
    assert found["upper-keys"] == [("K", "to the sea"), ("L", "to"), ("M", None)]
    assert found["joined"] == [("k", "k=to the sea"), ("l", "l=to"), ("m", None)]
    assert found["lengths"] == [("10", "n"), ("2", "n"), (None, "n")]


def test_one_record_becomes_several(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    lines = builder.stream("lines")
    lines.flat_map_values("split(value, ' ')").to("words")
    pairs = "array(struct(key as key, 'a' as value), struct(value as key, 'b' as value))"
    lines.filter("key = 'l'").flat_map(pairs).to("pairs")
    found = written(spark, builder.build(), LINES)
    assert texts(found["words"]) == [("k", "to"), ("k", "the"), ("k", "sea"), ("l", "to")]
    assert [each.millis for each in found["words"]] == [1000, 1000, 1000, 2000]
    assert texts(found["pairs"]) == [("l", "a"), ("to", "b")]


def test_a_record_goes_to_the_first_branch_that_takes_it(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    branches = builder.stream("lines").split()
    branches.branch("length(value) > 2").to("long")
    branches.branch("value like 'to%'").to("with-to")
    branches.default_branch().to("rest")
    found = written(spark, builder.build(), LINES)
    assert {topic: texts(each) for topic, each in found.items()} == {
        "long": [("k", "to the sea")],
        "with-to": [("l", "to")],
        "rest": [("m", None)],
    }


def test_python_functions_get_whole_columns(spark: SparkSession) -> None:
    builder = StreamsBuilder()

    @vectorized("string", arguments=2)
    def reversed_text(key, value):  # type: ignore[no-untyped-def]
        return key + value.str[::-1]

    def show(batch: pa.RecordBatch) -> None:
        assert batch.schema.names[:2] == ["key", "value"]

    builder.stream("lines").peek(show).map_values(reversed_text).repartition(1).to("out")
    found = written(spark, builder.build(), LINES)
    assert texts(found["out"]) == [("k", "kaes eht ot"), ("l", "lot"), ("m", None)]


def test_streams_are_merged_if_their_types_are_the_same(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    one, other = builder.stream("lines"), builder.stream("more")
    one.merge(other).to("out")
    more = Given("more", "n", "x")
    found = written(spark, builder.build(), [LINES[1], more])
    assert texts(found["out"]) == [("l", "to"), ("n", "x")]
    one.merge(other.map_values("1")).to("never")
    with pytest.raises(TypeError, match="streams of different types cannot be merged"):
        written(spark, builder.build(), LINES)


def test_a_table_deletes_what_it_does_not_keep(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    table = builder.table("lines")
    table.filter("value = 'to'").to_stream().to("kept")
    table.filter_not("value = 'to'").to_stream().to("others")
    table.map_values("coalesce(value, 'never')").to_stream().to("mapped")
    builder.stream("lines").to_table().to_stream().to("same")
    found = {topic: texts(each) for topic, each in written(spark, builder.build(), LINES).items()}
    assert found["kept"] == [("k", None), ("l", "to"), ("m", None)]
    assert found["others"] == [("k", "to the sea"), ("l", None), ("m", None)]
    assert found["mapped"] == found["same"] == [("k", "to the sea"), ("l", "to"), ("m", None)]
