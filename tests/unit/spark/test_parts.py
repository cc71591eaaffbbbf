"""Rows are taken apart by topic and partition, and keep their order."""

from datetime import UTC, datetime

import pyarrow as pa
import pytest

from moldau.client.arrow.sending import TableColumns
from moldau.spark.parts import parts_of, table_columns
from moldau.spark.sink_columns import SinkColumns


def values(rows: pa.RecordBatch) -> list[str]:
    found: list[str] = rows.column("value").to_pylist()
    return found


def test_one_topic_without_partitions_is_one_part() -> None:
    batch = pa.record_batch({"value": ["a", "b"]})
    (part,) = parts_of(batch, SinkColumns(("value",), "t"), now_ms=0)
    assert (part.topic, part.partition) == ("t", None)
    assert part.rows is batch


def test_rows_go_by_topic_and_partition() -> None:
    batch = pa.record_batch(
        {
            "value": ["a", "b", "c", "d", "e"],
            "topic": ["x", "y", "x", "x", "y"],
            "partition": pa.array([1, None, 1, 0, None], pa.int32()),
        }
    )
    parts = parts_of(batch, SinkColumns(("value", "topic", "partition"), None), now_ms=0)
    assert {(topic, number): values(rows) for topic, number, rows in parts} == {
        ("x", 1): ["a", "c"],
        ("x", 0): ["d"],
        ("y", None): ["b", "e"],
    }


def test_a_partition_that_some_rows_lack_is_left_to_their_keys() -> None:
    batch = pa.record_batch(
        {"value": ["a", "b", "c"], "partition": pa.array([None, 2, None], pa.int32())}
    )
    parts = parts_of(batch, SinkColumns(("value", "partition"), "t"), now_ms=0)
    assert {number: values(rows) for _, number, rows in parts} == {None: ["a", "c"], 2: ["b"]}


def test_a_row_without_topic_is_refused() -> None:
    batch = pa.record_batch({"value": ["a", "b"], "topic": ["t", None]})
    with pytest.raises(ValueError, match="a row has no topic"):
        list(parts_of(batch, SinkColumns(("value", "topic"), None), now_ms=0))


def test_rows_without_a_time_have_the_present_one() -> None:
    noon = datetime(2026, 11, 16, 12, tzinfo=UTC)
    times = pa.array([noon, None], pa.timestamp("us", "UTC"))
    batch = pa.record_batch({"value": ["a", "b"], "timestamp": times})
    (part,) = parts_of(batch, SinkColumns(("value", "timestamp"), "t"), now_ms=1000)
    assert part.rows.column("timestamp").cast(pa.int64()).to_pylist() == [
        int(noon.timestamp()) * 1_000_000,
        1_000_000,
    ]


def test_columns_that_are_not_there_are_not_sent() -> None:
    assert table_columns(SinkColumns(("value",), "t")) == TableColumns()
    everything = SinkColumns(("key", "value", "headers", "timestamp"), "t")
    assert table_columns(everything) == TableColumns("value", "key", "timestamp", "headers")
