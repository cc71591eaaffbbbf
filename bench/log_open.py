"""How long 10,000 partitions take to open after a clean stop, and what memory they cost.

    bin/bench log_open [directory]

Each has one small segment with data and an idempotent producer. Aim: 5 s, 300 MB.
"""

import gc
import subprocess
import sys
import tempfile
import time

from bench.measure import end

from moldau.config.topic import TopicConfig
from moldau.log.directory import LogDirectory
from moldau.log.meta_properties import MetaProperties
from moldau.log.shared import Shared
from moldau.log.volume import Volume
from moldau.model import TopicPartition
from moldau.records.batch import Producer, write_batch
from moldau.records.record import Record
from moldau.runtime.disk import PosixDisk

PARTITION_COUNT = 10_000
OWNER = MetaProperties(1, "cluster")
CONFIG = TopicConfig()
NOW_MS = 1_700_000_000_000


class QuickDisk(PosixDisk):
    """Does not wait for directories: the benchmark is not about writing the logs."""

    def sync_directory(self, path: str) -> None:
        pass


def write(directory: str) -> None:
    logs = LogDirectory(Volume(QuickDisk(), directory), Shared())
    logs.claim(OWNER)
    for _ in logs.load(lambda _: CONFIG, now_ms=NOW_MS):
        pass
    record = Record(0, NOW_MS, None, bytes(200))
    for number in range(PARTITION_COUNT):
        partition = TopicPartition(f"topic-{number % 100}", number // 100)
        log = logs.create(partition, CONFIG, now_ms=NOW_MS, topic_id=b"0123456789abcdef")
        for sequence in range(3):
            data = write_batch([record], producer=Producer(7, 0, sequence))
            log.append_as_leader(data, leader_epoch=1, now_ms=NOW_MS)
    logs.close(now_ms=NOW_MS)


def open_again(directory: str) -> None:
    before = resident_bytes()
    started, started_cpu = time.perf_counter(), time.process_time()
    logs = LogDirectory(Volume(PosixDisk(), directory), Shared())
    logs.claim(OWNER)
    for _ in logs.load(lambda _: CONFIG, now_ms=NOW_MS):
        pass
    elapsed, elapsed_cpu = time.perf_counter() - started, time.process_time() - started_cpu
    gc.collect()
    after = resident_bytes()
    assert len(logs.logs) == PARTITION_COUNT
    assert all(log.log_end_offset == 3 for log in logs.logs.values())
    print(
        f"{len(logs.logs)} partitions: {elapsed:.2f} s ({elapsed_cpu:.2f} s of processor time), "
        f"{after / 1e6:.0f} MB resident, {(after - before) / PARTITION_COUNT:.0f} bytes each "
        "(aim 5 s, 300 MB)"
    )
    end([miss for miss, is_missed in (("time", elapsed > 5), ("memory", after > 3e8)) if is_missed])


def resident_bytes() -> int:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096


def main() -> None:
    if len(sys.argv) > 2:
        open_again(sys.argv[2])
        return
    parent = sys.argv[1] if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory(dir=parent) as directory:
        write(directory)
        # A process of its own, so that writing the logs does not count.
        subprocess.run([sys.executable, "-m", "bench.log_open", "open", directory], check=True)


if __name__ == "__main__":
    main()
