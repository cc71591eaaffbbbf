"""How fast a log is compacted, in MB of input a second, on the topic of the benchmarks.

bin/bench log_compaction [records]

`bin/bench apache_cleaner` measures Apache's cleaner on the same files. As there, the time
is that of both passes together: mapping the keys and copying what stays, synced.
"""

import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from bench.compaction_topic import CompactionTopic

from moldau.config.topic import TopicConfig
from moldau.log import opening
from moldau.log.cleaner import Cleaner, Workspace
from moldau.log.cleaning_plan import measure, plan
from moldau.log.cleaning_swap import swap_in
from moldau.log.log import Log
from moldau.log.pace import unhurried
from moldau.log.shared import Shared
from moldau.log.volume import Folder, Volume
from moldau.model import TopicPartition
from moldau.runtime.disk import PosixDisk

MB = 2**20  # as Apache's cleaner counts
NOW_MS = 1_800_000_000_000
PARTITION = TopicPartition("compacted", 0)


def open_topic(directory: str, segment_bytes: int) -> Log:
    """Open the files as a log of which everything is replicated."""
    config = TopicConfig(cleanup_policy=("compact",), segment_bytes=segment_bytes)
    folder = Folder(Volume(PosixDisk(), directory), PARTITION)
    log = opening.open_log(folder, config, Shared(), remembered=opening.Remembered(), now_ms=NOW_MS)
    log.raise_high_watermark(log.log_end_offset)
    return log


class Compaction(NamedTuple):
    """What one run did."""

    read_mb: float
    elapsed_s: float
    written_mb: float

    @property
    def mb_per_s(self) -> float:
        return self.read_mb / self.elapsed_s


def compact(log: Log) -> Compaction:
    """Compact the log once."""
    dirtiness = measure(log, None, now_ms=NOW_MS)
    cleaner_plan = plan(log, dirtiness, now_ms=NOW_MS)
    start = time.perf_counter()
    cleaner = Cleaner(PosixDisk(), cleaner_plan, Workspace(seed=bytes(16)), unhurried())
    for segment in cleaner.segments():
        assert swap_in(log, cleaner_plan, segment, now_ms=NOW_MS)
    elapsed_s = time.perf_counter() - start
    return Compaction(dirtiness.dirty_size / MB, elapsed_s, cleaner.bytes_written / MB)


def main() -> None:
    topic = CompactionTopic(*map(int, sys.argv[1:2]))
    with tempfile.TemporaryDirectory() as directory:
        topic.write(Path(directory) / str(PARTITION))
        done = compact(open_topic(directory, topic.segment_bytes))
    print(f"{done.read_mb:.0f} MB at {done.mb_per_s:.0f} MB/s, {done.written_mb:.0f} MB stay")


if __name__ == "__main__":
    main()
