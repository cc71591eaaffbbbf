"""Rows encoded as batches of one partition each, so that a shuffle moves batches, not rows.

A bundle is a row of its own: the task that writes it, its topic and partition, and a batch of
records as a broker stores them, but for its header. Spark copies it as a whole, where single rows
would be taken apart and put together again three times; the task that writes it has only to add
the header.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple
from zlib import crc32

import pyarrow as pa

from moldau.client.arrow.sending import new_records, slices_of
from moldau.model import TopicPartition
from moldau.records.building import BuiltRecords, NewRecords, build_batches, order_by_partition
from moldau.runtime.clock import SystemClock
from moldau.runtime.random import SystemRandom
from moldau.spark.parts import parts_of, table_columns
from moldau.spark.sink_columns import SinkColumns
from moldau.spark.worker import settle

COLUMNS = (
    "task int, topic string, partition int, count int, base_timestamp bigint, "
    "max_timestamp bigint, records binary"
)
_SCHEMA = pa.schema(
    [
        ("task", pa.int32()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("count", pa.int32()),
        ("base_timestamp", pa.int64()),
        ("max_timestamp", pa.int64()),
        ("records", pa.binary()),
    ]
)
_turns = count(SystemRandom().below(1000))
"""Rows without a key go to one partition after the other, batch by batch."""


@dataclass(frozen=True, slots=True)
class Division:
    """How rows are divided: which columns they have, how many tasks write them, in what batches."""

    columns: SinkColumns
    task_count: int
    count_of: Callable[[str], int]
    """How many partitions a topic has."""
    batch_size: int

    def task_of(self, target: TopicPartition) -> int:
        """The task that writes a partition; those of one topic are spread evenly."""
        return (crc32(target.topic.encode()) + target.partition) % self.task_count


class Bundle(NamedTuple):
    """A batch, and where it goes."""

    target: TopicPartition
    records: BuiltRecords


def bundled(batches: Iterator[pa.RecordBatch], division: Division) -> Iterator[pa.RecordBatch]:
    """The rows of a task as bundles; those of one partition keep their order."""
    settle()
    for batch in batches:
        for target, records, order in _divided(batch, division):
            for built in build_batches(records, division.batch_size, order):
                yield _row(Bundle(target, built), division)


def unbundled(batches: Iterator[pa.RecordBatch]) -> Iterator[Bundle]:
    """What is in bundles, in their order."""
    for batch in batches:
        _, topics, partitions, counts, first, last, records = batch.columns
        for row in range(batch.num_rows):
            # The header is written in its place, and Arrow's memory is not ours.
            data = memoryview(bytearray(records[row].as_buffer()))
            built = BuiltRecords(data, counts[row].as_py(), first[row].as_py(), last[row].as_py())
            yield Bundle(TopicPartition(topics[row].as_py(), partitions[row].as_py()), built)


def _divided(
    batch: pa.RecordBatch, division: Division
) -> Iterator[tuple[TopicPartition, NewRecords, memoryview | None]]:
    """The rows of a batch by their partitions: which of them go there, None for all."""
    now_ms = SystemClock().now_ms()
    names = table_columns(division.columns)
    for topic, partition, found in parts_of(batch, division.columns, now_ms=now_ms):
        for piece in slices_of(found):
            records = new_records(piece, names, now_ms)
            if partition is not None:
                yield TopicPartition(topic, partition), records, None
                continue
            for number, order in _by_keys(records, division.count_of(topic)):
                yield TopicPartition(topic, number), records, order


def _by_keys(records: NewRecords, partition_count: int) -> Iterator[tuple[int, memoryview | None]]:
    """Rows by the hash of their keys, as Java's clients have it; those without one together."""
    keyless = next(_turns) % partition_count
    if records.keys is None:
        yield keyless, None
        return
    for number, order in enumerate(order_by_partition(records.keys, partition_count, keyless)):
        if len(order):
            yield number, order


def _row(bundle: Bundle, division: Division) -> pa.RecordBatch:
    target, records = bundle
    ends = pa.array([0, records.size], pa.int32()).buffers()[1]
    data = pa.Array.from_buffers(pa.binary(), 1, [None, ends, pa.py_buffer(records.memory)])
    values = (
        division.task_of(target),
        target.topic,
        target.partition,
        records.count,
        records.base_timestamp,
        records.max_timestamp,
    )
    columns = [pa.array([value], each.type) for value, each in zip(values, _SCHEMA, strict=False)]
    return pa.RecordBatch.from_arrays([*columns, data], schema=_SCHEMA)
