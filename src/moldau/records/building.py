"""Batches built from columns, for producers that have their records in Arrow's layout."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from moldau.model import NO_LEADER_EPOCH, NO_SEQUENCE
from moldau.records.batch import (
    ATTRIBUTES_POSITION,
    CODEC_MASK,
    CRC_POSITION,
    HEADER,
    MAGIC,
    NO_PRODUCER,
    PREFIX_SIZE,
    RECORDS_POSITION,
    SEQUENCE_COUNT,
    Producer,
)
from moldau.records.columns import Allocate, BinaryColumn, HeadersColumn, memory
from moldau.records.compression import codec_of, compress
from moldau.records.crc32c import crc32c
from moldau.records.fetched import kernel
from moldau.runtime import native

if TYPE_CHECKING:
    from moldau.records.kernel_build import BinaryInput, RecordWriter

build: ModuleType = native.kernel("moldau.records._kernel_build", "moldau.records.kernel_build")

_UINT32 = struct.Struct(">I")


@dataclass(frozen=True, slots=True)
class NewRecords:
    """Records to be written; int64 `timestamps`, and a column that is None is all null."""

    timestamps: memoryview
    values: BinaryColumn | None
    keys: BinaryColumn | None = None
    headers: HeadersColumn | None = None


class Batches(NamedTuple):
    """Batches one after the other, and where each of them ends."""

    data: memoryview
    ends: list[int]


@dataclass(frozen=True, slots=True)
class BatchForm:
    """What batches are to be like; the codec is part of `attributes`.

    A batch has at most `size_max` bytes before compression, unless its one record has more.
    """

    size_max: int
    attributes: int = 0
    producer: Producer = NO_PRODUCER
    level: int | None = None


def encode_columns(
    records: NewRecords, form: BatchForm, *, allocate: Allocate = kernel.allocate
) -> Batches:
    """Build batches for a producer: base offset 0, sequences counting on from the producer's.

    Where compression makes a batch no smaller, it is left out.
    """
    writer = _writer(records)
    output = memory(allocate, _room(records, form.size_max), "B")
    row_count, position = len(records.timestamps), 0
    ends: list[int] = []
    while writer.row < row_count:
        first_row = writer.row
        end = writer.write(output, position + RECORDS_POSITION, position + form.size_max)
        attributes = form.attributes
        if attributes & CODEC_MASK:
            compressed_end = _compress(output, position + RECORDS_POSITION, end, form)
            attributes = attributes if compressed_end < end else attributes & ~CODEC_MASK
            end = compressed_end
        HEADER.pack_into(
            output,
            position,
            0,
            end - position - PREFIX_SIZE,
            NO_LEADER_EPOCH,
            MAGIC,
            0,
            attributes,
            writer.row - first_row - 1,
            writer.base_timestamp,
            writer.max_timestamp,
            form.producer.producer_id,
            form.producer.epoch,
            _sequence(form.producer, first_row),
            writer.row - first_row,
        )
        checksum = crc32c(output[position + ATTRIBUTES_POSITION : end])
        _UINT32.pack_into(output, position + CRC_POSITION, checksum)
        position = end
        ends.append(end)
    return Batches(output[:position], ends)


@dataclass(frozen=True, slots=True)
class BuiltRecords:
    """The records of one batch behind room for its header, not yet compressed."""

    memory: memoryview
    count: int
    base_timestamp: int
    max_timestamp: int

    @property
    def size(self) -> int:
        """How many bytes it takes with its header."""
        return len(self.memory)

    def view(self) -> memoryview:
        """All its bytes."""
        return self.memory


def build_batches(
    records: NewRecords,
    size_max: int,
    order: memoryview | None = None,
    *,
    allocate: Allocate = kernel.allocate,
) -> Iterator[BuiltRecords]:
    """The records as batches that still need their headers; of some rows only, with an order."""
    writer = _writer(records, order)
    row_count = len(records.timestamps) if order is None else len(order)
    output = memory(allocate, _room(records, size_max), "B")
    position = 0
    while writer.row < row_count:
        first_row = writer.row
        end = writer.write(output, position + RECORDS_POSITION, position + size_max)
        yield BuiltRecords(
            output[position:end],
            writer.row - first_row,
            writer.base_timestamp,
            writer.max_timestamp,
        )
        position = end


def order_by_partition(
    keys: BinaryColumn, partition_count: int, null_partition: int
) -> list[memoryview]:
    """The rows of each partition by the hash of their keys, as Java's clients have it."""
    row_count = len(keys.offsets) - 1
    order = memory(kernel.allocate, 4 * row_count, "i")
    starts = memory(kernel.allocate, 4 * (partition_count + 1), "i")
    build.order_by_partition(_input(keys), null_partition, order, starts)
    return [order[starts[each] : starts[each + 1]] for each in range(partition_count)]


def _writer(records: NewRecords, order: memoryview | None = None) -> "RecordWriter":
    headers = None
    if records.headers is not None:
        headers = build.HeadersInput(
            records.headers.offsets, _input(records.headers.keys), _input(records.headers.values)
        )
    keys = None if records.keys is None else _input(records.keys)
    values = None if records.values is None else _input(records.values)
    writer: RecordWriter = build.RecordWriter(records.timestamps, keys, values, headers, order)
    return writer


def _input(column: BinaryColumn) -> "BinaryInput":
    made: BinaryInput = build.BinaryInput(
        column.offsets, column.data, column.validity, column.validity_start
    )
    return made


def _room(records: NewRecords, batch_size: int) -> int:
    """The most bytes that the batches can take, uncompressed.

    Two neighbouring batches are together larger than `batch_size`, or they would be one.
    """
    binary = [column for column in (records.keys, records.values) if column is not None]
    size: int = len(records.timestamps) * build.RECORD_OVERHEAD_MAX
    if records.headers is not None:
        binary += [records.headers.keys, records.headers.values]
        size += len(records.headers.keys.offsets) * build.HEADER_OVERHEAD_MAX
    for column in binary:
        size += max(column.offsets[-1] - column.offsets[0], 0)
    batches_max = min(
        2 * size // max(batch_size - RECORDS_POSITION, 1) + 1, len(records.timestamps)
    )
    return size + batches_max * RECORDS_POSITION


def _sequence(producer: Producer, row: int) -> int:
    if producer.base_sequence == NO_SEQUENCE:
        return NO_SEQUENCE
    return (producer.base_sequence + row) % SEQUENCE_COUNT


def _compress(output: memoryview, start: int, end: int, form: BatchForm) -> int:
    """Compress `output[start:end]` in place if that makes it smaller; return where it ends."""
    compressed = compress(codec_of(form.attributes & CODEC_MASK), output[start:end], form.level)
    if len(compressed) >= end - start:
        return end
    output[start : start + len(compressed)] = compressed
    return start + len(compressed)
