"""Aggregations by Python functions: what all kinds of them share, and that by key alone.

Spark calls a processor for each key of a micro-batch, in a Python worker that asks the JVM for
state over a socket: tens of microseconds for each call, hence the slow way.
"""

from collections.abc import Iterator
from typing import NamedTuple

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import DataType, LongType, StructField, StructType

from moldau.streams.compile.compilation import Mode
from moldau.streams.compile.failures import FailedStep, Tally
from moldau.streams.compile.ordering import in_order
from moldau.streams.compile.records import KEY, PLACE, SIGN, TIMESTAMP, VALUE
from moldau.streams.functions import Folding
from moldau.streams.windows import Windows

MILLIS = "millis"


class Aggregate(NamedTuple):
    """An aggregate and the time of its newest record."""

    value: object
    millis: int


class FoldTask(NamedTuple):
    """What is folded, how, whether only what is final is wanted, and what is done otherwise."""

    frame: DataFrame
    folding: Folding
    mode: Mode
    step: FailedStep
    late: Tally


def fold_by_key(task: FoldTask) -> DataFrame:
    """Rows of key, value and millis: the aggregate of each key that a micro-batch has changed."""
    rows = state_input(task.frame)
    types = aggregate_types(rows, task.folding)
    output = StructType([rows.schema[KEY], *types.fields])
    processor = FoldByKey(task.folding, types, task.step)
    return rows.groupBy(KEY).transformWithState(processor, output, "update", "none")


class FoldByKey(StatefulProcessor):
    """One aggregate for each key."""

    def __init__(self, folding: Folding, types: StructType, step: FailedStep) -> None:
        self._folding = folding
        self._types = types
        self._step = step

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._state = handle.getValueState("aggregate", self._types)

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: tuple[object],
        rows: Iterator[Row],
        timerValues: object,  # noqa: ARG002, N803
    ) -> Iterator[Row]:
        found = self._state.get()
        aggregate = None if found is None else Aggregate(plain(found[0]), found[1])
        for row in in_order(rows):
            aggregate = folded_or_not(self._folding, key[0], row, aggregate, self._step)
        if aggregate is not None:
            self._state.update(tuple(aggregate))
            yield Row(**{KEY: key[0], VALUE: aggregate.value, MILLIS: aggregate.millis})


def folded_or_not(
    folding: Folding, key: object, row: Row, so_far: Aggregate | None, step: FailedStep
) -> Aggregate | None:
    """An aggregate with one more record, unless the function fails on it."""
    try:
        return folded(folding, key, row, so_far)
    except Exception as error:  # noqa: BLE001 - whatever the user's function raises
        step.handle(row.place, key, row.value, error)
        return so_far


def folded(folding: Folding, key: object, row: Row, so_far: Aggregate | None) -> Aggregate | None:
    """An aggregate with one more record, or with one taken away."""
    millis = row.millis if so_far is None else max(row.millis, so_far.millis)
    is_taken_away = SIGN in row.__fields__ and row.sign < 0
    if so_far is None:
        if is_taken_away:
            return None
        if folding.initial is None:
            return Aggregate(row.value, millis)
        so_far = Aggregate(folding.initial(), millis)
    change = folding.add
    if is_taken_away:
        assert folding.subtract is not None
        change = folding.subtract
    return Aggregate(change(key, row.value, so_far.value), millis)


def plain(value: object) -> object:
    """A value from the state as functions get those of records: structs are dictionaries."""
    if isinstance(value, Row):
        return {name: plain(each) for name, each in value.asDict().items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value


def state_input(frame: DataFrame) -> DataFrame:
    """Records as stateful steps get them: times in milliseconds, nothing without key or value."""
    signs = [SIGN] if SIGN in frame.columns else []
    kept = frame.filter(f.col(KEY).isNotNull() & f.col(VALUE).isNotNull())
    return kept.select(KEY, VALUE, PLACE, f.unix_millis(TIMESTAMP).alias(MILLIS), *signs)


def with_watermark(frame: DataFrame, windows: Windows) -> DataFrame:
    """Records whose watermark is the newest time but for the grace period.

    Processors are given times as numbers, in which Spark sees no event time: what is late they
    decide themselves, as Kafka does, by the ends of windows instead of the times of records.
    """
    return frame.withWatermark(TIMESTAMP, f"{windows.grace_ms} milliseconds")


def aggregate_types(rows: DataFrame, folding: Folding) -> StructType:
    """The columns of an aggregate: its value and its time."""
    declared: DataType = rows.schema[VALUE].dataType
    if folding.returns is not None:
        declared = DataType.fromDDL(folding.returns)
    return StructType([StructField(VALUE, declared), StructField(MILLIS, LongType())])
