"""Counts, sums, least and greatest where Spark's own aggregations cannot give them.

Of sessions, Spark gives nothing before they close, and drops records that Kafka joins with an open
one; in a query of final results it gives nothing by key alone. There they are folded in Python.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from moldau.streams.compile.compilation import Compilation
from moldau.streams.compile.expressions import column
from moldau.streams.compile.folding import FoldTask
from moldau.streams.compile.folds import folded_records
from moldau.streams.compile.records import KEY, SIGN, VALUE, with_columns
from moldau.streams.functions import Folding, Summary
from moldau.streams.nodes import nodes
from moldau.streams.windows import SessionWindows, TimeWindows

KINDS = ("count", "sum", "min", "max")


def folded_summary(node: nodes.Summarize, frame: DataFrame, compilation: Compilation) -> DataFrame:
    """The aggregates that a micro-batch has changed, or the sessions that it has closed."""
    summary = node.summaries[0]
    if len(node.summaries) > 1 or summary.kind not in KINDS:
        raise TypeError(
            f"{node.name}: there are only count, sum, min, max, reduce and aggregate of sessions "
            "that are not suppressed, and behind joins of streams or suppression; others need "
            ".suppress_until_window_closes(), or .through(topic) before them"
        )
    rows = counted(node, frame)
    values = with_columns(rows, value=_value(summary, is_signed=SIGN in frame.columns))
    # By key alone nothing is ever final.
    mode = "update" if node.windows is None else compilation.mode
    task = FoldTask(
        values,
        combining(summary.kind),
        mode,
        compilation.failed_step(node),
        compilation.counters.late_records,
    )
    return folded_records(task, node.windows, node.name)


def counted(node: nodes.Summarize, frame: DataFrame) -> DataFrame:
    """Records that count: those with a key and a value.

    As in Kafka Streams, whatever has a key is counted in windows, but for sliding ones.
    """
    kept = frame.filter(f.col(KEY).isNotNull())
    is_counting = any(each.kind in ("count", "column") for each in node.summaries)
    if is_counting and isinstance(node.windows, TimeWindows | SessionWindows):
        return kept
    return kept.filter(f.col(VALUE).isNotNull())


def combining(kind: str) -> Folding:
    """A fold that does what Spark's aggregation of this name would."""

    def combine(_key: object, value: float, so_far: float) -> float:
        if kind == "min":
            return min(value, so_far)
        return max(value, so_far) if kind == "max" else so_far + value

    return Folding(combine, merge=combine)


def _value(summary: Summary, *, is_signed: bool) -> Column:
    of = f.lit(1).cast("bigint") if summary.of is None else column(summary.of)
    return f.col(SIGN) * of if is_signed else of
