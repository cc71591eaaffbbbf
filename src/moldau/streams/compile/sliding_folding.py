"""Aggregations by Python functions over sliding windows."""

from collections.abc import Iterator

from pyspark.sql import DataFrame, Row
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)
from pyspark.sql.types import ArrayType, LongType, StructField, StructType

from moldau.streams.compile.folding import (
    MILLIS,
    FoldTask,
    aggregate_types,
    plain,
    state_input,
    with_watermark,
)
from moldau.streams.compile.ordering import in_order
from moldau.streams.compile.records import KEY, VALUE
from moldau.streams.compile.sliding import Sample, Span, aggregate, changed, spans
from moldau.streams.compile.windowed_folding import END, START
from moldau.streams.windows import SlidingWindows


def fold_sliding(task: FoldTask, windows: SlidingWindows) -> DataFrame:
    """Rows of key, start, end, value and millis."""
    rows = state_input(with_watermark(task.frame, windows))
    types = aggregate_types(rows, task.folding)
    times = [StructField(START, LongType()), StructField(END, LongType())]
    output = StructType([rows.schema[KEY], *times, *types.fields])
    sample = StructType([StructField(MILLIS, LongType()), rows.schema[VALUE]])
    state = StructType([StructField("samples", ArrayType(sample))])
    processor = FoldSliding(task, state, windows)
    return rows.groupBy(KEY).transformWithState(processor, output, "update", "eventTime")


class FoldSliding(StatefulProcessor):
    """The records of a key, for as long as a window that is open may need them."""

    def __init__(self, task: FoldTask, types: StructType, windows: SlidingWindows) -> None:
        # Not the task itself: frames do not go to workers.
        self._folding, self._mode = task.folding, task.mode
        self._late = task.late
        self._types = types
        self._difference_ms = windows.time_difference_ms

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._state = handle.getValueState("samples", self._types)

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: tuple[object],
        rows: Iterator[Row],
        timerValues: TimerValues,  # noqa: N803 - Spark's name
    ) -> Iterator[Row]:
        closed_ms = timerValues.getCurrentWatermarkInMs()
        before = self._restored()
        oldest_ms = closed_ms - self._difference_ms
        taken = [Sample(row.millis, row.value) for row in in_order(rows)]
        new = [each for each in taken if each.millis >= oldest_ms]
        self._late.add(len(taken) - len(new))
        for each in new:
            self._handle.registerTimer(self._forgotten_ms(each))
        after = [*before, *new]
        self._store(after)
        known = spans(before, self._difference_ms)
        for span in changed(known, spans(after, self._difference_ms)):
            if span.end_ms > closed_ms:
                if span.start_ms not in known:
                    self._handle.registerTimer(span.end_ms)
                if self._mode == "update":
                    yield self._result(key[0], span)

    def handleExpiredTimer(  # noqa: N802 - Spark's name
        self,
        key: tuple[object],
        timerValues: TimerValues,  # noqa: ARG002, N803 - Spark's name
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: N803 - Spark's name
    ) -> Iterator[Row]:
        at_ms = expiredTimerInfo.getExpiryTimeInMs()
        samples = self._restored()
        span = spans(samples, self._difference_ms).get(at_ms - self._difference_ms)
        if span is not None and self._mode == "append":
            yield self._result(key[0], span)
        self._store([each for each in samples if self._forgotten_ms(each) > at_ms])

    def _forgotten_ms(self, sample: Sample) -> int:
        """When no window needs a record any more.

        What is taken is at most a window's length behind the watermark, and its own window
        reaches back by as much again.
        """
        return sample.millis + 2 * self._difference_ms + 1

    def _result(self, key: object, span: Span) -> Row:
        window = {KEY: key, START: span.start_ms, END: span.end_ms}
        value = aggregate(self._folding, key, span.samples)
        newest = max(each.millis for each in span.samples)
        return Row(**window, **{VALUE: value, MILLIS: newest})

    def _restored(self) -> list[Sample]:
        found = self._state.get()
        return [] if found is None else [Sample(each[0], plain(each[1])) for each in found[0]]

    def _store(self, samples: list[Sample]) -> None:
        if samples:
            rows = [Row(**{MILLIS: each.millis, VALUE: each.value}) for each in samples]
            self._state.update((rows,))
        else:
            self._state.clear()
