"""Command lines that people copy from tutorials, verbatim, on a real ZooKeeper and our brokers.

Their addresses are ports 2181 and 9092 of this machine: only those are replaced, by free ones.
"""

import hashlib
import os
import re
import shutil
import signal
import site
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from conformance.apache.broker import free_port
from conformance.apache.cache import CLONE, cache_directory, exclusive
from conformance.apache.marks import needs_apache
from unit.cli.command import run
from unit.cli.transcript import OLDER_TRANSCRIPTS, compare, read_transcript

pytestmark = needs_apache("kafka-3.9")

DEADLINE_S = 60
CREATE = (
    "bin/kafka-topics.sh --create --zookeeper localhost:2181 --replication-factor 2 "
    "--partitions 1 --topic my-replicated-topic"
)


class Terminal:
    """Runs command lines as a shell does, in a fresh directory with the scripts of the clone."""

    def __init__(self, directory: Path, zookeeper_port: int, broker_ports: Sequence[int]) -> None:
        self.directory = directory
        self.broker_ports = broker_ports
        self._ports = {"2181": zookeeper_port, "9092": broker_ports[0]}
        for name in ("bin", "config"):
            shutil.copytree(CLONE / name, directory / name)
        python = directory / ".venv" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.symlink_to(Path(sys.executable).resolve())
        stamp = directory / ".venv" / "stamps" / "base"
        stamp.parent.mkdir()
        script = directory / "bin" / "moldau"
        stamp.write_text(f"{hashlib.sha256(script.read_bytes()).hexdigest()}  {script}\n")

    def configure(self, name: str, **settings: str) -> None:
        """Add settings to a file, as the tutorials say, or make another from it."""
        source = "zookeeper" if name == "zookeeper" else "server"
        lines = (CLONE / "config" / f"{source}.properties").read_text()
        lines += "".join(f"{key.replace('_', '.')}={value}\n" for key, value in settings.items())
        (self.directory / "config" / f"{name}.properties").write_text(lines)

    def command(self, line: str) -> str:
        for port, replacement in self._ports.items():
            line = line.replace(f"localhost:{port}", f"localhost:{replacement}")
        return line

    @property
    def environment(self) -> dict[str, str]:
        """What people have in theirs; none of it may be in the way."""
        return os.environ | {
            "PATH": f"{self.directory / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join([str(CLONE / "src"), *site.getsitepackages()]),
            "MOLDAU_CACHE": str(cache_directory()),
            "MOLDAU_PURE": "",
            "KAFKA_HEAP_OPTS": "-Xmx128M -XX:TieredStopAtLevel=1",
            "KAFKA_OPTS": "-Djava.awt.headless=true",
            "KAFKA_JVM_PERFORMANCE_OPTS": "-server",
            "LOG_DIR": str(self.directory / "journal"),
        }

    def start(self, line: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["bash", "-c", f"exec {self.command(line)}"],
            cwd=self.directory,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
        )

    def start_server(self, line: str) -> None:
        """Run a line that leaves a server behind."""
        subprocess.run(["bash", "-c", line], cwd=self.directory, env=self.environment, check=True)

    def run(self, line: str, typed: str = "") -> str:
        process = self.start(line)
        try:
            output, errors = process.communicate(typed, timeout=DEADLINE_S)
        finally:
            process.kill()
            process.wait()
        assert process.returncode == 0, f"{line}: {output}{errors}"
        return output

    def until(self, line: str, pattern: str, *, is_waiting: bool = False) -> str:
        """Run a line until its output matches: what it started goes on by itself.

        While one waits for servers, a line may fail as well.
        """
        deadline = time.monotonic() + DEADLINE_S
        while True:
            try:
                output = self.run(line)
            except AssertionError as failed:
                output = str(failed)
                assert is_waiting, output
            if re.search(pattern, output, re.MULTILINE):
                return output
            assert time.monotonic() < deadline, f"{line} printed {output!r}, not {pattern!r}"


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """A cluster that was started as tutorials start it."""
    directory = tmp_path_factory.mktemp("seeds")
    zookeeper_port, *broker_ports = (free_port() for _ in range(3))
    with exclusive("broker"):
        terminal = Terminal(directory, zookeeper_port, broker_ports)
        terminal.configure(
            "zookeeper", dataDir=str(directory / "nodes"), clientPort=str(zookeeper_port)
        )
        try:
            terminal.start_server(
                "bin/zookeeper-server-start.sh -daemon config/zookeeper.properties"
            )
            for number, name in enumerate(("server", "server-1")):
                terminal.configure(
                    name,
                    broker_id=str(number),
                    listeners=f"PLAINTEXT://:{broker_ports[number]}",
                    advertised_listeners=f"PLAINTEXT://127.0.0.1:{broker_ports[number]}",
                    log_dirs=str(directory / "kafka-logs" / name),
                    zookeeper_connect=f"localhost:{zookeeper_port}",
                )
                terminal.start_server(
                    f"./bin/kafka-server-start.sh -daemon config/{name}.properties &"
                )
            terminal.until(
                "zkCli.sh -server localhost:2181 ls /brokers/ids", r"^\[0, 1\]$", is_waiting=True
            )
            yield terminal
        finally:
            for server in ("kafka", "zookeeper"):
                terminal.start_server(f"SIGNAL=KILL bin/{server}-server-stop.sh || true")


def test_servers_write_where_they_are_told(terminal: Terminal) -> None:
    journal = terminal.directory / "journal"
    assert {path.name for path in journal.iterdir()} == {"kafkaServer.out", "zookeeper.out"}
    assert "started" in (journal / "kafkaServer.out").read_text()


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
    assert terminal.run(CREATE) == 'Created topic "my-replicated-topic".\n'
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
    alone = Terminal(tmp_path, free_port(), [free_port()])
    process = alone.start("kafka-topics.sh --list --zookeeper localhost:2181")
    _, errors = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 1
    assert "use --bootstrap-server localhost:9092 instead" in errors


@pytest.mark.parametrize(
    "path", sorted(OLDER_TRANSCRIPTS.glob("*.txt")), ids=lambda path: path.stem
)
def test_what_2_1_printed_of_zookeeper_is_printed_again(
    path: Path, terminal: Terminal, tmp_path: Path
) -> None:
    transcript = read_transcript(path)
    transcript.write_files(tmp_path)
    servers = terminal.command("localhost:2181").replace("localhost", "127.0.0.1")
    for step in transcript.commands():
        program, arguments = step.arguments("", tmp_path, servers)
        deadline = time.monotonic() + DEADLINE_S
        while True:
            done = run(program, *arguments)
            try:
                compare(step, done)
            except AssertionError:
                # The controller does what was asked for in its own time.
                is_waiting = {"--describe", "--verify"} & set(arguments)
                if not is_waiting or time.monotonic() > deadline:
                    raise
            else:
                break
