"""Joins with global tables: Spark's own join with what the table has at each micro-batch."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from moldau.streams.compile.compilation import Compilation
from moldau.streams.compile.expressions import column
from moldau.streams.compile.joined_values import LEFT, RIGHT, joined_value
from moldau.streams.compile.records import KEY, VALUE, with_columns
from moldau.streams.nodes.joins import GlobalJoin

_LOOKUP = "lookup"
_FOUND = "found"


def stream_with_global_table(node: GlobalJoin, compilation: Compilation) -> DataFrame:
    """A record for each of the stream that finds its row, or for each."""
    stream, table = (compilation.frame(parent) for parent in node.parents)
    records = stream.filter(f.col(VALUE).isNotNull()).withColumn(_LOOKUP, column(node.lookup))
    rows = table.select(f.col(KEY).alias(_FOUND), f.col(VALUE).alias(RIGHT))
    kind = "inner" if node.kind == "inner" else "left"
    joined = records.join(f.broadcast(rows), f.col(_LOOKUP) == f.col(_FOUND), kind)
    sides = joined.withColumn(LEFT, f.col(VALUE))
    return with_columns(sides, value=joined_value(node.joiner))
