"""Arrow tables to batches of records, encoded by the kernel and spread over partitions."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, repeat
from typing import Literal

import pyarrow as pa

from moldau.client.producer.admission import RecordAdmission
from moldau.records.building import BuiltRecords, NewRecords, build_batches, order_by_partition
from moldau.records.columns import BinaryColumn, HeadersColumn

SLICE_BYTES_MAX = 4 << 20
"""So much of a table is encoded at a time."""


@dataclass(frozen=True, slots=True)
class TableColumns:
    """Which columns of a table become which parts of records; None is for what records lack.

    Keys and values are binary or text; timestamps are Arrow's, or whole milliseconds; headers
    are lists of structs of a name and a value.
    """

    value: str | None = "value"
    key: str | None = None
    timestamp: str | None = None
    headers: str | None = None


def slices_of(table: object) -> Iterator[pa.RecordBatch]:
    """The rows of a table, batch, batch reader or anything else with Arrow's interface."""
    if isinstance(table, pa.RecordBatch):
        batches: Iterator[pa.RecordBatch] = iter([table])
    elif isinstance(table, pa.Table):
        batches = iter(table.to_batches())
    elif isinstance(table, pa.RecordBatchReader):
        batches = iter(table)
    elif hasattr(table, "__arrow_c_stream__"):
        batches = iter(pa.RecordBatchReader.from_stream(table))
    elif hasattr(table, "__arrow_c_array__"):
        batches = iter([pa.record_batch(table)])
    else:
        kind = type(table).__name__
        raise TypeError(f"{kind} is no Arrow table and has no Arrow interface")
    for batch in batches:
        row_bytes = max(batch.nbytes // max(batch.num_rows, 1), 1)
        rows_max = max(SLICE_BYTES_MAX // row_bytes, 1)
        for start in range(0, batch.num_rows, rows_max):
            yield batch.slice(start, rows_max)


def new_records(batch: pa.RecordBatch, columns: TableColumns, now_ms: int) -> NewRecords:
    """The rows of a batch as records; without a column of timestamps, their time is now."""
    values = None if columns.value is None else _binary(_column(batch, columns.value))
    keys = None if columns.key is None else _binary(_column(batch, columns.key))
    headers = None if columns.headers is None else _headers(_column(batch, columns.headers))
    if columns.timestamp is None:
        timestamps = memoryview(array("q", [now_ms]) * batch.num_rows)
    else:
        times = _milliseconds(_column(batch, columns.timestamp))
        timestamps = _view(times, 1, "q", batch.num_rows)
    return NewRecords(timestamps, values, keys, headers)


def pieces(
    admission: RecordAdmission,
    topic: str,
    table: object,
    columns: TableColumns,
    partition: int | None = None,
) -> Iterator[tuple[int, BuiltRecords]]:
    """The rows of a table as batches, each with the partition that it goes to."""
    for batch in slices_of(table):
        records = new_records(batch, columns, admission.now_ms())
        if partition is None:
            targets = _targets(admission, topic, records)
        else:
            admission.check_partition(topic, partition)
            targets = [(partition, None)]
        for number, order in targets:
            for built in build_batches(records, admission.bulk_batch_size, order):
                yield number, built


def _targets(
    admission: RecordAdmission, topic: str, records: NewRecords
) -> list[tuple[int, memoryview | None]]:
    """Partitions, and which rows go there: None for all."""
    chosen = admission.choose_for_rows(topic, _keys(records))
    if chosen is not None:
        return [(number, memoryview(rows)) for number, rows in chosen.items()]
    keyless, partition_count = admission.choose_partition(topic)
    if records.keys is None:
        return [(keyless, None)]
    orders = order_by_partition(records.keys, partition_count, keyless)
    return [(number, order) for number, order in enumerate(orders) if len(order)]


def _keys(records: NewRecords) -> Iterator[bytes | None]:
    """The keys one by one, as a partitioner wants to see them."""
    keys = records.keys
    if keys is None:
        yield from repeat(None, len(records.timestamps))
        return
    for row, (start, end) in enumerate(pairwise(keys.offsets)):
        bit = keys.validity_start + row
        is_null = keys.validity is not None and not keys.validity[bit >> 3] >> (bit & 7) & 1
        yield None if is_null else bytes(keys.data[start:end])


def _column(batch: pa.RecordBatch, name: str) -> pa.Array:
    if name not in batch.schema.names:
        names = ", ".join(batch.schema.names)
        raise ValueError(f"the table has no column {name!r}: it has {names}")
    return batch.column(name)


def _binary(items: pa.Array) -> BinaryColumn:
    if not pa.types.is_binary(items.type):
        if pa.types.is_dictionary(items.type):
            items = items.dictionary_decode()
        try:
            items = items.cast(pa.binary())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise TypeError(f"keys and values are binary or text, not {items.type}") from error
    validity, _, data = items.buffers()
    return BinaryColumn(
        offsets=_view(items, 1, "i", len(items) + 1),
        data=memoryview(b"" if data is None else data).cast("B"),
        validity=None if validity is None else memoryview(validity).cast("B"),
        null_count=items.null_count,
        validity_start=items.offset,
    )


def _headers(items: pa.Array) -> HeadersColumn:
    if pa.types.is_map(items.type):
        names, values = items.keys, items.items
        items = items.cast(pa.list_(pa.struct([("key", names.type), ("value", values.type)])))
    structs = items.values
    if items.null_count:  # a list that is null may still have items: they are left out
        filled = [[] if each is None else each for each in items.to_pylist()]
        items = pa.array(filled, items.type)
        structs = items.values
    names, values = structs.flatten()
    return HeadersColumn(
        offsets=_view(items, 1, "i", len(items) + 1), keys=_binary(names), values=_binary(values)
    )


def _milliseconds(items: pa.Array) -> pa.Array:
    if items.null_count:
        raise ValueError("a timestamp is null")
    if pa.types.is_timestamp(items.type):
        items = items.cast(pa.timestamp("ms", tz=items.type.tz), safe=False)
    return items.cast(pa.int64())


def _view(items: pa.Array, buffer: int, item_format: Literal["i", "q"], count: int) -> memoryview:
    """The items of a buffer that belong to a column, which may be a part of it."""
    item_size = 4 if item_format == "i" else 8
    data = items.buffers()[buffer]
    if data is None or data.size == 0:  # of no rows
        return memoryview(bytes(item_size * count)).cast(item_format)
    everything = memoryview(data).cast("B")
    return everything[items.offset * item_size :][: count * item_size].cast(item_format)
