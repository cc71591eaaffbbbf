"""Changes of a table that are held back, for a time or until there are too many."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)
from pyspark.sql.types import ArrayType, LongType, StructField, StructType

from moldau.streams.compile.compilation import Compilation
from moldau.streams.compile.folding import MILLIS, plain
from moldau.streams.compile.ordering import in_order
from moldau.streams.compile.records import (
    HEADERS,
    KEY,
    PLACE,
    TIMESTAMP,
    VALUE,
    place_of_result,
)
from moldau.streams.nodes import nodes

_GROUP, _DUE = "group", "due"


@dataclass(frozen=True, slots=True)
class HeldChange:
    """The last change of a key, and when it is to come through."""

    key: object
    value: object
    millis: int
    headers: object
    due_ms: int


class HeldChanges:
    """At most one change of each key; `take` says which come through with the one that is added."""

    def __init__(
        self, limit_ms: int, records_max: int | None, held: Iterable[HeldChange] = ()
    ) -> None:
        self._limit_ms = limit_ms
        self._records_max = records_max
        self._held = {repr(each.key): each for each in held}

    @property
    def held(self) -> list[HeldChange]:
        return list(self._held.values())

    def take(self, row: Row, now_ms: int) -> list[HeldChange]:
        """Hold the change of a row; a key that is held keeps the time that it has."""
        key = plain(row.key)
        before = self._held.get(repr(key))
        due_ms = row.millis + self._limit_ms if before is None else before.due_ms
        change = HeldChange(key, plain(row.value), row.millis, plain(row.headers), due_ms)
        self._held[repr(key)] = change
        return self.due(now_ms)

    def due(self, now_ms: int) -> list[HeldChange]:
        """What must not be held any longer, the oldest first."""
        by_age = sorted(self._held.values(), key=lambda each: (each.due_ms, str(each.key)))
        count = sum(each.due_ms <= now_ms for each in by_age)
        if self._records_max is not None:
            count = max(count, len(by_age) - self._records_max)
        for each in by_age[:count]:
            del self._held[repr(each.key)]
        return by_age[:count]


def limited(node: nodes.TimeLimit, compilation: Compilation) -> DataFrame:
    """The changes that come through; with a bound of their number one task holds all."""
    frame = compilation.keyed_parent(node).filter(f.col(KEY).isNotNull())
    group = f.col(KEY) if node.records_max is None else f.lit(0)
    millis = f.unix_millis(TIMESTAMP).alias(MILLIS)
    rows = frame.withWatermark(TIMESTAMP, "0 milliseconds").select(
        group.alias(_GROUP), KEY, VALUE, millis, HEADERS, PLACE
    )
    change = StructType([rows.schema[name] for name in (KEY, VALUE, MILLIS, HEADERS)])
    held = StructType([*change.fields, StructField(_DUE, LongType())])
    types = StructType([StructField("held", ArrayType(held))])
    processor = Holding(node.limit_ms, node.records_max, types)
    grouped = rows.groupBy(_GROUP)
    results = grouped.transformWithState(processor, change, "update", "eventTime")
    timed = results.withColumn(TIMESTAMP, f.timestamp_millis(MILLIS))
    return timed.select(KEY, VALUE, TIMESTAMP, HEADERS, place_of_result(node.name).alias(PLACE))


class Holding(StatefulProcessor):
    """What is held back of one key, or of all."""

    def __init__(self, limit_ms: int, records_max: int | None, types: StructType) -> None:
        self._limits = limit_ms, records_max
        self._types = types

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._state = handle.getValueState("held", self._types)

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: tuple[object],  # noqa: ARG002 - each row has it
        rows: Iterator[Row],
        timerValues: TimerValues,  # noqa: N803 - Spark's name
    ) -> Iterator[Row]:
        changes = self._restored()
        known = {each.due_ms for each in changes.held}
        now_ms = timerValues.getCurrentWatermarkInMs()
        for row in in_order(rows):
            now_ms = max(now_ms, row.millis)
            yield from map(_row, changes.take(row, now_ms))
        for due_ms in {each.due_ms for each in changes.held} - known:
            self._handle.registerTimer(due_ms)
        self._store(changes)

    def handleExpiredTimer(  # noqa: N802 - Spark's name
        self,
        key: tuple[object],  # noqa: ARG002 - each change has it
        timerValues: TimerValues,  # noqa: ARG002, N803 - Spark's name
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: N803 - Spark's name
    ) -> Iterator[Row]:
        changes = self._restored()
        yield from map(_row, changes.due(expiredTimerInfo.getExpiryTimeInMs()))
        self._store(changes)

    def _restored(self) -> HeldChanges:
        found = self._state.get()
        held = [] if found is None else [_restored_change(each) for each in found[0]]
        return HeldChanges(*self._limits, held)

    def _store(self, changes: HeldChanges) -> None:
        if not changes.held:
            self._state.clear()
            return
        rows = [Row(**_columns(each), **{_DUE: each.due_ms}) for each in changes.held]
        self._state.update((rows,))


def _restored_change(stored: Row) -> HeldChange:
    key, value, millis, headers, due_ms = stored
    return HeldChange(plain(key), plain(value), millis, plain(headers), due_ms)


def _columns(change: HeldChange) -> dict[str, object]:
    return {
        KEY: change.key,
        VALUE: change.value,
        MILLIS: change.millis,
        HEADERS: change.headers,
    }


def _row(change: HeldChange) -> Row:
    return Row(**_columns(change))
