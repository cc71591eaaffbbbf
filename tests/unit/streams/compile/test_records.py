"""Records keep their columns; results know their place."""

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from moldau.streams.compile.records import (
    COLUMNS,
    HEADERS_TYPE,
    PLACE_TYPE,
    no_headers,
    place_of_result,
    place_of_source,
    place_within,
    type_of,
    with_columns,
)

pytestmark = pytest.mark.needs("java")


def test_a_record_has_its_five_columns_whatever_is_replaced(spark: SparkSession) -> None:
    raw = spark.sql(
        "select 1 as key, 2 as value, 't' as topic, 3 as partition, 4L as offset, "
        f"timestamp_millis(5) as timestamp, cast(null as {HEADERS_TYPE}) as headers"
    )
    frame = raw.withColumn("place", place_of_source())
    made = with_columns(frame, value=f.lit("x"))
    assert made.columns == list(COLUMNS)
    assert (type_of(made, "value"), type_of(made, "place")) == ("string", PLACE_TYPE)
    inner = made.withColumn("place", place_within(f.lit(2))).withColumn("headers", no_headers())
    (row,) = inner.withColumn("result", place_of_result("counts")).collect()
    assert tuple(row.place) == ("t", 3, 4, [2])
    assert tuple(row.result) == ("counts", 0, 5, [])
    assert row.headers is None
