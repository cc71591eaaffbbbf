"""Joins with tables by key, as processors that keep the rows of tables."""

from collections.abc import Iterator
from typing import NamedTuple

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as f
from pyspark.sql.streaming.stateful_processor import (
    StatefulProcessor,
    StatefulProcessorHandle,
    ValueState,
)
from pyspark.sql.types import BooleanType, DataType, LongType, StructField, StructType

from moldau.streams.compile.compilation import Compilation
from moldau.streams.compile.folding import MILLIS, plain
from moldau.streams.compile.joined_values import LEFT, RIGHT, joined_value
from moldau.streams.compile.ordering import in_order
from moldau.streams.compile.records import HEADERS, KEY, PLACE, TIMESTAMP, VALUE
from moldau.streams.nodes.joins import Join, Kind, StreamTableJoin, TableJoin
from moldau.streams.nodes.nodes import ancestors

SIDE = "is_left"
DELETED = "is_deleted"


def stream_with_table(node: StreamTableJoin, compilation: Compilation) -> DataFrame:
    """A record for each of the stream that finds its row, or for each."""
    rows = both_sides(node, compilation)
    output = StructType([rows.schema[name] for name in (KEY, LEFT, RIGHT, MILLIS, HEADERS, PLACE)])
    processor = StreamTableJoining(rows.schema[RIGHT].dataType, node.kind)
    joined = rows.groupBy(KEY).transformWithState(processor, output, "update", "none")
    return as_records(joined.withColumn(VALUE, joined_value(node.joiner)))


def table_with_table(node: TableJoin, compilation: Compilation) -> DataFrame:
    """A change of the result for each change of a side that makes one."""
    rows = both_sides(node, compilation)
    names = (KEY, LEFT, RIGHT, MILLIS, HEADERS, PLACE)
    deleted = StructField(DELETED, BooleanType())
    output = StructType([*(rows.schema[name] for name in names), deleted])
    types = (rows.schema[LEFT].dataType, rows.schema[RIGHT].dataType)
    processor = TableJoining(*types, node.kind)
    joined = rows.groupBy(KEY).transformWithState(processor, output, "update", "none")
    return as_records(joined.withColumn(VALUE, value_unless_deleted(node)))


class StreamTableJoining(StatefulProcessor):
    """Keeps the row of each key of the table."""

    def __init__(self, right_type: DataType, kind: Kind) -> None:
        self._right_type = right_type
        self._kind = kind

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._right = handle.getValueState("right", _state_type(self._right_type))

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: tuple[object],
        rows: Iterator[Row],
        timerValues: object,  # noqa: ARG002, N803
    ) -> Iterator[Row]:
        right = value_of(self._right)
        for row in in_order(rows):
            if not row.is_left:
                right = row.right
                put(self._right, right)
            elif row.left is not None and (right is not None or self._kind == "left"):
                yield joined_row(key[0], row, (row.left, right), row.millis)


class Side(NamedTuple):
    """The row that a table has for a key, None without one, and its time."""

    value: object
    millis: int


class TableJoining(StatefulProcessor):
    """Keeps the rows of both tables for each key."""

    def __init__(self, left_type: DataType, right_type: DataType, kind: Kind) -> None:
        self._left_type = left_type
        self._right_type = right_type
        self._kind = kind

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._left = handle.getValueState("left", timed_state_type(self._left_type))
        self._right = handle.getValueState("right", timed_state_type(self._right_type))

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: tuple[object],
        rows: Iterator[Row],
        timerValues: object,  # noqa: ARG002, N803
    ) -> Iterator[Row]:
        left, right = side_of(self._left), side_of(self._right)
        was_there = is_result(self._kind, left.value, right.value)
        for row in in_order(rows):
            before = left if row.is_left else right
            changed = Side(row.left if row.is_left else row.right, row.millis)
            if before.value is None and changed.value is None:
                continue  # what is not there cannot be deleted
            if row.is_left:
                left = changed
                put_side(self._left, left)
            else:
                right = changed
                put_side(self._right, right)
            is_there = is_result(self._kind, left.value, right.value)
            if is_there or was_there:
                sides = (left.value, right.value)
                other = right if row.is_left else left
                millis = later(row.millis, other)
                yield joined_row(key[0], row, sides, millis, is_deleted=not is_there)
            was_there = is_there


