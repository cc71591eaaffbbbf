"""How fast a log is scanned after an unclean stop, with batches of 16 KiB.

    bin/bench log_recovery [directory]

Aim: 0.5 GB/s of bytes in the page cache.
"""

import sys
import tempfile
import time

from bench.measure import end

from moldau.config.topic import TopicConfig
from moldau.log import opening
from moldau.log.opening import Remembered
from moldau.log.shared import Shared
from moldau.log.volume import Folder, Volume
from moldau.model import TopicPartition
from moldau.records.batch import NO_PRODUCER, Producer, write_batch
from moldau.records.record import Record
from moldau.runtime.disk import PosixDisk

TOTAL_BYTES = 1 << 30
BATCH_SIZE = 16 << 10
AIM_GB_PER_S = 0.5


def main() -> None:
    parent = sys.argv[1] if len(sys.argv) > 1 else None
    misses = []
    for producer in (NO_PRODUCER, Producer(7, 0, 0)):
        with tempfile.TemporaryDirectory(dir=parent) as directory:
            folder = Folder(Volume(PosixDisk(), directory), TopicPartition("recovered", 0))
            config = TopicConfig(segment_bytes=256 << 20)
            log = opening.create(folder, config, Shared(), now_ms=0)
            record = Record(0, 1_700_000_000_000, None, bytes(BATCH_SIZE - 80))
            data = write_batch([record], producer=producer)
            run = bytearray()
            for offset in range(TOTAL_BYTES // len(data)):
                data[:8] = offset.to_bytes(8, "big")
                run += data
                if len(run) > 8 << 20:
                    log.append_as_follower(run, now_ms=0)
                    run = bytearray()
            best = None
            for _ in range(3):
                started = time.process_time()
                again = opening.open_log(
                    folder, config, Shared(), remembered=Remembered(), now_ms=1_700_000_000_000
                )
                elapsed = time.process_time() - started
                assert again.log_end_offset == log.log_end_offset
                best = elapsed if best is None else min(best, elapsed)
            assert best is not None
            kind = "plain" if producer is NO_PRODUCER else "idempotent"
            speed = log.size / best / 1e9
            print(f"{kind:10s} {speed:5.2f} GB/s (aim {AIM_GB_PER_S})")
            if speed < AIM_GB_PER_S:
                misses.append(kind)
    end(misses)


if __name__ == "__main__":
    main()
