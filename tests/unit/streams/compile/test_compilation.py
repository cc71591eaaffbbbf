"""Frames are made once, and stateful steps do not share a stage."""

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from moldau.streams import StreamsBuilder
from moldau.streams.compile.compilation import Compilation
from moldau.streams.compile.operators import OPERATORS
from moldau.streams.nodes.nodes import Node
from unit.streams.given import GivenInputs

pytestmark = pytest.mark.needs("java")


def plan(frame: DataFrame) -> str:
    return str(frame._jdf.queryExecution().logical())


def test_a_frame_is_made_once(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    node = builder.stream("lines").filter("true").node
    compilation = Compilation(GivenInputs(spark, []), "app", "update", OPERATORS)
    assert compilation.frame(node) is compilation.frame(node)
    assert compilation.parent(node) is compilation.frame(node.parents[0])


def test_after_a_stateful_step_records_are_shuffled(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    counts = builder.stream("lines").group_by_key().count()
    grouped = counts.group_by("struct(value as key, key as value)")
    compilation = Compilation(GivenInputs(spark, []), "app", "update", OPERATORS)
    first = counts.node
    assert "RepartitionByExpression" in plan(compilation.keyed_parent(grouped.node))
    assert "RepartitionByExpression" not in plan(compilation.keyed_parent(first))


def test_a_kind_without_operator_is_a_mistake(spark: SparkSession) -> None:
    compilation = Compilation(GivenInputs(spark, []), "app", "update", OPERATORS)
    with pytest.raises(AssertionError, match="no operator for Node"):
        compilation.frame(Node(name="unknown"))


def test_an_error_names_the_step(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    node = builder.stream("lines").filter("price > 3", name="cheap").map_values("value").node
    compilation = Compilation(GivenInputs(spark, []), "app", "update", OPERATORS)
    with pytest.raises(AnalysisException, match="price") as caught:
        compilation.frame(node)
    assert caught.value.__notes__ == ["in the step cheap"]
