"""Changes of a table as what they take away and what they add, for groups of tables."""

from collections.abc import Iterator

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import DataType, IntegerType, StructField, StructType

from moldau.streams.compile.compilation import Compilation
from moldau.streams.compile.expressions import pair
from moldau.streams.compile.folding import MILLIS, plain
from moldau.streams.compile.ordering import in_order
from moldau.streams.compile.records import HEADERS, KEY, PLACE, SIGN, TIMESTAMP, VALUE, no_headers
from moldau.streams.nodes import nodes

_MAPPED = "mapped"


def changes(node: nodes.Changes, compilation: Compilation) -> DataFrame:
    """Under the new keys, the old value of each row with sign -1 and the new one with sign 1."""
    frame = compilation.keyed_parent(node).filter(f.col(KEY).isNotNull())
    mapped = f.when(f.col(VALUE).isNotNull(), pair(node.mapper)).alias(_MAPPED)
    rows = frame.select(KEY, mapped, PLACE, f.unix_millis(TIMESTAMP).alias(MILLIS))
    check_mapped(rows.schema[_MAPPED].dataType)
    kept = StructType([rows.schema[_MAPPED]])
    output = StructType(
        [*kept.fields, rows.schema[PLACE], rows.schema[MILLIS], StructField(SIGN, IntegerType())]
    )
    results = rows.groupBy(KEY).transformWithState(Differences(kept), output, "update", "none")
    return results.filter(f.col(f"{_MAPPED}.key").isNotNull()).select(
        f.col(f"{_MAPPED}.key").alias(KEY),
        f.col(f"{_MAPPED}.value").alias(VALUE),
        f.timestamp_millis(MILLIS).alias(TIMESTAMP),
        no_headers().alias(HEADERS),
        PLACE,
        SIGN,
    )


def check_mapped(found: DataType) -> None:
    """TypeError unless a mapper gives a new key and a new value."""
    if isinstance(found, StructType) and found.names == [KEY, VALUE]:
        return
    raise TypeError(
        "group_by of a table needs a new key and a new value, since a change takes the old value "
        f"out of its old group: this gives {found.simpleString()}. Return a pair of columns, "
        "group_by(lambda key, value: (value.city, value.amount)), or a struct of both, "
        'group_by("struct(value.city as key, value.amount as value)"). A stream is grouped by '
        "a key alone: to_stream().group_by(...)"
    )


class Differences(StatefulProcessor):
    """Keeps the row that each key of a table had last."""

    def __init__(self, types: StructType) -> None:
        self._types = types

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._state = handle.getValueState("row", self._types)

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: tuple[object],  # noqa: ARG002 - Spark gives it
        rows: Iterator[Row],
        timerValues: object,  # noqa: ARG002, N803 - Spark's name
    ) -> Iterator[Row]:
        found = self._state.get()
        old = None if found is None else plain(found[0])
        is_changed = False
        for row in in_order(rows):
            if old is not None:
                yield _change(row, old, -1)
            if row.mapped is not None:
                yield _change(row, row.mapped, 1)
            old = row.mapped
            is_changed = True
        if not is_changed:
            return
        if old is None:
            self._state.clear()
        else:
            self._state.update((old,))


def _change(row: Row, mapped: object, sign: int) -> Row:
    # What is taken away goes before what is added.
    moved = {**row.place, "steps": [*row.place["steps"], max(sign, 0)]}
    return Row(**{_MAPPED: mapped, PLACE: moved, MILLIS: row.millis, SIGN: sign})
