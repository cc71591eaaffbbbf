"""Processors inside Spark: one state store, timers, records in order."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    ListState,
    MapState,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
    ValueState,
)
from pyspark.sql.types import DataType, LongType, StructField, StructType

from moldau.streams.compile.compilation import Compilation
from moldau.streams.compile.failures import FailedStep
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
from moldau.streams.nodes.processors import Process
from moldau.streams.processors import (
    Headers,
    ListStore,
    MapStore,
    Processor,
    Record,
    Time,
    ValueStore,
)

_GROUP = "group"
MODES: dict[Time, str] = {"event": "EventTime", "processing": "ProcessingTime", "none": "None"}


def processed(node: Process, compilation: Compilation) -> DataFrame:
    """What a processor gives for records and timers."""
    frame = compilation.keyed_parent(node)
    if node.processor.time == "event":
        frame = frame.withWatermark(TIMESTAMP, f"{node.processor.grace_ms} milliseconds")
    millis = f.unix_millis(TIMESTAMP).alias(MILLIS)
    # Without the column of times Spark drops no late records: processors get all there are.
    rows = frame.select(f.col(KEY).alias(_GROUP), KEY, VALUE, millis, HEADERS, PLACE)
    output = StructType(
        [
            StructField(KEY, _type(node.returns_key, rows.schema[KEY].dataType)),
            StructField(VALUE, _type(node.returns, rows.schema[VALUE].dataType)),
            StructField(MILLIS, LongType()),
            rows.schema[HEADERS],
        ]
    )
    results = rows.groupBy(_GROUP).transformWithState(
        Processing(node.processor, compilation.failed_step(node)),
        output,
        "update",
        MODES[node.processor.time],
    )
    timed = results.withColumn(TIMESTAMP, f.timestamp_millis(MILLIS))
    place = place_of_result(node.name).alias(PLACE)
    return timed.select(KEY, VALUE, TIMESTAMP, HEADERS, place)


class Processing(StatefulProcessor):
    """Lets a processor of the user work on the state that Spark gives it."""

    def __init__(self, processor: Processor, step: FailedStep) -> None:
        self._processor = processor
        self._step = step

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._stores = {
            name: _opened(handle, name, store) for name, store in self._processor.stores.items()
        }

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: tuple[object],  # noqa: ARG002 - each row has it
        rows: Iterator[Row],
        timerValues: TimerValues,  # noqa: N803 - Spark's name
    ) -> Iterator[Row]:
        context = self._context(timerValues)
        for row in in_order(rows):
            record = Record(row.key, row.value, row.millis, headers_of(row.headers))
            try:
                made = list(self._processor.process(record, context))
            except Exception as error:  # noqa: BLE001 - whatever the user's processor raises
                self._step.handle(row.place, row.key, row.value, error)
            else:
                yield from _rows(made)

    def handleExpiredTimer(  # noqa: N802 - Spark's name
        self,
        key: tuple[object],
        timerValues: TimerValues,  # noqa: N803 - Spark's name
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: N803 - Spark's name
    ) -> Iterator[Row]:
        time_ms = expiredTimerInfo.getExpiryTimeInMs()
        context = self._context(timerValues)
        yield from _rows(self._processor.on_timer(plain(key[0]), time_ms, context))

    def _context(self, times: TimerValues) -> "SparkContextOfKey":
        match self._processor.time:
            case "event":
                now_ms = times.getCurrentWatermarkInMs()
            case "processing":
                now_ms = times.getCurrentProcessingTimeInMs()
            case "none":
                now_ms = 0
        return SparkContextOfKey(self._handle, self._stores, now_ms)


@dataclass(frozen=True, slots=True)
class ValueInSpark:
    """A value in Spark's state."""

    state: ValueState

    def get(self) -> object:
        found = self.state.get()
        return None if found is None else plain(found[0])

    def put(self, value: object) -> None:
        self.state.update((value,))

    def delete(self) -> None:
        self.state.clear()


