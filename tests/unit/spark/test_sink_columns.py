"""The columns of a frame are checked before anything is written."""

import pytest
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from moldau.spark.sink_columns import SinkColumns

HEADERS = ArrayType(
    StructType([StructField("key", StringType()), StructField("value", BinaryType())])
)


def schema(**types: DataType) -> StructType:
    return StructType([StructField(name, kind) for name, kind in types.items()])


def test_known_columns_are_taken_and_others_left_out() -> None:
    everything = schema(
        other=LongType(),
        headers=HEADERS,
        timestamp=TimestampType(),
        partition=IntegerType(),
        topic=StringType(),
        value=StringType(),
        key=BinaryType(),
    )
    columns = SinkColumns.of(everything, None)
    assert columns.names == ("key", "value", "topic", "partition", "headers", "timestamp")
    assert columns.topic is None
    assert not columns.are_free


def test_the_option_goes_before_the_column() -> None:
    columns = SinkColumns.of(schema(topic=LongType(), value=BinaryType()), "t")
    assert columns == SinkColumns(("value",), "t")
    assert columns.are_free


@pytest.mark.parametrize("name", ["key", "partition"])
def test_rows_that_say_their_partition_are_not_free(name: str) -> None:
    kind = BinaryType() if name == "key" else IntegerType()
    assert not SinkColumns.of(schema(**{name: kind, "value": BinaryType()}), "t").are_free


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ({"key": BinaryType()}, "the column 'value' is missing; there are key"),
        ({"value": LongType()}, "'value' must be string or binary, not bigint"),
        ({"value": BinaryType(), "key": LongType()}, "'key' must be string or binary"),
        ({"value": BinaryType(), "partition": LongType()}, "'partition' must be int"),
        ({"value": BinaryType(), "timestamp": LongType()}, "'timestamp' must be timestamp"),
        ({"value": BinaryType(), "headers": StringType()}, "'headers' must be array<struct"),
        (
            {"value": BinaryType(), "headers": ArrayType(StructType([]))},
            "'headers' must be array<struct",
        ),
    ],
)
def test_a_wrong_column_is_named(types: dict[str, DataType], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SinkColumns.of(schema(**types), "t")


def test_there_must_be_a_topic() -> None:
    with pytest.raises(ValueError, match="by the option 'topic', or by a column"):
        SinkColumns.of(schema(value=BinaryType()), None)
    with pytest.raises(ValueError, match="'topic' must be string, not int"):
        SinkColumns.of(schema(value=BinaryType(), topic=IntegerType()), None)
