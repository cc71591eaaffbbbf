"""A task writes its part as a worker would; here without Spark around it."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import pyarrow as pa
import pytest
from pyspark.sql import Row

from moldau.connect.connector import Sink
from moldau.connect.errors import DataError
from moldau.connect.spark import sink_tasks
from moldau.connect.spark.reports import TaskOutcome, outcome
from moldau.connect.spark.sink_tasks import KEPT_MAX, SinkPlan, records_of_batch, write_part
from moldau.connect.worker.settings import WorkerSettings
from moldau.model import TopicPartition

TEXT = {"key.converter": "String", "value.converter": "String"}


class Noting(Sink):
    """Keeps what it gets where tests find it; refuses `bad`."""

    made: ClassVar[list["Noting"]] = []

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self.values: list[object] = []
        self.is_closed = False
        self.made.append(self)

    def write(self, table: pa.Table, batch_id: int) -> None:
        values = table.column("value").to_pylist()
        if "bad" in values:
            raise DataError("bad is not stored")
        self.values += values

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture(autouse=True)
def made() -> Iterator[list[Noting]]:
    yield Noting.made
    Noting.made.clear()
    sink_tasks._kept.clear()


def rows(*values: bytes, first: int = 0, partition: int = 0) -> pa.RecordBatch:
    count = len(values)
    header = [{"key": "h", "value": b"1"}]
    return pa.RecordBatch.from_pydict(
        {
            "topic": ["t"] * count,
            "partition": pa.array([partition] * count, pa.int32()),
            "offset": range(first, first + count),
            "timestamp": pa.array([1_500_999] * count, pa.timestamp("us", tz="UTC")),
            "key": pa.array([None] * count, pa.binary()),
            "value": pa.array(values, pa.binary()),
            "headers": [header, *[None] * (count - 1)],
        }
    )


def plan(run: str = "r", **config: str) -> SinkPlan:
    return SinkPlan(run, "c", Noting, config, WorkerSettings(TEXT))


def write(batches: list[pa.RecordBatch], wanted: SinkPlan) -> TaskOutcome:
    reports = write_part(iter(batches), wanted)
    return outcome(Row(**row) for each in reports for row in each.to_pylist())


def test_rows_are_the_records_that_a_consumer_has() -> None:
    one, two = records_of_batch(rows(b"a", b"b", first=7, partition=2))
    assert one.astuple() == ("t", 2, 7, 1500, None, b"a", (("h", b"1"),))
    assert two.headers == ()


def test_a_task_reports_how_far_each_partition_is(made: list[Noting]) -> None:
    found = write([rows(b"a", b"b"), rows(b"c", partition=1, first=4)], plan())
    assert found.offsets == {TopicPartition("t", 0): 2, TopicPartition("t", 1): 5}
    assert found.failure is None
    assert [each.values for each in made] == [["a", "b", "c"]]


def test_the_next_task_of_a_run_has_the_sink_that_is_open(made: list[Noting]) -> None:
    write([rows(b"a")], plan())
    write([], plan())
    write([rows(b"b", first=1)], plan())
    assert [each.values for each in made] == [["a", "b"]]
    write([rows(b"b", first=1)], plan("another"))
    assert len(made) == 2
    for number in range(KEPT_MAX):
        write([rows(b"c")], plan(str(number)))
    assert [each.is_closed for each in made] == [True, True, *[False] * KEPT_MAX]


def test_an_error_is_reported_and_nothing_behind_it_is_written(made: list[Noting]) -> None:
    found = write([rows(b"a"), rows(b"bad", first=1), rows(b"b", first=2)], plan())
    assert found.offsets == {TopicPartition("t", 0): 1}
    assert isinstance(found.failure, DataError)
    assert "in t-0 at offset 1" in str(found.failure)
    assert [each.values for each in made] == [["a"]]
    assert made[0].is_closed
    assert write([rows(b"b", first=2)], plan()).failure is None


class Holding(Noting):
    """Stores what it gets by two, or at the end."""

    def settle(self, *, ends: bool = False) -> bool:
        if not ends and len(self.values) % 2:
            return False
        if "never" in self.values:
            raise DataError("never is not stored")
        return True


def test_what_a_sink_holds_back_is_stored_before_it_is_reported() -> None:
    whole = SinkPlan("h", "c", Holding, {}, WorkerSettings(TEXT))
    found = write([rows(b"a", b"b"), rows(b"c", first=2)], whole)
    assert found.offsets == {TopicPartition("t", 0): 3}
    other = SinkPlan("i", "c", Holding, {}, WorkerSettings(TEXT))
    found = write([rows(b"a", b"b"), rows(b"never", first=2)], other)
    assert found.offsets == {TopicPartition("t", 0): 2}
    assert str(found.failure) == "never is not stored"


def test_what_is_left_out_is_reported() -> None:
    lenient = {"errors.tolerance": "all", "errors.log.enable": "true"}
    for offset in (0, 1):
        found = write([rows(b"bad", first=offset)], plan(**lenient))
        assert found.skipped == [f"bad is not stored (TASK_PUT, t-0 at {offset})"]
        assert found.offsets == {TopicPartition("t", 0): offset + 1}


def test_a_plan_does_not_show_settings() -> None:
    assert "hidden" not in repr(plan(password="hidden"))
