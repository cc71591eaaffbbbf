"""How many random reads by offset a log of 10 GB in 100 segments answers per second.

    bin/bench log_read [directory]

The files are sparse: only the headers of the batches are written, the records between
them are holes, since a lookup reads nothing else. They lie in memory (2.6 GB of /dev/shm)
unless a directory is given: on a disk so many holes take long to remove. Aim: 20,000
lookups per second.
"""

import os
import random
import sys
import tempfile
import time

from bench.measure import end

from moldau.config.topic import TopicConfig
from moldau.log import names, opening
from moldau.log.index import ENTRY as OFFSET_ENTRY
from moldau.log.log import Log
from moldau.log.opening import Remembered
from moldau.log.shared import Shared
from moldau.log.time_index import ENTRY as TIME_ENTRY
from moldau.log.volume import Folder, Volume
from moldau.model import TopicPartition
from moldau.records.batch import HEADER, RECORDS_POSITION, stamp, write_batch
from moldau.records.record import Record
from moldau.runtime.disk import PosixDisk

SEGMENT_COUNT = 100
BATCHES_PER_SEGMENT = 6400
BATCH_SIZE = 16 << 10
RECORDS_PER_BATCH = 16
LOOKUP_COUNT = 50_000
AIM_PER_S = 20_000


def write_segment(folder: Folder, base_offset: int) -> None:
    records = [Record(n, 1_700_000_000_000 + base_offset, None, b"") for n in range(16)]
    header = bytearray(write_batch(records)[:RECORDS_POSITION])
    header[8:12] = (BATCH_SIZE - 12).to_bytes(4, "big")
    assert len(header) == HEADER.size
    index = bytearray()
    path = folder.file(base_offset, names.LOG)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    for number in range(BATCHES_PER_SEGMENT):
        relative = number * RECORDS_PER_BATCH
        stamp(header, 0, base_offset=base_offset + relative, leader_epoch=1)
        os.pwrite(descriptor, header, number * BATCH_SIZE)
        if number:
            index += OFFSET_ENTRY.pack(relative + RECORDS_PER_BATCH - 1, number * BATCH_SIZE)
    os.ftruncate(descriptor, BATCHES_PER_SEGMENT * BATCH_SIZE)
    os.close(descriptor)
    folder.disk.open_append(folder.file(base_offset, names.OFFSET_INDEX)).append(index)
    entry = TIME_ENTRY.pack(1_700_000_000_000 + base_offset, RECORDS_PER_BATCH - 1)
    folder.disk.open_append(folder.file(base_offset, names.TIME_INDEX)).append(entry)


def make_log(directory: str) -> Log:
    folder = Folder(Volume(PosixDisk(), directory), TopicPartition("read", 0))
    folder.disk.make_directory(folder.path)
    for number in range(SEGMENT_COUNT):
        write_segment(folder, number * BATCHES_PER_SEGMENT * RECORDS_PER_BATCH)
    remembered = Remembered(was_closed_cleanly=True)
    return opening.open_log(folder, TopicConfig(), Shared(), remembered=remembered, now_ms=0)


def main() -> None:
    parent = sys.argv[1] if len(sys.argv) > 1 else "/dev/shm"
    misses = []
    with tempfile.TemporaryDirectory(dir=parent) as directory:
        log = make_log(directory)
        size = log.size / 1e9
        print(f"{size:.1f} GB, {len(log.segments)} segments, {log.log_end_offset} records")
        offsets = [random.randrange(log.log_end_offset) for _ in range(LOOKUP_COUNT)]
        for limit, what in ((None, "to the log end"), (log.log_end_offset - 8, "to a watermark")):
            for _ in range(2):
                started = time.process_time()
                for offset in offsets:
                    log.read(offset, max_bytes=1 << 20, end_offset=limit)
                elapsed = time.process_time() - started
            speed = LOOKUP_COUNT / elapsed
            print(f"{speed:9,.0f} lookups/s {what} (aim {AIM_PER_S:,})")
            if speed < AIM_PER_S:
                misses.append(what)
    end(misses)


if __name__ == "__main__":
    main()
