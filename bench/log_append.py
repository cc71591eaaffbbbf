"""How much slower an append to a log is than writing the same bytes to a file.

    bin/bench log_append [directory]

Aim: 16 KiB batches at most 3 times, 1 MiB batches at most 1.3 times.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable

from bench.measure import end

from moldau.config.topic import TopicConfig
from moldau.log import opening
from moldau.log.directory import remove_tree
from moldau.log.shared import Shared
from moldau.log.volume import Folder, Volume
from moldau.model import TopicPartition
from moldau.records.batch import NO_PRODUCER, BatchHeader, Producer, write_batch
from moldau.records.record import Record
from moldau.runtime.disk import PosixDisk

TOTAL_BYTES = 256 << 20
ROUNDS = 5


def batch_of(size: int, producer: Producer) -> bytearray:
    """A batch of exactly `size` bytes: pages that are written in part cost more."""
    value_size, data = size, bytearray()
    while len(data) != size:
        value_size += size - (len(data) or size + 80)
        records = [Record(0, 1_700_000_000_000, None, bytes(value_size))]
        data = write_batch(records, producer=producer)
    return data


def seconds(work: Callable[[], None]) -> float:
    """The processor time of `work`, which a busy machine does not change much."""
    started = time.process_time()
    work()
    return time.process_time() - started


def write_only(directory: str, data: bytearray, count: int) -> float:
    path = os.path.join(directory, "written")
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def write() -> None:
        for _ in range(count):
            os.write(descriptor, data)

    elapsed = seconds(write)
    os.close(descriptor)
    os.remove(path)
    return elapsed


def append(directory: str, data: bytearray, count: int) -> float:
    volume = Volume(PosixDisk(), directory)
    folder = Folder(volume, TopicPartition("appended", 0))
    log = opening.create(folder, TopicConfig(), Shared(), now_ms=0)
    is_idempotent = BatchHeader.read(data).has_producer

    def append_all() -> None:
        for number in range(count):
            if is_idempotent:
                data[53:57] = number.to_bytes(4, "big")
            log.append_as_leader(data, leader_epoch=1, now_ms=0)

    elapsed = seconds(append_all)
    # An open file is not gone when it is removed: the next contestant would pay for that.
    for segment in log.segments:
        volume.forget(segment)
    remove_tree(volume.disk, folder.path)
    return elapsed


def main() -> None:
    parent = sys.argv[1] if len(sys.argv) > 1 else None
    misses = []
    with tempfile.TemporaryDirectory(dir=parent) as directory:
        for size, aim in ((16 << 10, 3.0), (1 << 20, 1.3)):
            for kind, producer in (("plain", NO_PRODUCER), ("idempotent", Producer(7, 0, 0))):
                data = batch_of(size, producer)
                count = TOTAL_BYTES // size
                # Alternating, and the best of each: neighbours on the machine disturb both.
                pairs = [
                    (write_only(directory, data, count), append(directory, data, count))
                    for _ in range(ROUNDS)
                ]
                written = min(pair[0] for pair in pairs) / count
                appended = min(pair[1] for pair in pairs) / count
                print(
                    f"{size >> 10:5d} KiB {kind:10s} write {written * 1e6:7.1f} us"
                    f"  append {appended * 1e6:7.1f} us  ratio {appended / written:4.2f}"
                    f" (aim {aim})"
                )
                if appended > aim * written:
                    misses.append(f"{size >> 10} KiB {kind}")
    end(misses)


if __name__ == "__main__":
    main()
