"""Command lines that people copy from tutorials, verbatim, on a real ZooKeeper and our brokers.

Their addresses are ports 2181 and 9092 of this machine: only those are replaced, by free ones.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.apache.broker import free_port, zookeeper
from conformance.apache.cache import CLONE, exclusive
from conformance.apache.marks import needs_apache
from conformance.our_broker import OurBroker

pytestmark = needs_apache("kafka-3.9")

DEADLINE_S = 60
CREATE = (
    "bin/kafka-topics.sh --create --zookeeper localhost:2181 --replication-factor 2 "
    "--partitions 1 --topic my-replicated-topic"
)


class Terminal:
    """Runs command lines as a shell does, in a directory with `bin/` on the path."""

    def __init__(self, directory: Path, zookeeper_port: int, broker_port: int) -> None:
        self._directory = directory
        self._ports = {"2181": str(zookeeper_port), "9092": str(broker_port)}
        programs = directory / "bin"
        programs.mkdir()
        for script in (CLONE / "bin").glob("*.sh"):
            # As the script does, but with the Python that runs the tests.
            found = re.search(r'/moldau" ([a-z-]+) "\$@"', script.read_text())
            if found is not None:
                path = programs / script.name
                path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m moldau {found[1]} "$@"\n')
                path.chmod(0o755)

    def command(self, line: str) -> str:
        for port, replacement in self._ports.items():
            line = line.replace(f"localhost:{port}", f"localhost:{replacement}")
        return line

    def start(self, line: str) -> subprocess.Popen[str]:
        path = f"{self._directory / 'bin'}:{os.environ['PATH']}"
        sources = str(CLONE / "src")
        return subprocess.Popen(
            ["bash", "-c", f"exec {self.command(line)}"],
            cwd=self._directory,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PATH": path, "PYTHONPATH": sources, "KAFKA_HEAP_OPTS": "-Xmx1G"},
        )

    def run(self, line: str, typed: str = "") -> str:
        process = self.start(line)
        try:
            output, errors = process.communicate(typed, timeout=DEADLINE_S)
        finally:
            process.kill()
            process.wait()
        assert process.returncode == 0, f"{line}: {output}{errors}"
        return output

    def until(self, line: str, pattern: str) -> str:
        """Run a line until its output matches: what it started goes on by itself."""
        deadline = time.monotonic() + DEADLINE_S
        while not re.search(pattern, output := self.run(line), re.MULTILINE):
            assert time.monotonic() < deadline, f"{line} printed {output!r}, not {pattern!r}"
        return output


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    directory = tmp_path_factory.mktemp("seeds")
    with exclusive("broker"), zookeeper(directory / "zookeeper") as zookeeper_port:
        settings = {"zookeeper.connect": f"127.0.0.1:{zookeeper_port}"}
        brokers = [
            OurBroker(directory / f"broker-{number}", settings | {"broker.id": str(number)})
            for number in (0, 1)
        ]
        try:
            for broker in brokers:
                broker.start()
            yield Terminal(directory, zookeeper_port, brokers[0].port)
        finally:
            for broker in brokers:
                broker.kill()


def read_until_ctrl_c(terminal: Terminal, line: str, count: int) -> list[str]:
    """The first lines that a consumer prints; then somebody types Ctrl-C."""
    process = terminal.start(line)
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        lines = [process.stdout.readline() for _ in range(count)]
        process.send_signal(signal.SIGINT)
        process.wait(DEADLINE_S)
        assert f"Processed a total of {count} messages" in process.stderr.read()
    finally:
        process.kill()
        process.communicate()
    return lines


def test_a_replicated_topic_is_made_described_written_and_read(terminal: Terminal) -> None:
    assert terminal.run(CREATE) == "Created topic my-replicated-topic.\n"
    described = terminal.until(
        "bin/kafka-topics.sh --describe --zookeeper localhost:2181 --topic my-replicated-topic",
        r"Isr: \d,\d$",
    )
    assert re.fullmatch(
        "Topic:my-replicated-topic\tPartitionCount:1\tReplicationFactor:2\tConfigs:\n"
        r"\tTopic: my-replicated-topic\tPartition: 0\tLeader: \d"
        r"\tReplicas: \d,\d\tIsr: \d,\d\n",
        described,
    )
    terminal.run(
        "bin/kafka-console-producer.sh --broker-list localhost:9092 --topic my-replicated-topic",
        "my test message 1\nmy test message 2\n",
    )
    read = (
        "bin/kafka-console-consumer.sh --bootstrap-server localhost:9092 --from-beginning "
        "--topic my-replicated-topic"
    )
    expected = ["my test message 1\n", "my test message 2\n"]
    assert read_until_ctrl_c(terminal, read, 2) == expected


def test_zookeepers_nodes_are_those_of_the_tutorial(terminal: Terminal) -> None:
    zkcli = "zkCli.sh -server localhost:2181"
    listed, controller = terminal.run(zkcli, "ls /\nget /controller\nquit\n").splitlines()[-2:]
    known = "controller_epoch controller brokers isr_change_notification consumers config"
    known += " log_dir_event_notification latest_producer_id_block"
    assert set(known.split()) <= set(listed.strip("[]").split(", "))
    assert re.fullmatch(r'\{"version":\d,"brokerid":\d,"timestamp":"\d{13}".*\}', controller)


def test_a_topic_is_listed_deleted_and_made_again(terminal: Terminal) -> None:
    create = (
        "kafka-topics.sh --create --zookeeper localhost:2181 --replication-factor 1 "
        "--partitions 1 --topic Hello-Kafka"
    )
    listing = "kafka-topics.sh --list --zookeeper localhost:2181"
    terminal.run(create)
    assert "Hello-Kafka\n" in terminal.run(listing)
    produce = "kafka-console-producer.sh --broker-list localhost:9092 --topic Hello-Kafka"
    terminal.run(produce, "hello\n")
    read = (
        "kafka-console-consumer.sh --bootstrap-server localhost:9092 --from-beginning "
        "--topic Hello-Kafka"
    )
    assert read_until_ctrl_c(terminal, read, 1) == ["hello\n"]
    deleted = terminal.run(
        "kafka-topics.sh --delete --zookeeper localhost:2181 --topic Hello-Kafka"
    )
    assert deleted.startswith("Topic Hello-Kafka is marked for deletion.\n")
    terminal.until(listing, r"\A(?!(.*\n)*Hello-Kafka)")
    terminal.run(create)
    assert "Hello-Kafka" in terminal.run("zkCli.sh -server localhost:2181 ls /brokers/topics")


def test_settings_are_changed_through_zookeeper(terminal: Terminal) -> None:
    terminal.run(
        "kafka-topics.sh --create --zookeeper localhost:2181 --replication-factor 1 "
        "--partitions 1 --topic set"
    )
    configs = "kafka-configs.sh --zookeeper localhost:2181 --entity-type topics --entity-name set"
    changed = terminal.run(f"{configs} --alter --add-config retention.ms=5000")
    assert changed == "Completed Updating config for entity: topic 'set'.\n"
    described = terminal.run(f"{configs} --describe")
    assert described == "Configs for topic 'set' are retention.ms=5000\n"
    asked = "kafka-topics.sh --describe --topic set --bootstrap-server localhost:9092"
    terminal.until(asked, "retention.ms=5000")


def test_a_consumer_that_asks_zookeeper_is_told_what_to_do(terminal: Terminal) -> None:
    old = (
        "kafka-console-consumer.sh --zookeeper localhost:2181 --from-beginning --topic Hello-Kafka"
    )
    process = terminal.start(old)
    _, errors = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 1
    assert "use --bootstrap-server localhost:9092 instead of --zookeeper" in errors


def test_a_topics_node_is_removed_by_hand(terminal: Terminal) -> None:
    terminal.run(
        "bin/kafka-topics.sh --create --zookeeper localhost:2181 --replication-factor 1 "
        "--partitions 1 --topic test"
    )
    terminal.until("kafka-topics.sh --list --bootstrap-server localhost:9092", "^test$")
    typed = "ls /brokers/topics\nrmr /brokers/topics/test\nls /brokers/topics\n"
    *_, before, after = terminal.run("zkCli.sh -server localhost:2181", typed).splitlines()
    assert "test" in before.strip("[]").split(", ")
    assert "test" not in after.strip("[]").split(", ")


def test_a_port_where_nobody_is_says_what_to_do(tmp_path: Path) -> None:
    alone = Terminal(tmp_path, free_port(), free_port())
    process = alone.start("kafka-topics.sh --list --zookeeper localhost:2181")
    _, errors = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 1
    assert "use --bootstrap-server localhost:9092 instead" in errors
