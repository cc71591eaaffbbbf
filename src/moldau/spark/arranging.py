"""Arranges the rows of a micro-batch so that each partition of a topic is written by one task."""

from collections.abc import Callable
from itertools import count

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql
from pyspark.sql.pandas.functions import arrow_udf

from moldau.client.arrow.sending import TableColumns, new_records
from moldau.client.blocking.producer import Producer
from moldau.records.building import order_by_partition
from moldau.runtime.clock import SystemClock
from moldau.runtime.random import SystemRandom
from moldau.spark.sink_columns import SinkColumns
from moldau.spark.sink_options import SinkOptions

_BINARY = ("key", "value")
_COUNT_AGE_MAX_MS = 60_000
_Client = tuple[tuple[str, str], ...]
_partition_counts: dict[tuple[_Client, str], tuple[int, int]] = {}
"""What a worker has learned: the partitions of a topic, and when."""
_turns = count(SystemRandom().below(1000))


def chosen(frame: DataFrame, columns: SinkColumns) -> DataFrame:
    """The columns that are written, as the types that records have."""
    return frame.select(
        *(
            sql.col(name).cast("binary").alias(name) if name in _BINARY else sql.col(name)
            for name in columns.names
        )
    )


def owned_partitions(
    partition_count: int, task_count: int, shift: int
) -> tuple[tuple[int, ...], ...]:
    """Which partitions each task writes to: every one has an owner, and no two share one.

    The shift lets the first tasks, which are the only ones of small batches, own others each time.
    """
    return tuple(
        tuple(
            (first + shift) % partition_count for first in range(task, partition_count, task_count)
        )
        for task in range(task_count)
    )


def by_partition(
    frame: DataFrame,
    columns: SinkColumns,
    options: SinkOptions,
    partition_count: int | None,
    task_count: int,
) -> DataFrame:
    """One shuffle: rows of one partition come together, and each row knows its partition.

    Of topics that are a column, workers ask how many partitions they have.
    """
    partition = _hashed_column(columns, options, partition_count)
    if "partition" in columns.names:
        partition = sql.coalesce(sql.col("partition"), partition)
    placed = frame.withColumn("partition", partition)
    where = sql.col("partition").cast("long")
    if columns.topic is None:
        where = where + sql.hash("topic")
    return placed.repartitionById(task_count, sql.pmod(where, sql.lit(task_count)).cast("int"))


def _hashed_column(
    columns: SinkColumns, options: SinkOptions, partition_count: int | None
) -> Column:
    def of_one_topic(keys: pa.Array) -> pa.Array:
        assert partition_count is not None, "the topic is not a column"
        return _hashed(keys, partition_count, _next_turn())

    def of_each_topic(topics: pa.Array, keys: pa.Array) -> pa.Array:
        return partitions_of_keys(topics, keys, lambda topic: _count(topic, options), _next_turn())

    key = sql.col("key") if "key" in columns.names else sql.lit(None).cast("binary")
    if columns.topic is not None:
        found: Column = arrow_udf(of_one_topic, "int")(key)  # type: ignore[call-overload]
    else:
        topic = sql.col("topic")
        found = arrow_udf(of_each_topic, "int")(topic, key)  # type: ignore[call-overload]
    return found


def _next_turn() -> int:
    # Functions within functions travel with what they name: this one lets the turns stay here.
    return next(_turns)


def partitions_of_keys(
    topics: pa.Array, keys: pa.Array, count_of: Callable[[str], int], turn: int
) -> pa.Array:
    """The partition of each key, as Java's clients have it; rows without one take turns."""
    found = pa.nulls(len(topics), pa.int32())
    for topic in pc.unique(topics):
        if not topic.is_valid:
            raise ValueError("a row has no topic: it is null; or set the option 'topic'")
        numbers = _hashed(keys, count_of(topic.as_py()), turn)
        found = pc.if_else(pc.equal(topics, topic), numbers, found)
    return found


def _hashed(keys: pa.Array, partition_count: int, turn: int) -> pa.Array:
    batch = pa.RecordBatch.from_arrays([keys], ["key"])
    records = new_records(batch, TableColumns(value=None, key="key"), 0)
    assert records.keys is not None, "there is a column of keys"
    orders = order_by_partition(records.keys, partition_count, turn % partition_count)
    rows = pa.concat_arrays(
        [
            pa.Array.from_buffers(pa.int32(), len(order), [None, pa.py_buffer(order)])
            for order in orders
        ]
    )
    numbers = pa.concat_arrays(
        [
            pa.repeat(pa.scalar(number, pa.int32()), len(order))
            for number, order in enumerate(orders)
        ]
    )
    return numbers.take(pc.sort_indices(rows))


def _count(topic: str, options: SinkOptions) -> int:
    now_ms = SystemClock().monotonic_ms()
    found, at_ms = _partition_counts.get((options.client, topic), (0, 0))
    if not found or now_ms - at_ms > _COUNT_AGE_MAX_MS:
        with Producer[bytes, bytes](dict(options.client)) as producer:
            found = len(producer.partitions_of(topic))
        _partition_counts[options.client, topic] = (found, now_ms)
    return found
