"""The rows of a batch, taken apart by where they go."""

from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from moldau.client.arrow.sending import TableColumns
from moldau.spark.sink_columns import SinkColumns


class Part(NamedTuple):
    """Rows for one topic; for one of its partitions, unless that is left to their keys."""

    topic: str
    partition: int | None
    rows: pa.RecordBatch


def table_columns(columns: SinkColumns) -> TableColumns:
    """What the client makes of the columns."""
    return TableColumns(
        value="value",
        key="key" if "key" in columns.names else None,
        timestamp="timestamp" if "timestamp" in columns.names else None,
        headers="headers" if "headers" in columns.names else None,
    )


def parts_of(batch: pa.RecordBatch, columns: SinkColumns, *, now_ms: int) -> Iterator[Part]:
    """The rows by topic and partition; those of a part keep their order."""
    if "timestamp" in columns.names:
        batch = _with_times(batch, now_ms)
    topics = [(columns.topic, batch)] if columns.topic is not None else _groups(batch, "topic")
    for topic, of_topic in topics:
        if topic is None:
            raise ValueError("a row has no topic: it is null; or set the option 'topic'")
        assert isinstance(topic, str), "as the schema says"
        if "partition" not in columns.names:
            yield Part(topic, None, of_topic)
            continue
        for partition, rows in _groups(of_topic, "partition"):
            assert partition is None or isinstance(partition, int), "as the schema says"
            yield Part(topic, partition, rows)


def _groups(batch: pa.RecordBatch, name: str) -> Iterator[tuple[object, pa.RecordBatch]]:
    """The rows of each value of a column."""
    column = batch.column(name)
    values = pc.unique(column)
    for value in values:
        rows = batch
        if len(values) > 1:
            same = pc.equal(column, value) if value.is_valid else pc.is_null(column)
            rows = batch.filter(pc.fill_null(same, False))
        yield value.as_py(), rows


def _with_times(batch: pa.RecordBatch, now_ms: int) -> pa.RecordBatch:
    """Rows without a time have the present one."""
    times = batch.column("timestamp")
    if not times.null_count:
        return batch
    now = pa.scalar(now_ms, pa.timestamp("ms", times.type.tz)).cast(times.type)
    place = batch.schema.get_field_index("timestamp")
    return batch.set_column(place, batch.schema.field(place), pc.fill_null(times, now))
