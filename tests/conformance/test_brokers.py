"""`moldau serve --brokers`: a cluster by one command, through its life and its deaths."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from conformance.apache.broker import free_port, zookeeper
from conformance.apache.marks import needs_apache
from conformance.our_broker import SOURCES, our_broker
from conformance.our_cluster import until

_STOP_S = 60


class Brokers:
    """The supervisor's process, and what it says."""

    def __init__(self, data: Path, ports: list[int], *arguments: str) -> None:
        self.bootstrap = ",".join(f"127.0.0.1:{port}" for port in ports)
        self.first = f"127.0.0.1:{ports[0]}"
        self.lines: list[str] = []
        listed = ",".join(map(str, ports))
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "moldau", "serve", "--brokers", str(len(ports))),
                *("--ports", listed, "--data", str(data), "--host", "127.0.0.1", *arguments),
            ],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(SOURCES)},
            text=True,
        )
        self._reading = threading.Thread(target=self._read)
        self._reading.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as stream:
            self.lines.extend(stream)

    def said(self, pattern: str) -> re.Match[str]:
        def look() -> re.Match[str] | None:
            found = [re.search(pattern, line) for line in list(self.lines)]
            assert self.process.poll() is None or any(found), self.lines
            return next((each for each in found if each), None)

        return until(look, pattern)

    def children(self) -> list[int]:
        found = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(each) for each in found.split()]

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        code = self.process.wait(_STOP_S)
        self._reading.join(_STOP_S)
        return code


@contextmanager
def brokers(data: Path, ports: list[int], *arguments: str) -> Iterator[Brokers]:
    running = Brokers(data, ports, *arguments)
    try:
        running.said("all .* brokers have started")
        yield running
    finally:
        running.process.kill()
        running.process.wait()


def is_alive(process: int) -> bool:
    return Path(f"/proc/{process}").exists()


def create_topic(bootstrap: str, replicas: int) -> None:
    # It goes to the controller, which may be any of the brokers.
    admin = AdminClient({"bootstrap.servers": bootstrap})
    created = admin.create_topics([NewTopic("t", num_partitions=1, replication_factor=replicas)])
    created["t"].result(_STOP_S)


def produce(bootstrap: str, value: bytes) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all"})
    producer.produce("t", value)
    assert producer.flush(30) == 0


def values(bootstrap: str, count: int) -> list[bytes]:
    settings = {"bootstrap.servers": bootstrap, "auto.offset.reset": "earliest"}
    consumer = Consumer({**settings, "group.id": "g", "enable.auto.commit": "false"})
    consumer.assign([TopicPartition("t", 0, 0)])
    found: list[bytes] = []

    def read() -> bool:
        message = consumer.poll(1)
        if message is not None and message.error() is None:
            found.append(message.value() or b"")
        return len(found) == count

    until(read, f"{count} records are read")
    consumer.close()
    return found


def moldau(*arguments: str) -> None:
    command = [sys.executable, "-m", "moldau", *arguments]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(SOURCES)})


def test_a_cluster_by_one_command(tmp_path: Path) -> None:
    data, ports = tmp_path / "cluster", [free_port() for _ in range(3)]
    with brokers(data, ports, "--metrics-port", "0", "--log-format", "json") as running:
        create_topic(running.first, replicas=3)
        produce(running.bootstrap, b"one")
        port = running.said(r"metrics of all brokers on http://localhost:(\d+)/metrics")
        broker = running.said(r"\[KafkaServer id=2\] started")
        assert json.loads(broker.string)["broker"] == 2
        with urllib.request.urlopen(f"http://127.0.0.1:{port[1]}/metrics") as answer:
            metrics = answer.read().decode()
        assert all(f'moldau_broker_up{{broker="{each}"}} 1' in metrics for each in range(3))
        second = Brokers(data, [free_port()])
        assert second.process.wait(_STOP_S) == 1
        second.end(signal.SIGCONT)
        assert "is in use" in second.lines[-1]
        # The supervisor is gone: its brokers end by themselves, which the next start waits for.
        orphans = running.children()
        assert len(orphans) == 3
        running.end(signal.SIGKILL)
    shared = free_port()
    with brokers(data, ports, "--port", str(shared)) as running:
        until(lambda: not any(map(is_alive, orphans)), "the brokers of before are gone")
        assert values(running.bootstrap, 1) == [b"one"]
        # One address for all: it answers whoever of them has died.
        running.said(f"bootstrap.servers=127.0.0.1:{shared}")
        os.kill(running.children()[0], signal.SIGKILL)
        produce(f"127.0.0.1:{shared}", b"two")
        running.said("it is started again")
        until(lambda: len(running.children()) == 3, "the broker is back")
        assert values(running.bootstrap, 2) == [b"one", b"two"]
        assert running.end(signal.SIGTERM) == 0


@needs_apache("kafka-3.9")
def test_a_cluster_moves_out_to_zookeeper_and_back_and_grows(tmp_path: Path) -> None:
    data, ports = tmp_path / "cluster", [free_port()]
    with brokers(data, ports) as running:
        create_topic(running.first, replicas=1)
        produce(running.bootstrap, b"here")
        assert running.end(signal.SIGTERM) == 0
    with zookeeper(tmp_path / "zookeeper") as port:
        tree = f"127.0.0.1:{port}/kafka"
        moldau("tree", "copy", str(data), tree)
        settings = {
            "broker.id": "0",
            "zookeeper.connect": tree,
            "log.dirs": str(data / "broker-0"),
            "offsets.topic.replication.factor": "1",
        }
        with our_broker(tmp_path / "out", settings) as broker:
            assert values(broker.bootstrap, 1) == [b"here"]
            produce(broker.bootstrap, b"there")
        back = tmp_path / "back"
        moldau("tree", "copy", tree, str(back))
    (data / "broker-0").rename(back / "broker-0")
    # One more joins, and takes over; then it cannot be left out any more.
    with brokers(back, [*ports, free_port()]) as running:
        assert values(running.bootstrap, 2) == [b"here", b"there"]
        moldau("rebalance", "--topic=t", "--brokers=1", "--bootstrap-server", running.bootstrap)
        (back / "broker-1" / "t-0").stat()
        assert values(running.bootstrap, 2) == [b"here", b"there"]
        assert running.end(signal.SIGTERM) == 0
    fewer = Brokers(back, ports)
    assert fewer.process.wait(_STOP_S) == 1
    fewer.end(signal.SIGCONT)
    assert "no replica left: t-0" in fewer.lines[-1]
