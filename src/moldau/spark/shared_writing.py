"""What a task does within the transaction of a micro-batch: write rows that are only its own."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import cycle

import pyarrow as pa
from pyspark import TaskContext

from moldau.model import TopicPartition
from moldau.records.batch import Producer as ProducerIdentity
from moldau.runtime.clock import SystemClock
from moldau.spark.bundles import unbundled
from moldau.spark.deliveries import Deliveries
from moldau.spark.joining import JoinedProducer
from moldau.spark.parts import parts_of, table_columns
from moldau.spark.sink_columns import SinkColumns
from moldau.spark.sink_options import SinkOptions
from moldau.spark.worker import settle

REPORT = "stage int, topic string, partition int, rows bigint"
"""What a task reports of each partition that it wrote to."""

_REPORT = pa.schema(
    [("stage", pa.int32()), ("topic", pa.string()), ("partition", pa.int32()), ("rows", pa.int64())]
)


class RepeatedTask(Exception):
    """A task was started again; what its first attempt wrote looks like its own."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What every task of a micro-batch needs to know."""

    options: SinkOptions
    columns: SinkColumns
    transactional_id: str
    identity: ProducerIdentity
    owned: tuple[tuple[int, ...], ...] = ()
    """The partitions that each task writes to, where rows do not say theirs; else they come as
    bundles."""


def write_in_transaction(batches: Iterator[pa.RecordBatch], plan: Plan) -> Iterator[pa.RecordBatch]:
    """Write all rows, and yield one report once they are stored.

    A broker takes rows with numbers that it has seen for a repetition and drops them, whatever
    they are. So there must be no second attempt: it is refused before it sends anything.
    """
    settle()
    task = TaskContext.get()
    assert task is not None, "Spark calls this in a task"
    if task.attemptNumber() > 0:
        raise RepeatedTask(
            f"attempt {task.attemptNumber()} of task {task.partitionId()} in stage "
            f"{task.stageId()} writes nothing: the micro-batch is repeated as a whole; why the "
            "first attempt ended, Spark's log says at 'Lost task' of this stage"
        )
    owned = cycle(plan.owned[task.partitionId()]) if plan.owned else None
    counts = _write(batches, plan, owned)
    yield pa.RecordBatch.from_arrays(
        [
            pa.array([task.stageId()] * len(counts), pa.int32()),
            pa.array([topic for topic, _ in counts], pa.string()),
            pa.array([partition for _, partition in counts], pa.int32()),
            pa.array(list(counts.values()), pa.int64()),
        ],
        schema=_REPORT,
    )


def _write(
    batches: Iterator[pa.RecordBatch], plan: Plan, owned: Iterator[int] | None
) -> dict[TopicPartition, int]:
    columns = table_columns(plan.columns)
    deliveries = Deliveries()
    counts: dict[TopicPartition, int] = {}
    producer: JoinedProducer | None = None
    with ExitStack() as stack:
        for target, found in unbundled(batches) if owned is None else _rows(batches, plan, owned):
            if producer is None:  # many tasks have no rows, and need no connection
                settings = plan.options.settings(plan.transactional_id)
                producer = stack.enter_context(JoinedProducer(settings, plan.identity))
            if isinstance(found, pa.RecordBatch):
                sent = producer.send(target, found, columns)
            else:
                sent = producer.send_batch(target, found)
            deliveries.add(sent)
            counts[target] = counts.get(target, 0) + sent.row_count
        deliveries.finish()
    return counts


def _rows(
    batches: Iterator[pa.RecordBatch], plan: Plan, owned: Iterator[int]
) -> Iterator[tuple[TopicPartition, pa.RecordBatch]]:
    """Rows that may go to any partition, to those of the task in turn."""
    clock = SystemClock()
    for batch in batches:
        for topic, _, rows in parts_of(batch, plan.columns, now_ms=clock.now_ms()):
            if rows.num_rows:
                yield TopicPartition(topic, next(owned)), rows
