"""Fetched records as the Arrow batches that Spark takes."""

from array import array
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import pyarrow as pa

from moldau.client.arrow.tables import record_batch, schema_of
from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.model import TopicPartition
from moldau.records.columns import Columns, WantedColumns, decode_columns
from moldau.records.fetched import Selection, StopReason
from moldau.records.pool import MemoryPool
from moldau.spark.fetching import FetchedBytes

if TYPE_CHECKING:
    from moldau.spark.values import TypedValues, ValueOptions

BATCH_BYTES_MAX = 8 << 20
"""About so much is handed to Spark at a time; a single record may be larger."""

_TIMESTAMP = pa.timestamp("us", tz="UTC")
_DECODED = ("key", "value", "offset", "timestamp", "headers")


class BatchMaker:
    """Makes batches with these columns, in this order, of the records of one partition."""

    def __init__(
        self,
        partition: TopicPartition,
        columns: tuple[str, ...],
        value: "ValueOptions | None" = None,
    ) -> None:
        self._partition = partition
        self._columns = columns
        self._wanted = WantedColumns(
            "key" in columns, "value" in columns, "headers" in columns, BATCH_BYTES_MAX
        )
        self._schema = schema_of([name for name in columns if name in _DECODED] or ["offset"])
        self._pool = MemoryPool()
        self._same = _SameInAllRows(partition)
        self._values = None if value is None else _typed(value)

    def batches(self, fetched: FetchedBytes) -> Iterator[pa.RecordBatch]:
        """All that is wanted of an answer, in pieces."""
        data, selection = fetched.data, fetched.selection
        while True:
            columns = self._decode(data, selection)
            if columns.row_count:
                yield from _bounded(self._batch(columns))
            if columns.stop is not StopReason.SIZE_LIMIT:
                return
            data = data[columns.position :]
            selection = columns.selection_left

    def _decode(self, data: memoryview, selection: Selection) -> Columns:
        try:
            return decode_columns(
                data, selection, wanted=self._wanted, allocate=self._pool.allocate
            )
        except ProtocolError as error:
            reason = f"{self._partition} at {selection.start_offset}: {error}"
            raise KafkaError(ErrorCode.CORRUPT_MESSAGE, reason) from error

    def _batch(self, columns: Columns) -> pa.RecordBatch:
        count = columns.row_count
        decoded = record_batch(columns, self._partition, self._schema)
        arrays = []
        for name in self._columns:
            if name == "topic":
                arrays.append(self._same.topics(count))
            elif name == "partition":
                arrays.append(self._same.partitions(count))
            elif name == "timestampType":
                kinds = [None, pa.py_buffer(columns.timestamp_types)]
                arrays.append(pa.Array.from_buffers(pa.int8(), count, kinds).cast(pa.int32()))
            elif name == "headers":
                arrays.append(_without_empty(decoded.column(name)))
            elif name == "timestamp":
                arrays.append(decoded.column(name).cast(_TIMESTAMP))
            elif name == "value" and self._values is not None:
                arrays.append(self._decode_values(self._values, columns, decoded.column(name)))
            else:
                arrays.append(decoded.column(name))
        return pa.RecordBatch.from_arrays(arrays, list(self._columns))

    def _decode_values(
        self, values: "TypedValues", columns: Columns, encoded: pa.Array
    ) -> pa.Array:
        try:
            return values.decode(encoded)
        except ValueError as error:
            advice = "with badValues=null such values are read as null"
            first = columns.offsets[0]
            raise ValueError(
                f"{self._partition}, rows from offset {first}: {error}; {advice}"
            ) from error


def _without_empty(headers: pa.ListArray) -> pa.ListArray:
    """Null where there are none, as Spark's own source has it."""
    import pyarrow.compute as pc  # noqa: PLC0415 - most queries read no headers

    is_empty = pc.invert(pc.list_value_length(headers).cast(pa.bool_()))
    return pa.ListArray.from_arrays(
        headers.offsets, headers.values, type=headers.type, mask=is_empty
    )


def _typed(value: "ValueOptions") -> "TypedValues":
    from moldau.spark.values import TypedValues  # noqa: PLC0415 - most topics are read as bytes

    return TypedValues(value)


class _SameInAllRows:
    """Columns of one repeated value, made once and cut to size: they only grow.

    From buffers, since pyarrow would import pandas to convert a number.
    """

    def __init__(self, partition: TopicPartition) -> None:
        self._partition = partition
        self._count = 0
        self._topics: pa.Array
        self._partitions: pa.Array

    def topics(self, count: int) -> pa.Array:
        self._grow(count)
        return self._topics.slice(0, count)

    def partitions(self, count: int) -> pa.Array:
        self._grow(count)
        return self._partitions.slice(0, count)

    def _grow(self, count: int) -> None:
        if count <= self._count:
            return
        self._count = count = 1 << (count - 1).bit_length()
        numbers = pa.py_buffer(array("i", [self._partition.partition]) * count)
        self._partitions = pa.Array.from_buffers(pa.int32(), count, [None, numbers])
        self._topics = _names(self._partition.topic.encode(), count)


@lru_cache(maxsize=4)
def _names(name: bytes, count: int) -> pa.Array:
    """One name so many times: kept by the worker, as each task and partition needs it again."""
    ends = pa.py_buffer(array("i", range(0, (count + 1) * len(name), len(name))))
    return pa.Array.from_buffers(pa.string(), count, [None, ends, pa.py_buffer(name * count)])


def _bounded(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The rows in batches of about BATCH_BYTES_MAX: one of Kafka's may have been larger."""
    rows_max = max(1, BATCH_BYTES_MAX * batch.num_rows // max(batch.nbytes, 1))
    for start in range(0, batch.num_rows, rows_max):
        yield batch.slice(start, rows_max)
