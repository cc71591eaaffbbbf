"""How fast Apache Kafka 3.9's log cleaner is, by its own log, on the topic of the benchmarks.

bin/bench apache_cleaner [records]
"""

import re
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.compaction_topic import CompactionTopic
from bench.log_compaction import PARTITION, Compaction, compact, open_topic
from bench.measure import end

from conformance.apache.broker import ApacheBroker, apache_broker
from conformance.apache.jvm import AS_SHIPPED
from conformance.apache.lines import JavaProgram

_DEADLINE_S = 300
_ROUNDS = 4
_TOPIC = "compacted"
_SETTINGS = {"log.cleaner.backoff.ms": "500"}  # how soon it begins, not how fast it is


@dataclass(frozen=True, slots=True)
class Cleaning:
    """One line each of the report that Apache's cleaner writes after a run."""

    processed_mb: float
    mb_per_s: float
    indexed_mb_per_s: float
    cleaned_mb_per_s: float


def clean_with_apache(partition: Path, *, segment_bytes: int) -> Cleaning:
    """Let a broker with Apache's shipped settings clean a copy of the `.log` files given."""
    config = {
        "cleanup.policy": "compact",
        "min.cleanable.dirty.ratio": "0.01",
        "segment.bytes": str(segment_bytes),
    }
    with (
        tempfile.TemporaryDirectory() as directory,
        apache_broker(Path(directory), _SETTINGS, jvm_options=AS_SHIPPED) as broker,
    ):
        broker.start()
        with JavaProgram("traffic", "kafka-3.9") as clients:
            clients.call(
                "create_topic",
                bootstrap=broker.bootstrap,
                topic=_TOPIC,
                partition_count=1,
                config=config,
            )
        broker.stop()
        for segment in partition.glob("*.log"):
            shutil.copy(segment, broker.log_directory / f"{_TOPIC}-0")
        # Without the marker the broker scans the new files and builds their indexes.
        (broker.log_directory / ".kafka_cleanshutdown").unlink()
        (broker.log_directory / "recovery-point-offset-checkpoint").unlink()
        broker.start()
        return _wait_for_report(broker)


def _wait_for_report(broker: ApacheBroker) -> Cleaning:
    deadline = time.monotonic() + _DEADLINE_S
    while time.monotonic() < deadline:
        report = re.search(
            rf"cleaned log {_TOPIC}-0 .*?([\d,.]+) MB of log processed in .*?\(([\d,.]+) MB/sec\)"
            r".*?Indexed .*?\(([\d,.]+) Mb/sec.*?Cleaned .*?\(([\d,.]+) Mb/sec",
            broker.server_log,
            re.DOTALL,
        )
        if report:
            return Cleaning(*(float(number.replace(",", "")) for number in report.groups()))
        time.sleep(0.2)
    raise TimeoutError("Apache's cleaner did not report")


def main() -> None:
    topic = CompactionTopic(*map(int, sys.argv[1:2]))
    # Alternating, and the best of each: neighbours on the machine disturb both.
    rounds = [_round(topic) for _ in range(_ROUNDS)]
    theirs = max((one for one, _ in rounds), key=lambda one: one.mb_per_s)
    ours = max((one for _, one in rounds), key=lambda one: one.mb_per_s)
    print(f"Apache: {theirs.processed_mb:.0f} MB at {theirs.mb_per_s:.0f} MB/s")
    print(f"  building the map of keys {theirs.indexed_mb_per_s:.0f} MB/s")
    print(f"  copying what is kept     {theirs.cleaned_mb_per_s:.0f} MB/s")
    print(f"Moldau: {ours.read_mb:.0f} MB at {ours.mb_per_s:.0f} MB/s")
    print(f"ratio:  {ours.mb_per_s / theirs.mb_per_s:.1f} (aim 2)")
    end(["ratio"] if ours.mb_per_s < 2 * theirs.mb_per_s else [])


def _round(topic: CompactionTopic) -> tuple[Cleaning, Compaction]:
    with tempfile.TemporaryDirectory() as directory:
        partition = Path(directory) / str(PARTITION)
        topic.write(partition)
        theirs = clean_with_apache(partition, segment_bytes=topic.segment_bytes)
        return theirs, compact(open_topic(directory, topic.segment_bytes))


if __name__ == "__main__":
    main()
