"""A Connect worker of ours as a process, which can be killed."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from conformance.apache.broker import free_port
from unit.connect.started import StartedWorker

DEADLINE_S = 240
_GROUP = {
    "group.id": "workers",
    "offset.storage.partitions": "2",
    "status.storage.partitions": "1",
    # Whoever is killed is missed soon.
    "consumer.session.timeout.ms": "3000",
    "consumer.heartbeat.interval.ms": "500",
}


@dataclass(slots=True)
class WorkerProcess:
    """What tests ask, and the process."""

    rest: StartedWorker
    process: subprocess.Popen[bytes]
    log: Path

    def kill(self) -> None:
        """End it as a crash would."""
        self.process.kill()
        self.process.wait()

    def answers(self, status: int) -> bool:
        """Whether questions about connectors have this status."""
        try:
            return self.rest.ask("GET", "/connectors")[0] == status
        except OSError:
            return False

    def until(self, is_so: Callable[[], bool], what: Callable[[], object] = lambda: "") -> None:
        """Wait for something that the worker does."""
        deadline = time.monotonic() + DEADLINE_S
        while not is_so():
            assert self.process.poll() is None, self.log.read_text()[-3000:]
            assert time.monotonic() < deadline, (what(), self.log.read_text()[-3000:])
            time.sleep(0.05)

    def until_states(self, name: str, states: list[str]) -> None:
        """Wait for the states of a connector and its tasks."""
        self.until(
            lambda: self.rest.states(name) == states,
            lambda: self.rest.ask("GET", f"/connectors/{name}/status"),
        )


@contextmanager
def worker_process(
    directory: Path, servers: str, settings: Mapping[str, str], *, leads: bool = True
) -> Iterator[WorkerProcess]:
    """A worker in a directory of its own, once it leads, or stands by."""
    directory.mkdir(exist_ok=True)
    port = free_port()
    given = {
        "bootstrap.servers": servers,
        "listeners": f"http://127.0.0.1:{port}",
        **_GROUP,
        **settings,
    }
    file, log = directory / "worker.properties", directory / "worker.log"
    file.write_text("".join(f"{name}={text}\n" for name, text in given.items()))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "moldau", "connect-distributed", str(file)],
            cwd=directory,
            env=environment,
            stdout=output,
            stderr=output,
        )
    found = WorkerProcess(StartedWorker(f"http://127.0.0.1:{port}"), process, log)
    try:
        found.until(lambda: found.answers(200 if leads else 503))
        yield found
    finally:
        process.terminate()
        try:
            process.wait(DEADLINE_S)
        finally:
            process.kill()
