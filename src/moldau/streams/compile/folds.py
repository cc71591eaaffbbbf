"""Aggregations by Python functions as records: which way of folding fits which windows."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from moldau.streams.compile.compilation import Compilation
from moldau.streams.compile.folding import MILLIS, FoldTask, fold_by_key
from moldau.streams.compile.records import (
    HEADERS,
    KEY,
    PLACE,
    TIMESTAMP,
    VALUE,
    no_headers,
    place_of_result,
)
from moldau.streams.compile.session_folding import fold_sessions
from moldau.streams.compile.sliding_folding import fold_sliding
from moldau.streams.compile.windowed_folding import END, START, fold_windows
from moldau.streams.nodes import nodes
from moldau.streams.windows import SessionWindows, SlidingWindows, TimeWindows, Windows


def folded(node: nodes.Fold, compilation: Compilation) -> DataFrame:
    """The aggregates that a micro-batch has changed or closed."""
    frame = compilation.keyed_parent(node)
    task = FoldTask(
        frame,
        node.folding,
        compilation.mode,
        compilation.failed_step(node),
        compilation.counters.late_records,
    )
    return folded_records(task, node.windows, node.name)


def folded_records(task: FoldTask, windows: Windows | None, name: str) -> DataFrame:
    """What a fold gives, with all columns of a record."""
    results = _folded(task, windows)
    key = f.col(KEY)
    if windows is not None:
        start, end = f.timestamp_millis(START), f.timestamp_millis(END)
        window = f.struct(start.alias("start"), end.alias("end"))
        key = f.struct(key.alias("key"), window.alias("window"))
    timed = results.withColumn(TIMESTAMP, f.timestamp_millis(MILLIS))
    return timed.select(
        key.alias(KEY),
        VALUE,
        TIMESTAMP,
        no_headers().alias(HEADERS),
        place_of_result(name).alias(PLACE),
    )


def _folded(task: FoldTask, windows: Windows | None) -> DataFrame:
    match windows:
        case None:
            return fold_by_key(task)
        case TimeWindows():
            return fold_windows(task, windows)
        case SessionWindows():
            return fold_sessions(task, windows)
        case SlidingWindows():
            return fold_sliding(task, windows)
