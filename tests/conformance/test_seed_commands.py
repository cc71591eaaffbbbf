"""Command lines that people copy from tutorials, verbatim, on a real ZooKeeper and our brokers.

Their addresses are ports 2181 and 9092 of this machine: only those are replaced, by free ones.
"""

import hashlib
import os
import pty
import re
import select
import shutil
import signal
import site
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import pytest

from conformance.apache.broker import free_port
from conformance.apache.cache import CLONE, cache_directory, exclusive
from conformance.apache.marks import needs_apache
from conformance.seed_lines import FILES, SeedStep, read_steps, start_line
from unit.cli.command import run
from unit.cli.transcript import OLDER_TRANSCRIPTS, compare, read_transcript

pytestmark = needs_apache("kafka-3.9")

DEADLINE_S = 60


PROMPT = r"(^>|\(CONNECTED\) \d+\] )\Z"
SHELL = "zkCli.sh"
OLD_CONSUMER = "kafka-console-consumer.sh --zookeeper"


class Screen:
    """A program at a terminal of its own."""

    def __init__(self, terminal: "Terminal", line: str) -> None:
        self._line = line
        self._unread = self._all = ""
        self._code = 1 if line.startswith(OLD_CONSUMER) else 0
        self._master, slave = pty.openpty()
        # Without an address it asks the usual port of this machine.
        usual = f"{line} -server localhost:2181" if line == SHELL else line
        self._process = subprocess.Popen(
            ["bash", "-c", f"exec {terminal.command(usual)}"],
            cwd=terminal.directory,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=terminal.environment,
            start_new_session=True,
        )
        os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    def wait_for(self, pattern: str) -> None:
        """Read until a line has this; what is before it has been read."""
        deadline = time.monotonic() + DEADLINE_S
        while not (found := re.search(pattern, self._unread, re.MULTILINE)):
            assert time.monotonic() < deadline, f"{self._line}: {self._all!r} lacks {pattern!r}"
            assert self._read(), f"{self._line} printed {self._all!r}, not {pattern!r}"
        # A prompt that was waited for is still there for those who type.
        self._unread = self._unread[found.start() :]

    def type(self, text: str) -> None:
        self._unread = ""
        os.write(self._master, f"{text}\n".encode())
        self.wait_for(re.escape(text))  # as terminals echo it
        self._unread = self._unread.partition("\n")[2]

    def interrupt(self) -> None:
        self._code = 130
        self._process.send_signal(signal.SIGINT)

    def finish(self) -> None:
        """Wait for the end."""
        if self._line == SHELL:
            self.wait_for(PROMPT)
            os.write(self._master, b"quit\n")
        while self._read():
            continue
        assert self._process.wait(DEADLINE_S) == self._code, self._all
        assert "Traceback" not in self._all

    def _read(self) -> bool:
        """Whether more came; nothing does after the end."""
        ready, _, _ = select.select([self._master], [], [], DEADLINE_S)
        try:
            data = os.read(self._master, 65536) if ready else b""
        except OSError:  # as Linux says that nobody has the other end any more
            return False
        text = data.decode().replace("\r\n", "\n")
        self._unread += text
        self._all += text
        return bool(data)


class Terminal:
    """Runs command lines as a shell does, in a fresh directory with the scripts of the clone."""

    def __init__(self, directory: Path, zookeeper_port: int, broker_ports: Sequence[int]) -> None:
        self.directory = directory
        self.variables: dict[str, str] = {}
        """What is in the environment beside all else."""
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
            **self.variables,
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

    def play(self, step: SeedStep) -> None:
        """Type a line and what comes after it, at a terminal, and see what is printed."""
        with Screen(self, step.line) as screen:
            before = ""
            for mark, text in step.events:
                if before == "<" and mark == "^C":
                    screen.wait_for(PROMPT)  # or what was typed is not read yet
                before = mark
                if mark == "|":
                    screen.wait_for(text)
                elif mark == "<":
                    screen.wait_for(PROMPT)
                    screen.type(text.replace("<topic_name>", "my-replicated-top"))
                elif mark == "^C":
                    screen.interrupt()
                else:
                    self.until(text, rf"\A(?!(.*\n)*{step.topic}$)")
            screen.finish()

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
    with tutorial_cluster(tmp_path_factory.mktemp("seeds")) as made:
        yield made


@contextmanager
def tutorial_cluster(directory: Path, **variables: str) -> Iterator[Terminal]:
    """A cluster that was started as tutorials start it."""
    zookeeper_port, *broker_ports = (free_port() for _ in range(3))
    # Of three servers, as one of the seeds names them, one is there.
    dead_ports = [free_port() for _ in range(2)]
    with exclusive("broker"):
        terminal = Terminal(directory, zookeeper_port, broker_ports)
        terminal.variables |= variables
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
                    zookeeper_connect=",".join(
                        f"localhost:{port}" for port in (zookeeper_port, *dead_ports)
                    ),
                )
                terminal.start_server(start_line().replace("/server.", f"/{name}."))
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


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_seed_is_played_line_by_line(path: Path, terminal: Terminal) -> None:
    play_seed(path, terminal)


def play_seed(path: Path, terminal: Terminal) -> None:
    for step in read_steps(path):
        if step.is_done:
            continue
        if step.is_question:
            terminal.until(step.line, step.events[-1][1])
        terminal.play(step)


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
