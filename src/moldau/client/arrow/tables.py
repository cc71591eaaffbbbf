"""Fetched records to Arrow tables, column by column and without an object per record."""

from array import array
from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

from moldau.client.consumer.assignment import Chunk
from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.model import TopicPartition
from moldau.records.columns import (
    Allocate,
    BinaryColumn,
    Columns,
    HeadersColumn,
    WantedColumns,
    decode_columns,
)
from moldau.records.fetched import OFFSET_MAX, Selection, StopReason, kernel

HEADERS = pa.list_(pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())]))
SCHEMA = pa.schema(
    [
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary()),
        pa.field("topic", pa.dictionary(pa.int32(), pa.string())),
        pa.field("partition", pa.int32()),
        pa.field("offset", pa.int64()),
        pa.field("timestamp", pa.timestamp("ms", tz="UTC")),
        pa.field("headers", HEADERS),
    ]
)
Table = pa.Table
COLUMNS: tuple[str, ...] = tuple(SCHEMA.names)

Handed = tuple[TopicPartition, Chunk, int]
"""What was fetched of a partition, and the offset to read it from."""


def schema_of(columns: Sequence[str]) -> pa.Schema:
    """The schema of a table with these columns, in this order."""
    unknown = [name for name in columns if name not in COLUMNS]
    if unknown:
        raise ValueError(f"there is no column {unknown[0]!r}: there are {', '.join(COLUMNS)}")
    return pa.schema([SCHEMA.field(name) for name in columns])


def read_table(
    handed: Iterable[Handed],
    columns: Sequence[str] = COLUMNS,
    *,
    end_offsets: Mapping[TopicPartition, int] | None = None,
    allocate: Allocate = kernel.allocate,
) -> pa.Table:
    """One table of all that was fetched, partition by partition and in the order of offsets."""
    schema = schema_of(columns)
    wanted = WantedColumns("key" in columns, "value" in columns, "headers" in columns)
    batches = [
        record_batch(decoded, partition, schema)
        for partition, chunk, start_offset in handed
        for decoded in _decode(
            chunk,
            Selection(
                start_offset,
                (end_offsets or {}).get(partition, OFFSET_MAX),
                chunk.selection.aborted,
                chunk.selection.check_crc,
            ),
            partition,
            wanted,
            allocate,
        )
    ]
    return pa.Table.from_batches(batches, schema)


def record_batch(columns: Columns, partition: TopicPartition, schema: pa.Schema) -> pa.RecordBatch:
    """Decoded records as a batch with the columns of a schema."""
    count = columns.row_count
    made = {
        "key": lambda: _binary(columns.keys, pa.binary(), count),
        "value": lambda: _binary(columns.values, pa.binary(), count),
        "topic": lambda: _topic(partition.topic, count),
        "partition": lambda: _same(partition.partition, count),
        "offset": lambda: _numbers(columns.offsets, pa.int64(), count),
        "timestamp": lambda: _numbers(columns.timestamps, SCHEMA.field("timestamp").type, count),
        "headers": lambda: _headers(columns.headers, count),
    }
    return pa.RecordBatch.from_arrays([made[name]() for name in schema.names], schema=schema)


def _decode(
    chunk: Chunk,
    selection: Selection,
    partition: TopicPartition,
    wanted: WantedColumns,
    allocate: Allocate,
) -> Iterable[Columns]:
    data = chunk.data
    while True:
        try:
            columns = decode_columns(data, selection, wanted=wanted, allocate=allocate)
        except ProtocolError as error:
            reason = f"{partition} at {selection.start_offset}: {error}"
            raise KafkaError(ErrorCode.CORRUPT_MESSAGE, reason) from error
        if columns.row_count:
            yield columns
        if columns.stop is not StopReason.SIZE_LIMIT:
            return
        data = data[columns.position :]
        selection = columns.selection_left


def _numbers(numbers: memoryview, kind: pa.DataType, count: int) -> pa.Array:
    return pa.Array.from_buffers(kind, count, [None, pa.py_buffer(numbers)])


def _binary(column: BinaryColumn | None, kind: pa.DataType, count: int) -> pa.Array:
    assert column is not None, "the column was wanted"
    buffers = [
        None if column.validity is None else pa.py_buffer(column.validity),
        pa.py_buffer(column.offsets),
        pa.py_buffer(column.data),
    ]
    return pa.Array.from_buffers(kind, count, buffers, column.null_count)


def _topic(topic: str, count: int) -> pa.Array:
    name = topic.encode()
    ends = pa.py_buffer(array("i", [0, len(name)]))
    names = pa.Array.from_buffers(pa.string(), 1, [None, ends, pa.py_buffer(name)])
    return pa.DictionaryArray.from_arrays(_same(0, count), names)


def _same(number: int, count: int) -> pa.Array:
    # From a buffer: to convert a number or a list, pyarrow would import pandas.
    return pa.Array.from_buffers(
        pa.int32(), count, [None, pa.py_buffer(array("i", [number]) * count)]
    )


def _headers(column: HeadersColumn | None, count: int) -> pa.Array:
    assert column is not None, "the column was wanted"
    header_count = len(column.keys.offsets) - 1
    # Names are UTF-8 or no names at all: what is not is replaced, as rows have it.
    names = _binary(column.keys, pa.string(), header_count)
    try:
        names.validate(full=True)
    except pa.ArrowInvalid:
        keys = _binary(column.keys, pa.binary(), header_count)
        replaced = [each.as_py().decode(errors="replace") for each in keys]
        names = pa.array(replaced, pa.string())
    values = _binary(column.values, pa.binary(), header_count)
    structs = pa.StructArray.from_arrays([names, values], fields=list(HEADERS.value_type))
    offsets = pa.Array.from_buffers(pa.int32(), count + 1, [None, pa.py_buffer(column.offsets)])
    return pa.ListArray.from_arrays(offsets, structs, type=HEADERS)
