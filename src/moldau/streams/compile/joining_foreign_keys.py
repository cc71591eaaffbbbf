"""Joins of tables by a foreign key, in three steps.

1. By the left table's keys: a change becomes subscriptions under its foreign keys, old and new.
2. By the foreign key: subscriptions and rows of the right table meet, and results come out.
3. By the left table's keys again: of the results for a key in a micro-batch the newest holds, since
   those under an old and a new foreign key were made apart from each other.

A version counts the changes of a key on the left; the greatest one is the newest.
"""

from collections.abc import Iterator
from typing import NamedTuple

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import (
    BooleanType,
    DataType,
    LongType,
    StructField,
    StructType,
)

from moldau.streams.compile.compilation import Compilation
from moldau.streams.compile.expressions import column
from moldau.streams.compile.folding import MILLIS, plain
from moldau.streams.compile.joined_values import LEFT, RIGHT
from moldau.streams.compile.joining_tables import (
    DELETED,
    SIDE,
    Side,
    as_records,
    is_result,
    later,
    put_side,
    side_of,
    timed_state_type,
    value_unless_deleted,
)
from moldau.streams.compile.ordering import in_order
from moldau.streams.compile.records import HEADERS, KEY, PLACE, TIMESTAMP, VALUE
from moldau.streams.nodes.joins import ForeignKeyJoin, Kind
from moldau.streams.nodes.nodes import ancestors

_FOREIGN = "foreign_key"
_PRIMARY = "primary_key"
_VERSION = "version"
_SEQUENCE = "sequence"
_SUBSCRIBES = "subscribes"  # else it ends a subscription
_SAYS_DELETION = "says_deletion"  # whether a result that is not there has to be deleted


def table_with_foreign_table(node: ForeignKeyJoin, compilation: Compilation) -> DataFrame:
    """A change of the result for each key, if the micro-batch has one."""
    rows = _meeting(node, compilation)
    output = StructType(
        [
            *(rows.schema[name] for name in (_PRIMARY, LEFT, RIGHT, _VERSION)),
            StructField(_SEQUENCE, LongType()),
            StructField(DELETED, BooleanType()),
            *(rows.schema[name] for name in (MILLIS, HEADERS, PLACE)),
        ]
    )
    primary, left, right = (rows.schema[name].dataType for name in (_PRIMARY, LEFT, RIGHT))
    met = rows.groupBy(_FOREIGN).transformWithState(
        Meeting(primary, left, right, node.kind), output, "update", "none"
    )
    again = met.repartition(_PRIMARY).groupBy(_PRIMARY)
    newest = again.transformWithState(Newest(), output, "update", "none")
    named = newest.withColumnRenamed(_PRIMARY, KEY)
    return as_records(named.withColumn(VALUE, value_unless_deleted(node)))


class Cause(NamedTuple):
    """What a result comes from, its time, and which of several is the newest."""

    row: Row
    millis: int
    version: int
    sequence: int


class Subscribing(StatefulProcessor):
    """Keeps the foreign key of each row of the left table."""

    def __init__(self, foreign_type: DataType) -> None:
        self._foreign_type = foreign_type

    def init(self, handle: StatefulProcessorHandle) -> None:
        types = [StructField(_FOREIGN, self._foreign_type), StructField(_VERSION, LongType())]
        self._row = handle.getValueState("row", StructType(types))

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: tuple[object],
        rows: Iterator[Row],
        timerValues: object,  # noqa: ARG002, N803
    ) -> Iterator[Row]:
        old = self._row.get()
        version = 0 if old is None else old[1]
        for row in in_order(rows):
            version += 1
            if old is not None and (row.left is None or old[0] != row.foreign_key):
                is_gone = row.left is None
                target = (old[0], version)
                yield _subscription(key[0], row, target, subscribes=False, says_deletion=is_gone)
            if row.left is not None:
                target = (row.foreign_key, version)
                has_result = old is not None
                yield _subscription(key[0], row, target, subscribes=True, says_deletion=has_result)
            old = None if row.left is None else (row.foreign_key, version)
        if old is None:
            self._row.clear()
        else:
            self._row.update(old)


