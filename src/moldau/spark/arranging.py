"""Arranges the rows of a micro-batch so that each partition of a topic is written by one task."""

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

from moldau.client.producer.admission import bulk_batch_size
from moldau.spark.bundles import COLUMNS, Division, bundled
from moldau.spark.sink_columns import SinkColumns
from moldau.spark.sink_options import SinkOptions
from moldau.spark.topic_sizes import partition_count

_BINARY = ("key", "value")


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
    known_count: int | None,
    task_count: int,
) -> DataFrame:
    """One shuffle: bundles of rows of one partition come together in the task that writes it.

    Of topics that are a column, workers ask how many partitions they have.
    """

    def count_of(topic: str) -> int:
        return partition_count(topic, options) if known_count is None else known_count

    batch_size = bulk_batch_size(options.settings())
    division = Division(columns, task_count, count_of, batch_size)

    def bundle(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return bundled(batches, division)

    return frame.mapInArrow(bundle, COLUMNS).repartitionById(task_count, sql.col("task"))
