"""Joins of two streams: Spark's own, with a window of time around each record."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from moldau.streams.compile.compilation import Compilation
from moldau.streams.compile.joined_values import LEFT, RIGHT, joined_value
from moldau.streams.compile.records import HEADERS, KEY, PLACE, TIMESTAMP, VALUE
from moldau.streams.nodes.joins import StreamJoin

_SPARKS_NAMES = {"inner": "inner", "left": "leftOuter", "outer": "fullOuter"}


def stream_with_stream(node: StreamJoin, compilation: Compilation) -> DataFrame:
    """A record for each pair, and for what finds no partner when none can come any more."""
    first, second = (compilation.frame(parent) for parent in node.parents)
    left, right = _side(first, LEFT, node), _side(second, RIGHT, node)
    before = f.expr(f"interval {node.windows.before_ms} milliseconds")
    after = f.expr(f"interval {node.windows.after_ms} milliseconds")
    is_pair = (
        (f.col("left_key") == f.col("right_key"))
        & (f.col("right_timestamp") >= f.col("left_timestamp") - before)
        & (f.col("right_timestamp") <= f.col("left_timestamp") + after)
    )
    joined = left.join(right, is_pair, _SPARKS_NAMES[node.kind])
    rows = joined.select(
        f.coalesce("left_key", "right_key").alias(KEY),
        LEFT,
        RIGHT,
        f.greatest("left_timestamp", "right_timestamp").alias(TIMESTAMP),
        # As of the record with which Kafka finds the pair, where records come in their order.
        _of_later("headers").alias(HEADERS),
        _of_later("place").alias(PLACE),
    )
    return rows.select(KEY, joined_value(node.joiner).alias(VALUE), TIMESTAMP, HEADERS, PLACE)


def _side(frame: DataFrame, side: str, node: StreamJoin) -> DataFrame:
    """One stream with names of its own; a record without a value joins nothing."""
    named = frame.filter(f.col(VALUE).isNotNull()).select(
        f.col(KEY).alias(f"{side}_key"),
        f.col(VALUE).alias(side),
        f.col(TIMESTAMP).alias(f"{side}_timestamp"),
        f.col(HEADERS).alias(f"{side}_headers"),
        f.col(PLACE).alias(f"{side}_place"),
    )
    # Spark drops what is older than the watermark at once; for Kafka a record may still join
    # with younger ones, so the watermark is as much later as those may be younger.
    return named.withWatermark(f"{side}_timestamp", f"{node.windows.lateness_ms} milliseconds")


def _of_later(name: str) -> Column:
    is_right = f.col("left_timestamp").isNull() | (
        f.col("right_timestamp") > f.col("left_timestamp")
    )
    return f.when(is_right, f.col(f"right_{name}")).otherwise(f.col(f"left_{name}"))
