"""A task writes once, or not at all."""

from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark import TaskContext

from moldau.model import TopicPartition
from moldau.records.batch import Producer as ProducerIdentity
from moldau.spark.bundles import Division, bundled
from moldau.spark.shared_writing import Plan, RepeatedTask, write_in_transaction
from moldau.spark.sink_columns import SinkColumns
from moldau.spark.transactions import BatchTransactions
from moldau.testing.broker import EmbeddedBroker
from unit.client.topics import create_topic
from unit.spark.in_transactions import committed, sink_options


@pytest.fixture
def task() -> Iterator[TaskContext]:
    context = TaskContext()
    context._stageId, context._partitionId, context._attemptNumber = 4, 1, 0
    TaskContext._setTaskContext(context)
    yield context
    TaskContext._taskContext = None


@pytest.fixture
def driver(kafka: EmbeddedBroker) -> Iterator[BatchTransactions]:
    create_topic(kafka, "t", 3)
    driver = BatchTransactions(sink_options(kafka).settings("id"))
    yield driver
    driver.close()


def plan(kafka: EmbeddedBroker, identity: ProducerIdentity, *columns: str) -> Plan:
    return Plan(sink_options(kafka), SinkColumns(columns, "t"), "id", identity)


def report(batches: Iterator[pa.RecordBatch]) -> list[dict[str, object]]:
    (batch,) = batches
    found: list[dict[str, object]] = batch.to_pylist()
    return found


@pytest.mark.usefixtures("task")
def test_free_rows_go_to_the_partitions_of_the_task(
    kafka: EmbeddedBroker, driver: BatchTransactions
) -> None:
    rows = [pa.record_batch({"value": [f"{each}-{row}" for row in range(5)]}) for each in "abc"]
    found = plan(kafka, driver.begin(), "value")
    shared = Plan(found.options, found.columns, "id", found.identity, owned=((1,), (0, 2)))
    assert report(write_in_transaction(iter(rows), shared)) == [
        {"stage": 4, "topic": "t", "partition": 0, "rows": 10},
        {"stage": 4, "topic": "t", "partition": 2, "rows": 5},
    ]
    driver.commit(0, [TopicPartition("t", 0), TopicPartition("t", 2)])
    assert committed(kafka, "t") == sorted(b"%c-%d" % (a, n) for a in b"abc" for n in range(5))


@pytest.mark.usefixtures("task")
def test_bundles_go_where_they_say(kafka: EmbeddedBroker, driver: BatchTransactions) -> None:
    rows = pa.record_batch({"value": ["a", "b", "c"], "partition": pa.array([2, 1, 2], pa.int32())})
    found = plan(kafka, driver.begin(), "value", "partition")
    bundles = bundled(iter([rows]), Division(found.columns, 1, lambda _topic: 3, 1 << 14))
    assert report(write_in_transaction(bundles, found)) == [
        {"stage": 4, "topic": "t", "partition": 2, "rows": 2},
        {"stage": 4, "topic": "t", "partition": 1, "rows": 1},
    ]
    driver.commit(0, [TopicPartition("t", 1), TopicPartition("t", 2)])
    assert committed(kafka, "t") == [b"a", b"b", b"c"]


@pytest.mark.usefixtures("task")
def test_a_task_without_rows_reports_nothing_and_asks_nobody(kafka: EmbeddedBroker) -> None:
    nobody = plan(kafka, ProducerIdentity(1, 1, -1), "value", "partition")
    assert report(write_in_transaction(iter([]), nobody)) == []


def test_a_second_attempt_writes_nothing(kafka: EmbeddedBroker, task: TaskContext) -> None:
    task._attemptNumber = 1
    with pytest.raises(RepeatedTask, match="attempt 1 of task 1 in stage 4 writes nothing"):
        next(write_in_transaction(iter([]), plan(kafka, ProducerIdentity(1, 1, -1), "value")))
