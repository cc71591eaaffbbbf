"""The Spark job of a micro-batch: its tasks write all rows, each partition by one task."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import pyarrow as pa
from pyspark.sql import DataFrame, Row

from moldau.model import TopicPartition
from moldau.spark.arranging import by_partition, chosen, owned_partitions
from moldau.spark.shared_writing import REPORT, Plan, write_in_transaction
from moldau.spark.stages import StageRepeated, check_ran_once


def run_batch(
    frame: DataFrame,
    plan: Plan,
    batch_id: int,
    count_of: Callable[[str], int],
    *,
    is_cached: bool = False,
) -> dict[TopicPartition, int]:
    """Let tasks write the rows of a frame; returns how many each partition got.

    Rows that are free to go anywhere stay where they are, and each task has partitions of its
    own; `count_of` says how many there are. Other rows are shuffled once. More tasks than there
    are cores are joined, unless the frame repeats what is cached: of two tasks with the same
    partitions one would wait for the other.
    """
    context = frame.sparkSession.sparkContext
    rows = chosen(frame, plan.columns)
    topic = plan.columns.topic
    partition_count = None if topic is None else count_of(topic)
    if plan.columns.are_free:
        assert partition_count is not None, "there is one topic"
        # How many tasks the frame has is known to a plan of it alone, which would be a second one.
        # If they are fewer, some partitions have no rows this time; the shift changes which.
        task_count = min(context.defaultParallelism, partition_count)
        owned = owned_partitions(partition_count, task_count, batch_id)
        rows, plan = rows.coalesce(len(owned)), replace(plan, owned=owned)
    else:
        tasks = min(context.defaultParallelism, partition_count or context.defaultParallelism)
        joined = rows if is_cached else rows.coalesce(context.defaultParallelism)
        rows = by_partition(joined, plan.columns, plan.options, partition_count, tasks)

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return write_in_transaction(batches, plan)

    reports = rows.mapInArrow(write, REPORT).collect()
    for stage_id in {report.stage for report in reports}:
        check_ran_once(context, stage_id)
    return rows_of_partitions(reports)


def rows_of_partitions(reports: Iterable[Row]) -> dict[TopicPartition, int]:
    """What each partition got; StageRepeated if two tasks wrote to the same."""
    found: dict[TopicPartition, int] = {}
    for report in reports:
        partition = TopicPartition(report.topic, report.partition)
        if partition in found:
            raise StageRepeated(f"{partition} was written to by two tasks")
        found[partition] = report.rows
    return found