def later(millis: int, other: Side) -> int:
    """The time of a result: that of its newer side."""
    return millis if other.value is None else max(millis, other.millis)


def is_result(kind: Kind, left: object, right: object) -> bool:
    """Whether a join has a row for these sides, null being none."""
    match kind:
        case "inner":
            return left is not None and right is not None
        case "left":
            return left is not None
        case "outer":
            return left is not None or right is not None


def both_sides(node: Join, compilation: Compilation) -> DataFrame:
    """The rows of both parents in one frame; each has null for the other side."""
    left, right = (_keyed(compilation.frame(parent)) for parent in node.parents)
    types = (left.schema[KEY].dataType, right.schema[KEY].dataType)
    if types[0] != types[1]:
        listed = " and ".join(each.simpleString() for each in types)
        raise TypeError(f"{node.name}: keys of different types cannot be joined: {listed}")
    united = _of_side(left, right.schema[VALUE].dataType, is_left=True).unionByName(
        _of_side(right, left.schema[VALUE].dataType, is_left=False)
    )
    # Two state stores cannot be in one stage: after another one the rows are shuffled anew.
    is_after_state = any(each.is_stateful for p in node.parents for each in ancestors(p))
    return united.repartition(KEY) if is_after_state else united


def value_unless_deleted(node: Join) -> Column:
    return f.when(~f.col(DELETED), joined_value(node.joiner))


def as_records(joined: DataFrame) -> DataFrame:
    timed = joined.withColumn(TIMESTAMP, f.timestamp_millis(MILLIS))
    return timed.select(KEY, VALUE, TIMESTAMP, HEADERS, PLACE)


def joined_row(
    key: object,
    cause: Row,
    sides: tuple[object, object],
    millis: int,
    *,
    is_deleted: bool | None = None,
) -> Row:
    """A result, at the place and with the headers of the record that caused it."""
    fields = {
        KEY: key,
        LEFT: sides[0],
        RIGHT: sides[1],
        MILLIS: millis,
        HEADERS: cause.headers,
        PLACE: cause.place,
    }
    if is_deleted is not None:
        fields[DELETED] = is_deleted
    return Row(**fields)


def value_of(state: ValueState) -> object:
    found = state.get()
    return None if found is None else plain(found[0])


def put(state: ValueState, value: object) -> None:
    if value is None:
        state.clear()
    else:
        state.update((value,))


def side_of(state: ValueState) -> Side:
    found = state.get()
    return Side(None, 0) if found is None else Side(plain(found[0]), found[1])


def put_side(state: ValueState, side: Side) -> None:
    if side.value is None:
        state.clear()
    else:
        state.update(tuple(side))


def timed_state_type(of: DataType) -> StructType:
    return StructType([StructField(VALUE, of), StructField(MILLIS, LongType())])


def _state_type(of: DataType) -> StructType:
    return StructType([StructField(VALUE, of)])


def _keyed(frame: DataFrame) -> DataFrame:
    return frame.filter(f.col(KEY).isNotNull())


def _of_side(frame: DataFrame, other_type: DataType, *, is_left: bool) -> DataFrame:
    value, nothing = f.col(VALUE), f.lit(None).cast(other_type)
    left, right = (value, nothing) if is_left else (nothing, value)
    return frame.select(
        KEY,
        left.alias(LEFT),
        right.alias(RIGHT),
        f.lit(is_left).alias(SIDE),
        f.unix_millis(TIMESTAMP).alias(MILLIS),
        HEADERS,
        PLACE,
    )
