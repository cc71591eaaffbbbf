"""Joiners are SQL, functions of columns or functions of series."""

import pytest
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as f

from moldau.streams import vectorized
from moldau.streams.compile.joined_values import joined_value
from moldau.streams.nodes.joins import Joiner

pytestmark = pytest.mark.needs("java")


@vectorized("string")
def in_series(left: object, right: object) -> object:
    return left + right  # type: ignore[operator]


def of_columns(left: Column, right: Column) -> Column:
    return f.concat(left, right)


def with_key(key: Column, left: Column, right: Column) -> Column:
    return f.concat(key, left, right)


@vectorized("string")
def of_one(left: object) -> object:
    return left


def test_a_joiner_makes_one_value_of_two(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("k", "l", "r")], "key string, left string, right string")
    joiners: list[Joiner] = ["concat(left, right)", of_columns, with_key, in_series]
    (row,) = frame.select(*map(joined_value, joiners)).collect()
    assert list(row) == ["lr", "lr", "klr", "lr"]


@pytest.mark.parametrize("joiner", [of_one, lambda left: left])
def test_a_joiner_of_one_side_is_refused(spark: SparkSession, joiner: Joiner) -> None:
    with pytest.raises(ValueError, match="must take left and right"):
        joined_value(joiner)