@dataclass(frozen=True, slots=True)
class ListInSpark:
    """A list in Spark's state."""

    state: ListState

    def get(self) -> list[object]:
        return [plain(each[0]) for each in self.state.get()] if self.state.exists() else []

    def append(self, value: object) -> None:
        self.state.appendValue((value,))

    def delete(self) -> None:
        self.state.clear()


@dataclass(frozen=True, slots=True)
class MapInSpark:
    """A dictionary in Spark's state."""

    state: MapState

    def get(self, key: object) -> object:
        found = self.state.getValue((key,)) if self.state.containsKey((key,)) else None
        return None if found is None else plain(found[0])

    def put(self, key: object, value: object) -> None:
        self.state.updateValue((key,), (value,))

    def delete(self, key: object) -> None:
        self.state.removeKey((key,))

    def items(self) -> Iterator[tuple[object, object]]:
        for key, value in self.state.iterator():
            yield plain(key[0]), plain(value[0])


Opened = ValueInSpark | ListInSpark | MapInSpark


@dataclass(frozen=True, slots=True)
class SparkContextOfKey:
    """Stores and timers of the key that is at work."""

    handle: StatefulProcessorHandle
    stores: dict[str, Opened]
    now_ms: int

    def value(self, store: str) -> ValueInSpark:
        found = self._store(store)
        if not isinstance(found, ValueInSpark):
            raise TypeError(f"the store {store!r} is no ValueStore")
        return found

    def list(self, store: str) -> ListInSpark:
        found = self._store(store)
        if not isinstance(found, ListInSpark):
            raise TypeError(f"the store {store!r} is no ListStore")
        return found

    def map(self, store: str) -> MapInSpark:
        found = self._store(store)
        if not isinstance(found, MapInSpark):
            raise TypeError(f"the store {store!r} is no MapStore")
        return found

    def set_timer(self, time_ms: int) -> None:
        # What a late record sets may be over: Spark takes only what is to come.
        self.handle.registerTimer(max(time_ms, self.now_ms + 1))

    def delete_timer(self, time_ms: int) -> None:
        self.handle.deleteTimer(time_ms)

    def _store(self, name: str) -> Opened:
        if name not in self.stores:
            known = ", ".join(self.stores) or "none"
            raise KeyError(f"the processor has no store {name!r}; its stores: {known}")
        return self.stores[name]


def _opened(
    handle: StatefulProcessorHandle, name: str, store: ValueStore | ListStore | MapStore
) -> Opened:
    match store:
        case ValueStore(of):
            return ValueInSpark(handle.getValueState(name, _column(of)))
        case ListStore(of):
            return ListInSpark(handle.getListState(name, _column(of)))
        case MapStore(key_type, value_type):
            types = (_column(key_type), _column(value_type))
            return MapInSpark(handle.getMapState(name, *types))


def _column(of: str) -> str:
    """States are structs; workers cannot parse types, but the JVM does it for them."""
    return f"{VALUE} {of}"


def _type(declared: str | None, found: DataType) -> DataType:
    if declared is None:
        return found
    parsed = StructType.fromDDL(_column(declared))
    assert isinstance(parsed, StructType)
    return parsed[VALUE].dataType


def headers_of(found: Iterable[Mapping[str, Any]] | None) -> Headers:
    """Headers as Spark gives them, each a struct."""
    return tuple((each[KEY], as_bytes(each[VALUE])) for each in found or ())


def as_bytes(value: bytes | bytearray | None) -> bytes | None:
    return None if value is None else bytes(value)


def _rows(records: Iterable[Record]) -> Iterator[Row]:
    for record in records:
        headers = [Row(**{KEY: name, VALUE: value}) for name, value in record.headers]
        times = {MILLIS: record.timestamp_ms, HEADERS: headers or None}
        yield Row(**{KEY: record.key, VALUE: record.value, **times})
