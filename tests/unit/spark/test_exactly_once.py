"""What the one call asks for; the queries themselves are tested in tests/conformance."""

from typing import cast

import pytest
from pyspark.sql import DataFrame
from pyspark.sql.types import LongType, StructField, StructType

import moldau.spark
from moldau.spark.exactly_once import write_stream


class Frame:
    """As much of a DataFrame as is asked for."""

    schema = StructType([StructField("value", LongType())])


FRAME = cast("DataFrame", Frame())
SERVERS = {"kafka.bootstrap.servers": "localhost:9092", "topic": "t"}


def test_it_is_what_the_package_exports() -> None:
    assert moldau.spark.write_stream is write_stream
    with pytest.raises(AttributeError, match="has no attribute 'read_stream'"):
        moldau.spark.read_stream  # type: ignore[attr-defined]  # noqa: B018


def test_a_checkpoint_is_needed() -> None:
    with pytest.raises(ValueError, match="checkpointLocation is missing"):
        write_stream(FRAME, SERVERS)


def test_columns_are_checked_before_the_query_starts() -> None:
    with pytest.raises(ValueError, match="'value' must be string or binary, not bigint"):
        write_stream(FRAME, {**SERVERS, "checkpointLocation": "/nowhere"})
