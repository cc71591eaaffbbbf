"""Tasks report by rows how far they came."""

import pyarrow as pa
from pyspark.sql import Row

from moldau.connect.errors import DataError
from moldau.connect.spark.reports import SKIPPED_MAX, TaskOutcome, outcome, report
from moldau.model import TopicPartition

A, B = TopicPartition("t", 0), TopicPartition("t", 1)


def through_spark(*reports: pa.RecordBatch) -> TaskOutcome:
    return outcome(Row(**row) for each in reports for row in each.to_pylist())


def test_reports_of_all_tasks_are_one() -> None:
    found = through_spark(
        report({A: 5}, [], None),
        report({B: 7}, ["one"], DataError("first")),
        report({}, [], DataError("second")),
        report({}, [], None),
    )
    assert found.offsets == {A: 5, B: 7}
    assert found.skipped == ["one"]
    assert isinstance(found.failure, DataError)
    assert str(found.failure) == "first"


def test_a_report_of_very_many_records_stays_small() -> None:
    found = through_spark(report({}, ["x"] * (SKIPPED_MAX + 3), None))
    assert found.failure is None
    assert len(found.skipped) == SKIPPED_MAX + 1
    assert found.skipped[-1] == "3 more records were left out"
