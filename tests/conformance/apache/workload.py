"""Log directories written by a real Apache Kafka broker under traffic of Java clients."""

import random
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from conformance.apache.broker import ApacheBroker, apache_broker
from conformance.apache.lines import JavaProgram, Json

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
_SMALL_SEGMENTS = {
    "segment.bytes": "65536",
    "index.interval.bytes": "1024",
    "retention.ms": "-1",
}

TOPICS = {
    "plain": _SMALL_SEGMENTS,
    "append-time": {**_SMALL_SEGMENTS, "message.timestamp.type": "LogAppendTime"},
    "transactions": _SMALL_SEGMENTS,
    "compacted": {
        **_SMALL_SEGMENTS,
        "cleanup.policy": "compact",
        "min.cleanable.dirty.ratio": "0.01",
        "delete.retention.ms": "0",
    },
}
_SPAN_MS = 10_000_000
_SETTINGS = {"log.cleaner.backoff.ms": "100"}


@dataclass(frozen=True, slots=True)
class ApacheDirectories:
    """The same log directory after a clean stop and, some traffic later, after kill -9."""

    clean: Path
    killed: Path


def write_directories(root: Path) -> ApacheDirectories:
    """Run the broker three times, so that there are leader epochs, and copy what it leaves."""
    draw = random.Random(11)
    result = ApacheDirectories(root / "clean", root / "killed")
    with apache_broker(root, _SETTINGS) as broker:
        broker.start()
        with JavaProgram("traffic", "kafka-3.9") as clients:
            for topic, config in TOPICS.items():
                _call(
                    clients, broker, "create_topic", topic=topic, partition_count=1, config=config
                )
            _run_traffic(clients, broker, draw)
            _wait_until_cleaned(broker)
        broker.stop()
        broker.start()
        with JavaProgram("traffic", "kafka-3.9") as clients:
            _run_traffic(clients, broker, draw)
            broker.stop()
        shutil.copytree(broker.log_directory, result.clean)
        broker.start()
        with JavaProgram("traffic", "kafka-3.9") as clients:
            _run_traffic(clients, broker, draw)
            broker.kill()
        shutil.copytree(broker.log_directory, result.killed)
    return result


def _run_traffic(clients: JavaProgram, broker: ApacheBroker, draw: random.Random) -> None:
    for codec in CODECS:
        settings = {"compression.type": codec, "batch.size": "8192", "linger.ms": "5"}
        for topic in ("plain", "append-time", "compacted"):
            rows = _rows(draw, count=60)
            _produce(clients, broker, topic, producer=codec, settings=settings, rows=rows)
    for number, ending in enumerate(["commit", "abort", "commit", "abort", None]):
        name = f"transaction-{number % 2 if ending else 2}"
        settings = {"transactional.id": name, "compression.type": CODECS[number]}
        _call(clients, broker, "begin", producer=name, settings=settings)
        rows = _rows(draw, count=30)
        _produce(clients, broker, "transactions", producer=name, settings=settings, rows=rows)
        if ending:
            _call(clients, broker, ending, producer=name)
        _produce(clients, broker, "transactions", producer="none", settings={}, rows=rows[:3])


def _rows(draw: random.Random, *, count: int) -> list[Json]:
    """Rows of every kind; few keys, so that compaction has work; time goes back and forth.

    It stays near the present: a producer whose last record is a day old may be forgotten.
    """
    start_ms = int(time.time() * 1000) - _SPAN_MS
    return [
        [
            start_ms + draw.randrange(_SPAN_MS),
            b"key-%d" % draw.randrange(40),
            None if draw.random() < 0.1 else draw.randbytes(draw.randrange(2000)),
            [["trace", draw.randbytes(8)]] if draw.random() < 0.2 else [],
        ]
        for _ in range(count)
    ]


def _produce(
    clients: JavaProgram,
    broker: ApacheBroker,
    topic: str,
    *,
    producer: str,
    settings: dict[str, str],
    rows: Iterable[Json],
) -> None:
    _call(
        clients,
        broker,
        "produce",
        topic=topic,
        partition=0,
        producer=producer,
        settings=settings,
        records=list(rows),
    )


def _call(clients: JavaProgram, broker: ApacheBroker, name: str, **arguments: object) -> Json:
    return clients.call(name, bootstrap=broker.bootstrap, **arguments)


def _wait_until_cleaned(broker: ApacheBroker) -> None:
    deadline = time.monotonic() + 30
    while "cleaned log compacted-0" not in broker.server_log:
        assert time.monotonic() < deadline, "Apache's cleaner did not run"
        time.sleep(0.05)
