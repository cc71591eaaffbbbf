"""A round reads a share of partitions on; here without Spark around it."""

from collections.abc import Sequence

import pytest

from moldau.client.blocking.consumer import Consumer
from moldau.connect.connector import Offset, Source, SourceBatch, SourcePartition
from moldau.connect.data.arrow import table_of
from moldau.connect.data.schema import STRING
from moldau.connect.errors import DataError
from moldau.connect.spark import source_tasks
from moldau.connect.spark.failures import from_text
from moldau.connect.spark.source_tasks import (
    RepeatedRound,
    RoundReport,
    Share,
    SourcePlan,
    check_first,
    read_round,
)
from moldau.connect.worker.settings import WorkerSettings
from moldau.testing.broker import EmbeddedBroker


class Numbers(Source):
    """Gives numbers up to what its settings say; beyond that of partition `bad` an error."""

    runs_anywhere = True

    def partitions(self) -> Sequence[SourcePartition]:
        return []

    def read(
        self, partition: SourcePartition, start: Offset | None, limit: int
    ) -> SourceBatch | None:
        number = int(str((start or {"n": 0})["n"]))
        if number == int(self.config["end"]):
            if partition["p"] == "bad":
                raise DataError("no more")
            return None
        table = table_of(None, STRING, [{"value": f"{partition['p']}{number}"}])
        return SourceBatch([table], {"n": number + 1})


def plan(kafka: EmbeddedBroker, end: int) -> SourcePlan:
    strings = {"key.converter": "String", "value.converter": "String"}
    settings = WorkerSettings({"bootstrap.servers": kafka.bootstrap_servers, **strings})
    return SourcePlan("c", Numbers, {"topic": "numbers", "end": str(end)}, settings)


def test_a_round_reads_all_that_is_new_and_says_how_far_it_came(kafka: EmbeddedBroker) -> None:
    share = Share(0, [({"p": "a"}, None), ({"p": "b"}, {"n": 2})])
    found = read_round(share, plan(kafka, 3))
    assert found.failure is None
    assert found.stored == [
        ({"p": "a"}, {"n": 1}),
        ({"p": "b"}, {"n": 3}),
        ({"p": "a"}, {"n": 2}),
        ({"p": "a"}, {"n": 3}),
    ]
    assert found.used == ["numbers"]
    with Consumer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
    ) as consumer:
        consumer.assign([("numbers", 0)])
        values: list[object] = []
        while len(values) < 4:
            values += [each.value for each in consumer.poll(1)]
    assert values == [b"a0", b"b2", b"a1", b"a2"]


def test_a_round_ends_when_its_time_is_up(
    kafka: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_tasks, "ROUND_S", 0.0)
    assert len(read_round(Share(0, [({"p": "a"}, None)]), plan(kafka, 9)).stored) == 1


def test_what_was_stored_before_an_error_is_reported_with_it(kafka: EmbeddedBroker) -> None:
    found = read_round(Share(0, [({"p": "bad"}, None)]), plan(kafka, 1))
    assert found.stored == [({"p": "bad"}, {"n": 1})]
    assert found.failure is not None
    error = from_text(found.failure)
    assert isinstance(error, DataError)
    assert str(error) == "no more"


class Attempt:
    """What Spark tells a task of itself."""

    def __init__(self, number: int) -> None:
        self._number = number

    def attemptNumber(self) -> int:  # noqa: N802 - Spark's name
        return self._number

    def partitionId(self) -> int:  # noqa: N802 - Spark's name
        return 2

    def stageId(self) -> int:  # noqa: N802 - Spark's name
        return 5


def test_a_second_attempt_reads_nothing() -> None:
    check_first(None)
    check_first(Attempt(0))  # type: ignore[arg-type]
    with pytest.raises(RepeatedRound, match="attempt 1 of task 2 in stage 5 reads nothing"):
        check_first(Attempt(1))  # type: ignore[arg-type]


def test_of_many_records_that_are_left_out_some_are_named() -> None:
    found = RoundReport()
    for number in range(source_tasks.SKIPPED_MAX + 5):
        found.skip(str(number))
    assert len(found.skipped) == source_tasks.SKIPPED_MAX
