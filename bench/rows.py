"""Row-wise reading against aiokafka's compiled reader, on the same bytes, checksums included.

bin/bench rows
"""

from collections import deque
from functools import partial

from aiokafka.record._crecords import DefaultRecordBatch
from aiokafka.record.memory_records import MemoryRecords
from bench.fetches import SHAPES, fetch
from bench.measure import best_seconds, print_table

from moldau.records.rows import Rows


def iterate(data: bytes) -> None:
    deque(Rows(data), maxlen=0)


def iterate_aiokafka(data: bytes) -> None:
    reader = MemoryRecords(data)
    while reader.has_next():
        batch = reader.next_batch()
        assert isinstance(batch, DefaultRecordBatch)
        assert batch.validate_crc()
        deque(batch, maxlen=0)


def touch(data: bytes) -> None:
    for row in Rows(data):
        _ = row.offset, row.key, row.value


def touch_aiokafka(data: bytes) -> None:
    reader = MemoryRecords(data)
    while reader.has_next():
        batch = reader.next_batch()
        assert batch.validate_crc()
        for row in batch:
            _ = row.offset, row.key, row.value


def main() -> None:
    rows = []
    for shape, (records_per_batch, size) in SHAPES.items():
        data, count = fetch(records_per_batch, size)
        for what, ours, theirs in (
            ("iterate", iterate, iterate_aiokafka),
            ("and use", touch, touch_aiokafka),
        ):
            best = best_seconds({"ours": partial(ours, data), "aiokafka": partial(theirs, data)})
            speeds = [f"{count / seconds / 1e6:.2f}" for seconds in best.values()]
            rows.append([f"{shape}, {what}", *speeds, f"{best['aiokafka'] / best['ours']:.2f}"])
    title = "Rows of 100-byte values, M records per CPU second"
    print_table(title, ["batches, fetch", "ours", "aiokafka", "ours / aiokafka"], rows)


if __name__ == "__main__":
    main()
