"""The fetch responses that the record benchmarks read: 100-byte values without keys."""

from moldau.records.batch import stamp, write_batch
from moldau.records.record import Record

VALUE_SIZE = 100
FIRST_TIMESTAMP_MS = 1_700_000_000_000

# Name -> records per batch and bytes per fetch: a producer's default batch.size is 16 KiB, a
# consumer's default max.partition.fetch.bytes 1 MiB.
SHAPES = {
    "16 KiB batches, 1 MiB": (147, 1 << 20),
    "1 MiB batches, 1 MiB": (9400, 1 << 20),
    "16 KiB batches, 32 MiB": (147, 32 << 20),
    "1 MiB batches, 32 MiB": (9400, 32 << 20),
}


def fetch(records_per_batch: int, size: int) -> tuple[bytes, int]:
    """Consecutive batches of about `size` bytes, and how many records they hold."""
    value = bytes(range(VALUE_SIZE))
    records = [
        Record(index, FIRST_TIMESTAMP_MS + index // 3, None, value)
        for index in range(records_per_batch)
    ]
    batch = write_batch(records)
    count = size // len(batch) or 1
    out = bytearray()
    for index in range(count):
        stamp(batch, 0, base_offset=index * records_per_batch, leader_epoch=0)
        out += batch
    return bytes(out), count * records_per_batch
