"""A real Apache Kafka 3.9 broker with its ZooKeeper, on free ports of this machine."""

import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from conformance.apache.cache import exclusive
from conformance.apache.jars import class_path
from conformance.apache.jvm import QUICK_START, java_command
from moldau.protocol.messages.metadata import MetadataRequest
from moldau.testing.wire import Disconnected, WireClient

_STARTED = re.compile(r"started \(kafka\.server\.Kafka(Raft)?Server\)")
_START_S = 60
_STOP_S = 30
_FIRST_PORT, _LAST_PORT, _PARTS, _PORTS_APART = 10_000, 32_000, 4, 8

# What a broker of one needs, and what makes it start and stop quickly.
_SETTINGS = {
    "broker.id": "1",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    "controlled.shutdown.enable": "false",
    "log.cleaner.dedupe.buffer.size": str(16 * 2**20),
    "auto.create.topics.enable": "false",
}


@dataclass(slots=True)
class ApacheBroker:
    """A broker that can be stopped, killed and started again on the same log directory."""

    directory: Path
    zookeeper_port: int
    settings: Mapping[str, str]
    jvm_options: Sequence[str] = QUICK_START
    jars: str = "kafka-3.9"
    port: int = field(init=False)
    _process: subprocess.Popen[bytes] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.port = free_port()

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def log_directory(self) -> Path:
        return self.directory / "logs"

    @property
    def server_log(self) -> str:
        return (self.directory / "server.log").read_text()

    def write_properties(self) -> Path:
        """The file that the broker starts with."""
        settings = {
            **_SETTINGS,
            "listeners": f"PLAINTEXT://{self.bootstrap}",
            "zookeeper.connect": f"127.0.0.1:{self.zookeeper_port}",
            "log.dirs": str(self.log_directory),
            **self.settings,
        }
        properties = self.directory / "server.properties"
        properties.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        return properties

    def start(self) -> None:
        properties = self.write_properties()
        with (self.directory / "server.log").open("ab") as log:
            start = log.tell()
            self._process = _launch(
                java_command(
                    class_path(self.jars),
                    "kafka.Kafka",
                    str(properties),
                    options=self.jvm_options,
                ),
                log,
            )
        _wait_until(
            lambda: _STARTED.search(self.server_log, start) is not None,
            process=self._process,
            what="Apache Kafka",
        )
        # It says so before its controller has told it of itself: until then it has no brokers
        # to put a topic on.
        _wait_until(
            lambda: _knows_itself(self.bootstrap), process=self._process, what="the controller"
        )

    def stop(self) -> None:
        """Stop cleanly: everything flushed, the clean-shutdown marker written."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            try:
                self._process.wait(_STOP_S)
            finally:
                self._process.kill()
                self._process.wait()
                self._process = None

    def complaints(self) -> list[str]:
        """The warnings and errors of the server log, but for its controller's impatience."""
        lines = re.findall(r"^\[.*\] (?:WARN|ERROR|FATAL) .*$", self.server_log, re.MULTILINE)
        return [line for line in lines if not re.search(r"\[(Controller|RequestSend)", line)]


@contextmanager
def apache_broker(
    directory: Path,
    settings: Mapping[str, str] | None = None,
    *,
    jvm_options: Sequence[str] = QUICK_START,
) -> Iterator[ApacheBroker]:
    """A broker under `directory`, not yet started; one at a time on this machine."""
    with ExitStack() as stack:
        stack.enter_context(exclusive("broker"))
        port = stack.enter_context(zookeeper(directory / "zookeeper"))
        broker = ApacheBroker(directory, port, settings or {}, jvm_options)
        stack.callback(broker.kill)
        yield broker


@contextmanager
def zookeeper(directory: Path, settings: str = "") -> Iterator[int]:
    """A ZooKeeper server that keeps its data under `directory`; yields its port."""
    directory.mkdir(parents=True)
    port = free_port()
    process = launch_zookeeper(directory, f"clientPort={port}\n{settings}")
    try:
        # It answers `ruok` before it serves; `srvr` only then.
        _wait_until(lambda: bool(answers_srvr(port)), process=process, what="ZooKeeper")
        yield port
    finally:
        process.kill()
        process.wait()


def launch_zookeeper(
    directory: Path, settings: str, options: Sequence[str] = ()
) -> subprocess.Popen[bytes]:
    """The process of a ZooKeeper server; `settings` say where it listens, `options` are Java's."""
    configuration = directory / "zoo.cfg"
    configuration.write_text(
        f"dataDir={directory}\nclientPortAddress=127.0.0.1\ntickTime=500\n"
        f"admin.enableServer=false\n4lw.commands.whitelist=srvr\n{settings}"
    )
    main_class = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
    with (directory / "server.log").open("ab") as log:
        command = java_command(
            class_path("kafka-3.9"),
            main_class,
            str(configuration),
            options=[*QUICK_START, *options],
        )
        return _launch(command, log)


def answers_srvr(port: int) -> bytes:
    """What a ZooKeeper server says of itself; nothing as long as it does not serve."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(b"srvr")
            answer = connection.makefile("rb").read()
    except OSError:
        return b""
    return answer if b"Mode:" in answer else b""


def free_port() -> int:
    """A port for a server that is started soon, with some free ones after it.

    Port 0 would give one that an outgoing connection may take before the server is there. These
    are below those that systems give out, and each worker of pytest has a part of its own.
    """
    for port in _PORTS:
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("ports never end")


def _ports() -> Iterator[int]:
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")[2:]
    part = min(int(worker), _PARTS - 2) if worker.isdigit() else _PARTS - 1
    size = (_LAST_PORT - _FIRST_PORT) // _PARTS
    first = _FIRST_PORT + part * size
    place = os.getpid() * _PORTS_APART  # processes of one test must not begin alike
    while True:
        yield first + place % size
        place += _PORTS_APART


_PORTS = _ports()


def _launch(command: list[str], log: IO[bytes]) -> subprocess.Popen[bytes]:
    # Where the system can, let the server die with the test worker, whatever ends that.
    guard = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
    program, *options = command
    return subprocess.Popen(
        [*guard, program, "-Dmoldau.log.level=INFO", *options],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        env={**os.environ, "LC_ALL": "C"},
    )


def _wait_until(
    is_ready: Callable[[], bool], *, process: subprocess.Popen[bytes], what: str
) -> None:
    deadline = time.monotonic() + _START_S
    while not is_ready():
        if process.poll() is not None:
            raise RuntimeError(f"{what} ended with code {process.returncode} while starting")
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} did not start within {_START_S} s")
        time.sleep(0.05)


def _knows_itself(bootstrap: str) -> bool:
    try:
        with WireClient(bootstrap) as client:
            metadata = client.ask(MetadataRequest(topics=[]), version=1)
    except (OSError, Disconnected):
        return False
    return bool(metadata.brokers) and metadata.controller_id >= 0
