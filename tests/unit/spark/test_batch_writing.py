"""Batches are written once, repeated as a whole, or given up with a reason."""

from collections.abc import Callable, Iterator
from typing import NamedTuple, cast

import pyarrow as pa
import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from moldau.client.arrow.sending import TableColumns
from moldau.model import TopicPartition
from moldau.spark.batch_writing import ATTEMPTS_MAX, BatchTooLong, BatchWriting, Run
from moldau.spark.joining import JoinedProducer
from moldau.spark.shared_writing import Plan
from moldau.spark.sink_columns import SinkColumns
from moldau.spark.stages import StageRepeated
from moldau.testing.broker import EmbeddedBroker
from unit.client.topics import create_topic
from unit.spark.in_transactions import committed, sink_options
from unit.spark.interrupted_frame import InterruptedFrame

T0 = TopicPartition("t", 0)


class Frame(NamedTuple):
    """As much of a DataFrame as is asked for, with its session and context in one."""

    values: list[str]

    @property
    def sparkSession(self) -> "Frame":  # noqa: N802 - Spark's name
        return self

    @property
    def sparkContext(self) -> "Frame":  # noqa: N802 - Spark's name
        return self

    @property
    def _jvm(self) -> InterruptedFrame:
        return InterruptedFrame()

    def getLocalProperty(self, name: str) -> str:  # noqa: N802 - Spark's name
        assert name == "sql.streaming.queryId"
        return "query"


def frame(*values: str) -> DataFrame:
    return cast("DataFrame", Frame(list(values)))


def run(
    batch: DataFrame, plan: Plan, _batch_id: int, _count_of: Callable[[str], int]
) -> dict[TopicPartition, int]:
    """Write as a task does."""
    assert plan.transactional_id == "moldau-spark-query"
    values = cast("Frame", batch).values
    if not values:
        return {}
    settings = plan.options.settings(plan.transactional_id)
    with JoinedProducer(settings, plan.identity) as producer:
        producer.send(T0, pa.record_batch({"value": values}), TableColumns()).result(10)
    return {T0: len(values)}


@pytest.fixture
def make(kafka: EmbeddedBroker) -> Iterator[Callable[..., BatchWriting]]:
    create_topic(kafka, "t", 1)
    made: list[BatchWriting] = []

    def make_one(run_batch: Run = run, **options: str) -> BatchWriting:
        columns = SinkColumns(("value",), "t")
        made.append(BatchWriting(sink_options(kafka, **options), columns, run_batch))
        return made[-1]

    yield make_one
    for each in made:
        each.close()


def test_a_batch_that_comes_again_is_passed_over(
    kafka: EmbeddedBroker, make: Callable[..., BatchWriting]
) -> None:
    make().write(frame("a", "b"), 0)
    again = make()
    again.write(frame("a", "b"), 0)
    again.write(frame("c"), 1)
    again.write(frame(), 2)
    assert committed(kafka, "t") == [b"a", b"b", b"c"]


def test_a_batch_that_failed_half_way_is_repeated_as_a_whole(
    kafka: EmbeddedBroker, make: Callable[..., BatchWriting]
) -> None:
    failures = [PySparkException("a task failed"), StageRepeated("a stage was started again")]

    def fail_twice(
        batch: DataFrame, plan: Plan, batch_id: int, count_of: Callable[[str], int]
    ) -> dict[TopicPartition, int]:
        written = run(batch, plan, batch_id, count_of)
        if failures:
            raise failures.pop()
        return written

    make(fail_twice).write(frame("a", "b"), 0)
    assert committed(kafka, "t") == [b"a", b"b"]


def test_a_batch_that_always_fails_is_given_up_and_not_seen(
    kafka: EmbeddedBroker, make: Callable[..., BatchWriting]
) -> None:
    attempts: list[int] = []

    def fail(
        batch: DataFrame, plan: Plan, batch_id: int, count_of: Callable[[str], int]
    ) -> dict[TopicPartition, int]:
        attempts.append(plan.identity.epoch)
        run(batch, plan, batch_id, count_of)
        raise PySparkException("no use")

    with pytest.raises(PySparkException, match="no use"):
        make(fail).write(frame("a"), 0)
    assert len(set(attempts)) == ATTEMPTS_MAX
    assert committed(kafka, "t") == []
    stopped = make(fail)
    stopped.is_wanted = lambda: False
    with pytest.raises(Py4JError, match="InterruptedException"):
        stopped.write(frame("a"), 0)
    assert len(attempts) == ATTEMPTS_MAX + 1


def test_a_batch_whose_data_is_to_blame_is_tried_once(
    make: Callable[..., BatchWriting],
) -> None:
    attempts: list[int] = []

    def fail(
        _batch: DataFrame, _plan: Plan, batch_id: int, _count_of: Callable[[str], int]
    ) -> dict[TopicPartition, int]:
        attempts.append(batch_id)
        raise PySparkException("moldau.streams.errors.StepFailed: map failed on t-0 at offset 3")

    with pytest.raises(PySparkException, match="StepFailed"):
        make(fail).write(frame("a"), 0)
    assert attempts == [0]


def test_a_batch_that_takes_too_long_names_the_remedy(
    make: Callable[..., BatchWriting],
) -> None:
    def wait(
        _batch: DataFrame, plan: Plan, batch_id: int, count_of: Callable[[str], int]
    ) -> dict[TopicPartition, int]:
        raise PySparkException(f"{plan.identity} is not the producer any more")

    slow = make(wait, **{"kafka.transaction.timeout.ms": "1"})
    with pytest.raises(BatchTooLong, match="maxOffsetsPerTrigger"):
        slow.write(frame("a"), 0)


def test_an_idle_query_is_renewed_even_before_its_first_batch(
    kafka: EmbeddedBroker, make: Callable[..., BatchWriting]
) -> None:
    make().write(frame("a"), 3)
    idle = make()
    idle.renew("query")
    idle.write(frame("a"), 3)
    assert committed(kafka, "t") == [b"a"]
