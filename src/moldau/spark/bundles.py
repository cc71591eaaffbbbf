"""Rows bundled by the partition that they go to, so that a shuffle moves bundles, not rows.

A bundle is a row of its own: the task that writes it, its topic and partition, and its rows as
bytes, an Arrow stream. Spark copies it as a whole, where single rows would be taken apart and put
together again three times.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from zlib import crc32

import pyarrow as pa

from moldau.client.arrow.sending import TableColumns, new_records, slices_of
from moldau.model import TopicPartition
from moldau.records.building import order_by_partition
from moldau.runtime.clock import SystemClock
from moldau.runtime.random import SystemRandom
from moldau.spark.parts import Part, parts_of
from moldau.spark.sink_columns import SinkColumns
from moldau.spark.worker import settle

COLUMNS = "task int, topic string, partition int, rows binary"
BUNDLE_BYTES = 1 << 18
"""A bundle goes on when it has so much."""
HELD_BYTES_MAX = 1 << 24
"""All bundles go on when they have so much together."""
_SCHEMA = pa.schema(
    [("task", pa.int32()), ("topic", pa.string()), ("partition", pa.int32()), ("rows", pa.binary())]
)
_WRITTEN = ("key", "value", "headers", "timestamp")
_turns = count(SystemRandom().below(1000))
"""Rows without a key go to one partition after the other, batch by batch."""


@dataclass(frozen=True, slots=True)
class Division:
    """How rows are divided: which columns they have, and how many tasks write them."""

    columns: SinkColumns
    task_count: int
    count_of: Callable[[str], int]
    """How many partitions a topic has."""

    def task_of(self, target: TopicPartition) -> int:
        """The task that writes a partition; those of one topic are spread evenly."""
        return (crc32(target.topic.encode()) + target.partition) % self.task_count


@dataclass(slots=True)
class _Bundle:
    """Rows of one partition, in their order."""

    batches: list[pa.RecordBatch] = field(default_factory=list)
    size: int = 0

    def add(self, rows: pa.RecordBatch) -> None:
        self.batches.append(rows)
        self.size += rows.nbytes

    def to_bytes(self) -> pa.Buffer:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self.batches[0].schema) as stream:
            for each in self.batches:
                stream.write_batch(each)
        return sink.getvalue()


def bundled(batches: Iterator[pa.RecordBatch], division: Division) -> Iterator[pa.RecordBatch]:
    """The rows of a task as bundles; those of one partition keep their order."""
    settle()
    held: dict[TopicPartition, _Bundle] = {}
    held_bytes = 0
    for batch in batches:
        for target, rows in _divided(batch, division):
            bundle = held.setdefault(target, _Bundle())
            bundle.add(rows)
            held_bytes += rows.nbytes
            if bundle.size >= BUNDLE_BYTES:
                held_bytes -= bundle.size
                yield _row(target, held.pop(target), division)
        if held_bytes >= HELD_BYTES_MAX:
            yield from (_row(target, each, division) for target, each in held.items())
            held, held_bytes = {}, 0
    yield from (_row(target, each, division) for target, each in held.items())


def unbundled(batches: Iterator[pa.RecordBatch]) -> Iterator[Part]:
    """What is in bundles, in their order."""
    for batch in batches:
        topics, partitions = batch.column("topic"), batch.column("partition")
        for number, data in enumerate(batch.column("rows")):
            with pa.ipc.open_stream(data.as_buffer()) as stream:
                for rows in stream:
                    yield Part(topics[number].as_py(), partitions[number].as_py(), rows)


def _divided(
    batch: pa.RecordBatch, division: Division
) -> Iterator[tuple[TopicPartition, pa.RecordBatch]]:
    """The rows of a batch by their partitions, in pieces of bounded size."""
    now_ms = SystemClock().now_ms()
    for topic, partition, found in parts_of(batch, division.columns, now_ms=now_ms):
        rows = found.select([name for name in _WRITTEN if name in found.schema.names])
        for piece in slices_of(rows):
            if partition is not None:
                yield TopicPartition(topic, partition), piece
                continue
            for number, some in _by_keys(piece, division.count_of(topic)):
                yield TopicPartition(topic, number), some


def _by_keys(rows: pa.RecordBatch, partition_count: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Rows by the hash of their keys, as Java's clients have it; those without one together."""
    keyless = next(_turns) % partition_count
    if "key" not in rows.schema.names:
        yield keyless, rows
        return
    records = new_records(rows.select(["key"]), TableColumns(value=None, key="key"), 0)
    assert records.keys is not None, "there is a column of keys"
    for number, order in enumerate(order_by_partition(records.keys, partition_count, keyless)):
        if len(order):
            places = pa.Array.from_buffers(pa.int32(), len(order), [None, pa.py_buffer(order)])
            yield number, rows.take(places)


def _row(target: TopicPartition, bundle: _Bundle, division: Division) -> pa.RecordBatch:
    data = bundle.to_bytes()
    ends = pa.array([0, data.size], pa.int32()).buffers()[1]
    rows = pa.Array.from_buffers(pa.binary(), 1, [None, ends, data])
    return pa.RecordBatch.from_arrays(
        [
            pa.array([division.task_of(target)], pa.int32()),
            pa.array([target.topic], pa.string()),
            pa.array([target.partition], pa.int32()),
            rows,
        ],
        schema=_SCHEMA,
    )
