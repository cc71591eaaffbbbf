"""What tasks report is added up; the job itself is tested with Spark, in tests/conformance."""

import pytest
from pyspark.sql import Row

from moldau.model import TopicPartition
from moldau.spark.batch_job import rows_of_partitions
from moldau.spark.stages import StageRepeated


def test_reports_are_added_up() -> None:
    reports = [
        Row(stage=1, topic="t", partition=0, rows=5),
        Row(stage=1, topic="t", partition=1, rows=6),
    ]
    assert rows_of_partitions(reports) == {TopicPartition("t", 0): 5, TopicPartition("t", 1): 6}


def test_two_writers_of_one_partition_are_found() -> None:
    report = Row(stage=1, topic="t", partition=0, rows=5)
    with pytest.raises(StageRepeated, match="t-0 was written to by two tasks"):
        rows_of_partitions([report, report])
