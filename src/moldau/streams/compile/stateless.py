"""Steps that look at one record at a time, as changes of a frame."""

from collections.abc import Callable, Iterator
from functools import reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from moldau.streams.compile.compilation import Compilation
from moldau.streams.compile.expressions import column, exploded, with_made
from moldau.streams.compile.records import KEY, VALUE, with_columns
from moldau.streams.compile.vectorized_calls import MADE
from moldau.streams.functions import Expression
from moldau.streams.nodes import nodes


def filtered(node: nodes.Filter, compilation: Compilation) -> DataFrame:
    frame = with_made(compilation.parent(node), node.predicate, compilation.failed_step(node))
    is_kept = f.coalesce(f.col(MADE), f.lit(False))
    if node.is_negated:
        is_kept = ~is_kept
    if node.is_of_table:
        return with_columns(frame, value=f.when(is_kept, f.col(VALUE)))
    return frame.filter(is_kept).drop(MADE)


def mapped(node: nodes.Map, compilation: Compilation) -> DataFrame:
    step = compilation.failed_step(node)
    rows = with_made(compilation.parent(node), node.mapper, step, is_pair=True)
    return with_columns(rows, key=f.col("made.key"), value=f.col("made.value"))


def with_mapped_values(node: nodes.MapValues, compilation: Compilation) -> DataFrame:
    rows = with_made(compilation.parent(node), node.mapper, compilation.failed_step(node))
    made = f.col(MADE)
    if node.is_of_table:
        made = f.when(f.col(VALUE).isNotNull(), made)
    return with_columns(rows, value=made)


def flat_mapped(node: nodes.FlatMap, compilation: Compilation) -> DataFrame:
    rows = _several(node, node.mapper, compilation)
    return with_columns(rows, key=f.col("made.key"), value=f.col("made.value"))


def with_flat_mapped_values(node: nodes.FlatMapValues, compilation: Compilation) -> DataFrame:
    return with_columns(_several(node, node.mapper, compilation), value=f.col(MADE))


def with_selected_key(node: nodes.SelectKey, compilation: Compilation) -> DataFrame:
    rows = with_made(compilation.parent(node), node.mapper, compilation.failed_step(node))
    return with_columns(rows, key=f.col(MADE))


def _several(node: nodes.Node, mapper: Expression, compilation: Compilation) -> DataFrame:
    """A row for each element that the mapper gives."""
    rows = with_made(compilation.parent(node), mapper, compilation.failed_step(node))
    return exploded(rows.withColumnRenamed(MADE, "array"), f.col("array"))


def peeked(node: nodes.Peek, compilation: Compilation) -> DataFrame:
    frame = compilation.parent(node)
    return frame.mapInArrow(_showing(node.action), frame.schema)


def merged(node: nodes.Merge, compilation: Compilation) -> DataFrame:
    frames = [compilation.frame(parent) for parent in node.parents]
    types = {tuple(frame.select(KEY, VALUE).dtypes) for frame in frames}
    if len(types) > 1:
        listed = " and ".join(str(dict(each)) for each in sorted(types))
        raise TypeError(f"{node.name}: streams of different types cannot be merged: {listed}")
    return reduce(DataFrame.union, frames)


def branch(node: nodes.Branch, compilation: Compilation) -> DataFrame:
    taken: Column = f.lit(True)
    for predicate in node.earlier:
        taken &= ~f.coalesce(column(predicate), f.lit(False))
    if node.predicate is not None:
        taken &= column(node.predicate)
    return compilation.parent(node).filter(taken)


def repartitioned(node: nodes.Repartition, compilation: Compilation) -> DataFrame:
    frame = compilation.parent(node)
    if node.partitions is None:
        return frame.repartition(f.col(KEY))
    return frame.repartition(node.partitions, f.col(KEY))


def unchanged(node: nodes.Node, compilation: Compilation) -> DataFrame:
    return compilation.parent(node)


def _showing(
    action: Callable[..., None],
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def show(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            action(batch)
            yield batch

    return show
