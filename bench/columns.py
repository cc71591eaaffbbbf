"""Fetched batches to columns and back, checksums included, in records per CPU second.

bin/bench columns
"""

from functools import partial

import pyarrow as pa
from bench.fetches import SHAPES, fetch
from bench.measure import best_seconds, print_table

from moldau.records.building import BatchForm, NewRecords, encode_columns
from moldau.records.columns import WantedColumns, decode_columns
from moldau.records.pool import MemoryPool

WITHOUT_HEADERS = WantedColumns(headers=False)


def arrow_memory(size: int) -> memoryview:
    return memoryview(pa.allocate_buffer(size))


def reading() -> None:
    rows = []
    for shape, (records_per_batch, size) in SHAPES.items():
        data, count = fetch(records_per_batch, size)
        best = best_seconds(
            {
                "fresh": partial(decode_columns, data, wanted=WITHOUT_HEADERS),
                "arrow": partial(
                    decode_columns, data, wanted=WITHOUT_HEADERS, allocate=arrow_memory
                ),
                "pool": partial(
                    decode_columns, data, wanted=WITHOUT_HEADERS, allocate=MemoryPool().allocate
                ),
            }
        )
        rows.append([shape, *(f"{count / seconds / 1e6:.1f}" for seconds in best.values())])
    title = "Columns from uncompressed batches of 100-byte values, M records per CPU second"
    print_table(title, ["batches, fetch", "fresh memory", "Arrow's pool", "our pool"], rows)


def building() -> None:
    rows = []
    for shape, (records_per_batch, size) in SHAPES.items():
        columns = decode_columns(fetch(records_per_batch, size)[0], wanted=WITHOUT_HEADERS)
        records = NewRecords(columns.timestamps, columns.values)
        form = BatchForm(size_max=records_per_batch * 112)
        best = best_seconds(
            {
                "fresh": partial(encode_columns, records, form),
                "pool": partial(encode_columns, records, form, allocate=MemoryPool().allocate),
            }
        )
        count = columns.row_count
        rows.append([shape, *(f"{count / seconds / 1e6:.1f}" for seconds in best.values())])
    title = "Uncompressed batches from columns of 100-byte values, M records per CPU second"
    print_table(title, ["batches, fetch", "fresh memory", "our pool"], rows)


if __name__ == "__main__":
    reading()
    building()
