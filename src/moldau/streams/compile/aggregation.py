"""Aggregations that Spark has, inside Spark: counts, sums and their kin, by key and window."""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame, GroupedData
from pyspark.sql import functions as f

from moldau.streams.compile.compilation import Compilation
from moldau.streams.compile.expressions import column
from moldau.streams.compile.folded_summaries import KINDS, counted, folded_summary
from moldau.streams.compile.records import (
    HEADERS,
    KEY,
    PLACE,
    SIGN,
    TIMESTAMP,
    VALUE,
    no_headers,
    place_of_result,
)
from moldau.streams.functions import Summary
from moldau.streams.nodes import nodes
from moldau.streams.windows import SessionWindows, TimeWindows, Windows

_BUILT_IN: dict[str, Callable[[Column], Column]] = {
    "sum": f.sum,
    "min": f.min,
    "max": f.max,
    "avg": f.avg,
}


def summarized(node: nodes.Summarize, compilation: Compilation) -> DataFrame:
    """A row for each key, or key and window, that a micro-batch has changed or closed."""
    frame = compilation.keyed_parent(node)
    (parent,) = node.parents
    is_signed = isinstance(parent, nodes.Changes)
    # What Spark cannot aggregate in this mode, Python does.
    is_by_key_alone = compilation.mode == "append" and node.windows is None
    if is_by_key_alone or _is_folded_session(node, compilation):
        return folded_summary(node, frame, compilation)
    groups = _grouped(counted(node, frame), node.windows)
    results = groups.agg(
        _value(node.summaries, is_signed=is_signed).alias(VALUE),
        f.max(TIMESTAMP).alias(TIMESTAMP),
    )
    if isinstance(node.windows, TimeWindows):
        # No window begins before time does.
        results = results.filter(f.unix_millis("window.start") >= 0)
    return results.select(
        _result_key(node.windows).alias(KEY),
        VALUE,
        TIMESTAMP,
        no_headers().alias(HEADERS),
        place_of_result(node.name).alias(PLACE),
    )


def _is_folded_session(node: nodes.Summarize, compilation: Compilation) -> bool:
    """Whether Python follows the sessions: it does what Kafka does, and Spark some more kinds."""
    if not isinstance(node.windows, SessionWindows):
        return False
    has_kind = len(node.summaries) == 1 and node.summaries[0].kind in KINDS
    return compilation.mode == "update" or has_kind


def _grouped(rows: DataFrame, windows: Windows | None) -> GroupedData:
    match windows:
        case None:
            return rows.groupBy(KEY)
        case TimeWindows(size_ms, advance_ms, grace_ms):
            window = f.window(TIMESTAMP, f"{size_ms} milliseconds", f"{advance_ms} milliseconds")
            delay_ms = grace_ms
        case SessionWindows(gap_ms, grace_ms):
            window = f.session_window(TIMESTAMP, f"{gap_ms} milliseconds")
            # Spark closes a session at the last moment at which Kafka still takes a record.
            delay_ms = grace_ms + 1
        case _:
            raise AssertionError(windows)
    marked = rows.withWatermark(TIMESTAMP, f"{delay_ms} milliseconds")
    return marked.groupBy(KEY, window.alias("window"))


def _result_key(windows: Windows | None) -> Column:
    if windows is None:
        return f.col(KEY)
    start, end = f.col("window.start"), f.col("window.end")
    if isinstance(windows, SessionWindows):
        # A session ends with its last record, for Kafka; for Spark, a gap later.
        end = f.timestamp_millis(f.unix_millis(end) - windows.gap_ms)
    window = f.struct(start.alias("start"), end.alias("end"))
    return f.struct(f.col(KEY).alias("key"), window.alias("window"))


def _value(summaries: tuple[Summary, ...], *, is_signed: bool) -> Column:
    columns = [_aggregate(summary, is_signed=is_signed) for summary in summaries]
    if len(columns) == 1 and summaries[0].name is None:
        return columns[0]
    return f.struct(
        *(made.alias(str(each.name)) for made, each in zip(columns, summaries, strict=True))
    )


def _aggregate(summary: Summary, *, is_signed: bool) -> Column:
    if summary.kind == "count":
        return f.sum(SIGN) if is_signed else f.count(f.lit(1))
    assert summary.of is not None
    of = column(summary.of)
    if summary.kind == "column":
        return of
    return _BUILT_IN[summary.kind](f.col(SIGN) * of if is_signed else of)
