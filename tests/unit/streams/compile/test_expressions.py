"""Expressions become columns, or say why they cannot."""

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from moldau.streams.compile.expressions import column, exploded, pair
from moldau.streams.compile.records import PLACE_TYPE

pytestmark = pytest.mark.needs("java")


def test_text_functions_and_pairs_become_columns(spark: SparkSession) -> None:
    frame = spark.sql("select 2 as key, 3 as value")
    made = frame.select(
        column("key * value").alias("a"),
        column(lambda value: value + 1).alias("b"),
        column(lambda key, value: key - value).alias("c"),
        pair(lambda key, value: (value, key)).alias("d"),
        pair("struct(1 as key, 2 as value)").alias("e"),
    )
    (row,) = made.collect()
    assert (row.a, row.b, row.c) == (6, 4, -1)
    assert (row.d.asDict(), row.e.asDict()) == ({"key": 3, "value": 2}, {"key": 1, "value": 2})


def test_what_is_no_column_is_refused(spark: SparkSession) -> None:
    with pytest.raises(TypeError, match="must return one column, returned 3"):
        column(lambda value: 3)  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError, match="must return a key and a value"):
        pair(lambda value: (value,))  # type: ignore[arg-type, return-value]


def test_elements_keep_their_order_in_the_place(spark: SparkSession) -> None:
    place = f"cast(struct('t', 0, 7, array(4)) as {PLACE_TYPE}) as place"
    rows = exploded(spark.sql(f"select {place}"), f.array(f.lit("x"), f.lit("y"))).collect()
    assert [(row.made, row.place.offset, row.place.steps) for row in rows] == [
        ("x", 7, [4, 0]),
        ("y", 7, [4, 1]),
    ]
