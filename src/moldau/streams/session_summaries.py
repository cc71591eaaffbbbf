"""Counts, sums, least and greatest of sessions that are still open.

Spark gives sessions when they are closed. Until then they are folded in Python.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from moldau.streams import nodes
from moldau.streams.expressions import column
from moldau.streams.folding import FoldTask
from moldau.streams.folds import folded_records
from moldau.streams.functions import Folding
from moldau.streams.records import KEY, VALUE, with_columns

_KINDS = ("count", "sum", "min", "max")


def open_sessions(node: nodes.Summarize, frame: DataFrame) -> DataFrame:
    """The sessions that a micro-batch has changed."""
    (summary,) = node.summaries[:1]
    if len(node.summaries) > 1 or summary.kind not in _KINDS:
        raise TypeError(
            f"{node.name}: of open sessions there are count, sum, min, max, reduce and aggregate; "
            "others need .suppress_until_window_closes()"
        )
    rows = frame.filter(f.col(KEY).isNotNull() & f.col(VALUE).isNotNull())
    of = f.lit(1).cast("bigint") if summary.of is None else column(summary.of)
    task = FoldTask(with_columns(rows, value=of), combining(summary.kind), "update")
    return folded_records(task, node.windows, node.name)


def combining(kind: str) -> Folding:
    """A fold that does what Spark's aggregation of this name would."""

    def combine(_key: object, value: float, so_far: float) -> float:
        if kind == "min":
            return min(value, so_far)
        return max(value, so_far) if kind == "max" else so_far + value

    return Folding(combine, merge=combine)
