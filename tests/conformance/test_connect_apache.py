"""A worker of Kafka Connect copies a file through topics of our broker."""

import time
from collections.abc import Callable
from pathlib import Path

from conformance.apache.connect import Worker, worker
from conformance.apache.marks import needs_apache
from conformance.our_broker import our_broker
from conformance.transacting import read

DEADLINE_S = 60
CLASSES = "org.apache.kafka.connect.file.FileStream{}Connector"


def write(file: Path, numbers: range) -> None:
    # In ASCII: the source remembers its place as a count of characters.
    with file.open("a") as output:
        output.writelines(f"line {number} of many\n" for number in numbers)


def make_source(connect: Worker, source: Path) -> None:
    connect.put(
        "source",
        {
            "connector.class": CLASSES.format("Source"),
            "tasks.max": "1",
            "file": str(source),
            "topic": "lines",
            "batch.size": "50",
        },
    )


def make_sink(connect: Worker, sink: Path) -> None:
    connect.put(
        "sink",
        {
            "connector.class": CLASSES.format("Sink"),
            "tasks.max": "1",
            "file": str(sink),
            "topics": "lines",
        },
    )


def wait_for_copy(connect: Worker, source: Path, sink: Path) -> None:
    wait_until(lambda: sink.exists() and sink.read_bytes() == source.read_bytes(), connect)


def wait_until(is_so: Callable[[], bool], connect: Worker) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < deadline, connect.log.read_text()[-3000:]
        time.sleep(0.1)


@needs_apache("connect-3.9")
def test_what_is_in_one_file_comes_out_in_another(tmp_path: Path) -> None:
    source, sink = tmp_path / "source.txt", tmp_path / "sink.txt"
    write(source, range(500))
    settings = {"group.initial.rebalance.delay.ms": "0"}
    with our_broker(tmp_path / "broker", settings) as broker:
        with worker(tmp_path / "connect", broker.bootstrap) as connect:
            make_source(connect, source)
            make_sink(connect, sink)
            wait_for_copy(connect, source, sink)
            write(source, range(500, 600))
            wait_for_copy(connect, source, sink)
        write(source, range(600, 700))
        broker.stop()
        broker.start()
        # Another worker finds the connectors, and how far they were, in the topics.
        with worker(tmp_path / "connect", broker.bootstrap) as connect:
            wait_for_copy(connect, source, sink)
            assert connect.connectors() == ["sink", "source"]
            wait_until(lambda: connect.states("source") == ["RUNNING", "RUNNING"], connect)
            wait_until(lambda: connect.states("sink") == ["RUNNING", "RUNNING"], connect)


@needs_apache("connect-3.9")
def test_a_worker_that_is_killed_has_written_each_line_once(tmp_path: Path) -> None:
    source = tmp_path / "source.txt"
    settings = {
        "exactly.once.source.support": "enabled",
        "scheduled.rebalance.max.delay.ms": "0",
        "session.timeout.ms": "3000",
        "heartbeat.interval.ms": "500",
    }
    quick = {"group.initial.rebalance.delay.ms": "0", "group.min.session.timeout.ms": "1000"}
    with our_broker(tmp_path / "broker", quick) as broker:
        write(source, range(2_000))
        with worker(tmp_path / "connect", broker.bootstrap, settings) as connect:
            make_source(connect, source)
            wait_until(lambda: len(read(broker, "lines")) > 0, connect)
            connect.kill()
        write(source, range(2_000, 2_100))
        with worker(tmp_path / "connect", broker.bootstrap, settings) as connect:
            wait_until(lambda: len(read(broker, "lines")) >= 2_100, connect)
        assert b"".join(line + b"\n" for line in read(broker, "lines")) == source.read_bytes()