class Meeting(StatefulProcessor):
    """Keeps, for each foreign key, the row of the right table and the left rows that name it."""

    def __init__(
        self, primary_type: DataType, left_type: DataType, right_type: DataType, kind: Kind
    ) -> None:
        self._primary = StructType([StructField(_PRIMARY, primary_type)])
        self._left_type = StructType(
            [StructField(LEFT, left_type), StructField(_VERSION, LongType())]
        )
        self._right_type = timed_state_type(right_type)
        self._kind = kind

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._subscribers = handle.getMapState("subscribers", self._primary, self._left_type)
        self._right = handle.getValueState("right", self._right_type)

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: tuple[object],  # noqa: ARG002
        rows: Iterator[Row],
        timerValues: object,  # noqa: ARG002, N803
    ) -> Iterator[Row]:
        right = side_of(self._right)
        for sequence, row in enumerate(in_order(rows)):
            if row.is_left:
                yield from self._subscription(row, right, sequence)
            elif row.right is not None or right.value is not None:
                right = Side(row.right, row.millis)
                put_side(self._right, right)
                yield from self._right_changed(row, sequence)

    def _subscription(self, row: Row, right: Side, sequence: int) -> Iterator[Row]:
        primary = (row.primary_key,)
        if row.subscribes:
            self._subscribers.updateValue(primary, (row.left, row.version))
        elif self._subscribers.containsKey(primary):
            self._subscribers.removeKey(primary)
        left = row.left if row.subscribes else None
        is_there = is_result(self._kind, left, right.value)
        if is_there or row.says_deletion:
            cause = Cause(row, later(row.millis, right), row.version, sequence)
            sides = (left, right.value)
            yield _result(row.primary_key, sides, cause, is_deleted=not is_there)

    def _right_changed(self, row: Row, sequence: int) -> Iterator[Row]:
        for (primary,), (kept, version) in list(self._subscribers.iterator()):
            left = plain(kept)
            is_there = is_result(self._kind, left, row.right)
            cause = Cause(row, row.millis, version, sequence)
            yield _result(plain(primary), (left, row.right), cause, is_deleted=not is_there)


class Newest(StatefulProcessor):
    """Of the results for one key, gives the newest."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Nothing is kept beyond a micro-batch."""

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: tuple[object],  # noqa: ARG002
        rows: Iterator[Row],
        timerValues: object,  # noqa: ARG002, N803
    ) -> Iterator[Row]:
        newest = max(rows, key=lambda row: (row.version, row.sequence), default=None)
        if newest is not None:
            yield newest


def _meeting(node: ForeignKeyJoin, compilation: Compilation) -> DataFrame:
    """Subscriptions and the rows of the right table, by foreign key."""
    left, right = (compilation.frame(parent) for parent in node.parents)
    foreign = f.when(f.col(VALUE).isNotNull(), column(node.foreign_key))
    changes = left.filter(f.col(KEY).isNotNull()).select(
        KEY,
        f.col(VALUE).alias(LEFT),
        foreign.alias(_FOREIGN),
        f.unix_millis(TIMESTAMP).alias(MILLIS),
        HEADERS,
        PLACE,
    )
    if any(each.is_stateful for each in ancestors(node.parents[0])):
        changes = changes.repartition(KEY)
    types = {name: changes.schema[name].dataType for name in changes.columns}
    _check_types(node, types[_FOREIGN], right.schema[KEY].dataType)
    output = StructType(
        [
            StructField(_PRIMARY, types[KEY]),
            StructField(_FOREIGN, types[_FOREIGN]),
            StructField(LEFT, types[LEFT]),
            StructField(_VERSION, LongType()),
            StructField(_SUBSCRIBES, BooleanType()),
            StructField(_SAYS_DELETION, BooleanType()),
            *(changes.schema[name] for name in (MILLIS, HEADERS, PLACE)),
        ]
    )
    subscriptions = changes.groupBy(KEY).transformWithState(
        Subscribing(types[_FOREIGN]), output, "update", "none"
    )
    ours = subscriptions.withColumn(SIDE, f.lit(True))
    theirs = right.filter(f.col(KEY).isNotNull()).select(
        f.col(KEY).alias(_FOREIGN),
        f.col(VALUE).alias(RIGHT),
        f.lit(False).alias(SIDE),
        f.unix_millis(TIMESTAMP).alias(MILLIS),
        HEADERS,
        PLACE,
    )
    return ours.unionByName(theirs, allowMissingColumns=True).repartition(_FOREIGN)


def _check_types(node: ForeignKeyJoin, named: DataType, found: DataType) -> None:
    if named != found:
        raise TypeError(
            f"{node.name}: the foreign key is {named.simpleString()}, but keys of the other table "
            f"are {found.simpleString()}"
        )


def _subscription(
    key: object, row: Row, target: tuple[object, int], *, subscribes: bool, says_deletion: bool
) -> Row:
    foreign_key, version = target
    # An old subscription ends before a new one begins.
    moved = {**row.place, "steps": [*row.place["steps"], int(subscribes)]}
    return Row(
        **{
            _PRIMARY: key,
            _FOREIGN: foreign_key,
            LEFT: row.left if subscribes else None,
            _VERSION: version,
            _SUBSCRIBES: subscribes,
            _SAYS_DELETION: says_deletion,
            MILLIS: row.millis,
            HEADERS: row.headers,
            PLACE: moved,
        }
    )


def _result(
    primary: object, sides: tuple[object, object], cause: Cause, *, is_deleted: bool
) -> Row:
    return Row(
        **{
            _PRIMARY: primary,
            LEFT: sides[0],
            RIGHT: sides[1],
            _VERSION: cause.version,
            _SEQUENCE: cause.sequence,
            DELETED: is_deleted,
            MILLIS: cause.millis,
            HEADERS: cause.row.headers,
            PLACE: cause.row.place,
        }
    )
