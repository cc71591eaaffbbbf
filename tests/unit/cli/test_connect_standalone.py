"""The script runs connectors from files, each line once though it is killed."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from moldau.cli.connect_standalone import main
from moldau.client.blocking.consumer import Consumer
from moldau.testing.broker import EmbeddedBroker
from unit.connect.started import until

LINES = 30_000


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {"group.initial.rebalance.delay.ms": "0", "group.min.session.timeout.ms": "1000"}


@contextmanager
def started(*files: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "moldau", "connect-standalone.sh", *map(str, files)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            assert any(re.search("the worker is at http", line) for line in process.stderr)
            yield process
        finally:
            process.kill()


def count(consumer: Consumer[bytes, bytes], found: list[bytes | None]) -> int:
    found += [each.value for each in consumer.poll(0.1)]
    return len(found)


def test_a_worker_that_is_killed_has_written_each_line_once(
    kafka: EmbeddedBroker, tmp_path: Path
) -> None:
    source, worker, connector = (tmp_path / each for each in ("in", "w.properties", "c.properties"))
    source.write_text("".join(f"line {number}\n" for number in range(LINES)))
    worker.write_text(
        f"bootstrap.servers={kafka.bootstrap_servers}\nlisteners=http://localhost:0\n"
        "key.converter=org.apache.kafka.connect.storage.StringConverter\n"
        "value.converter=org.apache.kafka.connect.storage.StringConverter\n"
        "consumer.session.timeout.ms=1500\nconsumer.heartbeat.interval.ms=300\n"
        "offset.storage.file.filename=/tmp/connect.offsets\n"
    )
    connector.write_text(
        "name=lines\nconnector.class=FileStreamSource\ntopic=lines\nbatch.size=500\n"
        f"file={source}\n"
    )
    found: list[bytes | None] = []
    with Consumer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
    ) as consumer:
        consumer.assign([("lines", 0)])
        with started(worker, connector) as process:
            until(lambda: count(consumer, found) > 1000)
            process.send_signal(signal.SIGKILL)
        with started(worker, connector) as process:
            until(lambda: count(consumer, found) >= LINES, lambda: len(found))
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0
        assert count(consumer, found) == LINES
    assert b"".join(each + b"\n" for each in found if each is not None) == source.read_bytes()


def test_without_connectors_nothing_is_started() -> None:
    with pytest.raises(SystemExit):
        main(["worker.properties"])
