"""The stage of `moldau serve --brokers 3`: a supervisor has the tree, and starts again who dies."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from conformance.apache.broker import free_port
from conformance.our_broker import SOURCES, OurBroker
from conformance.our_cluster import until
from faults.links import HOST, Links
from faults.stage import SETTINGS, Parts, Stage, under_load

NUMBERS = (0, 1, 2)
# Of those for any cluster: what neither stops brokers in good order, cuts links, nor needs a
# broker to stay away, since the supervisor starts it again at once.
APPLYING = ("F1", "F2", "F4", "F7", "F8", "F9", "F10", "F25", "F36")
_UP = "all 3 brokers have started"
_STOP_S = 60


class Supervisor:
    """The process that has the brokers, and what it says."""

    def __init__(self, data: Path, ports: Mapping[int, int], settings: Mapping[str, str]) -> None:
        self.data = data
        self.lines: list[str] = []
        overrides = [part for item in settings.items() for part in ("--override", "=".join(item))]
        # Where the system can, let it die with the test worker, and its brokers with it.
        guard = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
        tree_port = free_port()
        self.tree = f"{HOST}:{tree_port}"
        self._command = [
            *(*guard, sys.executable, "-m", "moldau", "serve", "--brokers", str(len(ports))),
            *("--ports", ",".join(map(str, ports.values())), "--host", HOST),
            *("--data", str(data), "--tree-port", str(tree_port), *overrides),
        ]
        self._process: subprocess.Popen[str]

    def start(self) -> None:
        """Start it, and wait until all brokers serve."""
        begin = len(self.lines)
        self._process = process = subprocess.Popen(
            self._command,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(SOURCES)},
            text=True,
        )
        threading.Thread(target=self._read, args=[process.stderr], daemon=True).start()

        def look() -> bool:
            assert process.poll() is None, self.lines[begin:]
            return any(_UP in line for line in self.lines[begin:])

        until(look, "the brokers have started")

    def until_said(self, what: str, begin: int) -> None:
        """Wait until a line that has come since `begin` has this in it."""
        until(lambda: any(what in line for line in self.lines[begin:]), what)

    def ask_to_stop(self) -> None:
        """Have it stop one broker after the other."""
        self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a crash would: its brokers are left alone, and end by themselves."""
        self._process.kill()
        self._process.wait()

    def process_of(self, number: int) -> int | None:
        """The process of a broker; None if it has none just now."""
        wanted = str(self.data / f"broker-{number}.properties").encode()
        task = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        for child in task.read_text().split():
            try:
                words = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue  # it has ended
            if wanted in words:
                return int(child)
        return None

    def stop(self) -> None:
        self.ask_to_stop()
        try:
            self._process.wait(_STOP_S)
        finally:
            self._process.kill()
            self._process.wait()

    def _read(self, stderr: IO[str]) -> None:
        with stderr as stream:
            for line in stream:
                self.lines.append(line)
                sys.stderr.write(line)


@dataclass(slots=True)
class SupervisedBroker(OurBroker):
    """One of its brokers: whoever kills it finds it started again."""

    supervisor: Supervisor = field(kw_only=True)
    number: int = field(kw_only=True)
    _seen: int = 0
    _starts_before: int = 0

    @property
    def log_directory(self) -> Path:
        return self.supervisor.data / f"broker-{self.number}"

    def replica_directories(self) -> Iterator[Path]:
        return self.log_directory.glob("*-*")

    @property
    def process_id(self) -> int:
        self._seen = until(lambda: self.supervisor.process_of(self.number), "it has a process")
        return self._seen

    @property
    def is_running(self) -> bool:
        return self.supervisor.process_of(self.number) is not None

    def start(self) -> None:
        """Wait until the supervisor has done it."""
        until(lambda: self._starts() > self._starts_before, f"broker {self.number} is started")

    def kill(self) -> None:
        """See that the process is gone which `Stage.kill` has killed."""
        until(lambda: self.supervisor.process_of(self.number) != self._seen, "it has ended")
        self._starts_before = self._starts()

    def _starts(self) -> int:
        started = f"[KafkaServer id={self.number}] started"
        return sum(started in line for line in list(self.supervisor.lines))


def supervisor_of(stage: Stage) -> Supervisor:
    """The process that has the brokers of a stage."""
    broker = stage.cluster.brokers[NUMBERS[0]]
    assert isinstance(broker, SupervisedBroker)
    return broker.supervisor


@contextmanager
def supervised_stage(directory: Path, settings: Mapping[str, str]) -> Iterator[Stage]:
    """The brokers of a supervisor under load."""
    with ExitStack() as stack:
        links = Links()
        stack.callback(links.close)
        ports = {number: free_port() for number in NUMBERS}
        supervisor = Supervisor(directory / "cluster", ports, {**SETTINGS, **settings})
        supervisor.start()
        stack.callback(supervisor.stop)
        brokers: dict[int, OurBroker] = {
            number: SupervisedBroker(
                directory, port=ports[number], supervisor=supervisor, number=number
            )
            for number in NUMBERS
        }
        yield under_load(stack, Parts(directory, brokers, supervisor.tree, None, links))
