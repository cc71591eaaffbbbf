"""Filters narrow what is fetched, and never lose a row that Spark would have kept."""

from datetime import UTC, datetime

import pytest
from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
)

from moldau.model import TopicPartition
from moldau.spark.filters import Narrowing
from moldau.spark.planning import Range

A, B, C = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 1)
ALL = [Range(A, 0, 100), Range(B, 50, 60), Range(C, 0, 10)]
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("filters", "left"),
    [
        ([EqualTo(("partition",), 1)], [ALL[1], ALL[2]]),
        ([In(("partition",), (0, 7))], [ALL[0]]),
        ([EqualTo(("topic",), "b")], [ALL[2]]),
        ([EqualTo(("topic",), "b"), EqualTo(("partition",), 0)], []),
        ([EqualTo(("offset",), 55)], [Range(A, 55, 56), Range(B, 55, 56)]),
        ([GreaterThan(("offset",), 55)], [Range(A, 56, 100), Range(B, 56, 60)]),
        ([GreaterThanOrEqual(("offset",), 59)], [Range(A, 59, 100), Range(B, 59, 60)]),
        ([LessThan(("offset",), 5)], [Range(A, 0, 5), Range(C, 0, 5)]),
        (
            [LessThanOrEqual(("offset",), 5), GreaterThan(("offset",), 3)],
            [Range(A, 4, 6), Range(C, 4, 6)],
        ),
        ([GreaterThan(("offset",), -5)], ALL),
    ],
)
def test_partitions_and_offsets_are_chosen_without_spark(
    filters: list[Filter], left: list[Range]
) -> None:
    narrowing = Narrowing()
    assert narrowing.take(filters) == []
    assert narrowing.narrowed(ALL) == left


def test_a_time_says_from_where_and_spark_looks_again() -> None:
    narrowing = Narrowing()
    filters: list[Filter] = [
        GreaterThanOrEqual(("timestamp",), NOON),
        GreaterThan(("timestamp",), datetime(2025, 1, 1, tzinfo=UTC)),
        LessThan(("timestamp",), NOON),
    ]
    assert narrowing.take(filters) == filters
    assert narrowing.timestamp_first_ms == int(NOON.timestamp() * 1000)
    assert narrowing.narrowed(ALL) == ALL


def test_a_time_before_all_times_leaves_everything() -> None:
    narrowing = Narrowing()
    narrowing.take([GreaterThanOrEqual(("timestamp",), datetime(1969, 12, 31, 23, tzinfo=UTC))])
    assert narrowing.timestamp_first_ms == 0  # to brokers -1 is the end


@pytest.mark.parametrize(
    "given",
    [
        IsNotNull(("offset",)),
        EqualTo(("value",), b"v"),
        EqualTo(("value", "offset"), 5),
        GreaterThan(("partition",), 0),
    ],
)
def test_everything_else_is_left_to_spark(given: Filter) -> None:
    narrowing = Narrowing()
    assert narrowing.take([given]) == [given]
    assert narrowing.narrowed(ALL) == ALL
