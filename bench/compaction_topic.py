"""The topic that cleaners are measured on: many versions of few keys, uncompressed."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from moldau.records.batch import stamp, write_batch
from moldau.records.record import Record

VALUE_SIZE_BYTES = 1000
RECORDS_PER_BATCH = 16
START_MS = 1_700_000_000_000


@dataclass(frozen=True, slots=True)
class CompactionTopic:
    """A partition's `.log` files, the last of them a short active segment."""

    record_count: int = 400_000
    key_count: int = 40_000
    segment_bytes: int = 100 * 2**20

    def write(self, directory: Path) -> None:
        """Write the files into `directory`; whoever opens it builds the indexes."""
        directory.mkdir(parents=True, exist_ok=True)
        segment = None
        for base_offset, batch in self.batches():
            is_last = base_offset + RECORDS_PER_BATCH >= self.record_count
            if segment is None or segment.tell() + len(batch) > self.segment_bytes or is_last:
                if segment is not None:
                    segment.close()
                segment = (directory / f"{base_offset:020}.log").open("wb")
            segment.write(batch)
        assert segment is not None
        segment.close()

    def batches(self) -> Iterator[tuple[int, bytearray]]:
        """Base offset and bytes of every batch."""
        draw = random.Random(5)
        values = [draw.randbytes(VALUE_SIZE_BYTES) for _ in range(64)]
        for base_offset in range(0, self.record_count, RECORDS_PER_BATCH):
            records = [
                Record(
                    offset,
                    START_MS + offset,
                    b"key-%08d" % draw.randrange(self.key_count),
                    values[offset % len(values)],
                )
                for offset in range(base_offset, base_offset + RECORDS_PER_BATCH)
            ]
            batch = write_batch(records, base_offset=base_offset)
            stamp(batch, 0, base_offset=base_offset, leader_epoch=0)
            yield base_offset, batch
