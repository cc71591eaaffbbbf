"""Aggregations by Python functions over windows that begin at fixed times."""

from collections.abc import Iterator

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)
from pyspark.sql.types import StructType

from moldau.streams.compile.folding import (
    MILLIS,
    Aggregate,
    FoldTask,
    aggregate_types,
    folded_or_not,
    plain,
    state_input,
    with_watermark,
)
from moldau.streams.compile.ordering import in_order
from moldau.streams.compile.records import KEY, TIMESTAMP, VALUE
from moldau.streams.windows import TimeWindows

START, END = "start", "end"


def fold_windows(task: FoldTask, windows: TimeWindows) -> DataFrame:
    """Rows of key, start, end, value and millis."""
    marked = with_watermark(task.frame, windows)
    length, step = f"{windows.size_ms} milliseconds", f"{windows.advance_ms} milliseconds"
    kept = state_input(marked).withColumn(TIMESTAMP, f.timestamp_millis(MILLIS))
    rows = kept.withColumn("window", f.window(TIMESTAMP, length, step))
    rows = rows.filter(f.unix_millis("window.start") >= 0)
    rows = rows.select(
        *(KEY, VALUE, "place", MILLIS),
        f.unix_millis("window.start").alias(START),
        f.unix_millis("window.end").alias(END),
    )
    types = aggregate_types(rows, task.folding)
    output = StructType([rows.schema[KEY], rows.schema[START], rows.schema[END], *types.fields])
    processor = FoldByWindow(task, types)
    grouped = rows.groupBy(KEY, START, END)
    return grouped.transformWithState(processor, output, "update", "eventTime")


class FoldByWindow(StatefulProcessor):
    """One aggregate for each key and window, until the window closes."""

    def __init__(self, task: FoldTask, types: StructType) -> None:
        # Not the task itself: frames do not go to workers.
        self._folding, self._mode = task.folding, task.mode
        self._step, self._late = task.step, task.late
        self._types = types

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._state = handle.getValueState("aggregate", self._types)

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: tuple[object, int, int],
        rows: Iterator[Row],
        timerValues: TimerValues,  # noqa: N803 - Spark's name
    ) -> Iterator[Row]:
        if key[2] <= timerValues.getCurrentWatermarkInMs():
            self._late.add(len(list(rows)))
            return
        found = self._state.get()
        aggregate = None if found is None else Aggregate(plain(found[0]), found[1])
        is_new = aggregate is None
        for row in in_order(rows):
            aggregate = folded_or_not(self._folding, key[0], row, aggregate, self._step)
        if aggregate is None:
            return
        if is_new:
            self._handle.registerTimer(key[2])
        self._state.update(tuple(aggregate))
        if self._mode == "update":
            yield _result(key, aggregate)

    def handleExpiredTimer(  # noqa: N802 - Spark's name
        self,
        key: tuple[object, int, int],
        timerValues: TimerValues,  # noqa: ARG002, N803 - Spark's name
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: ARG002, N803 - Spark's name
    ) -> Iterator[Row]:
        found = self._state.get()
        self._state.clear()
        if found is not None and self._mode == "append":
            yield _result(key, Aggregate(*found))


def _result(key: tuple[object, int, int], aggregate: Aggregate) -> Row:
    window = {KEY: key[0], START: key[1], END: key[2]}
    return Row(**window, **{VALUE: aggregate.value, MILLIS: aggregate.millis})
