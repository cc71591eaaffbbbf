"""Workers of Connect that are measured: Apache's and ours, and the topics that they fill."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from conformance.apache.broker import free_port
from conformance.apache.connect import Worker, wait_until_it_serves, worker
from conformance.apache.jvm import CONNECT_AS_SHIPPED
from conformance.our_broker import SOURCES
from moldau.client.blocking.consumer import Consumer

DEADLINE_S = 900
JSON = "org.apache.kafka.connect.json.JsonConverter"
PLAIN = {f"{side}.converter": JSON for side in ("key", "value")} | {
    f"{side}.converter.schemas.enable": "false" for side in ("key", "value")
}
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class MeasuredWorker:
    """A worker with room for connectors."""

    name: str
    prefix: str
    """Of what it makes: topics, slots, tables."""
    connect: Worker

    def make(self, part: str, config: Mapping[str, str]) -> None:
        """A connector, and wait until its task runs."""
        self.connect.put(part, config)

    def until_running(self, parts: list[str]) -> None:
        """Wait until tasks run."""
        deadline = time.monotonic() + DEADLINE_S
        for part in parts:
            while (states := self.connect.states(part))[1:] != ["RUNNING"]:
                assert time.monotonic() < deadline, (part, states)
                time.sleep(0.1)

    def delete(self, part: str) -> None:
        """Take a connector away."""
        self.connect.delete(part)

    def cpu_s(self) -> float:
        """Processor time that the worker has used."""
        return sum(map(int, _stat(self.connect.process.pid)[11:13])) / _TICKS_PER_S

    def memory_mb(self) -> float:
        """Resident memory."""
        return _resident_mb(self.connect.process.pid)

    def cpu_of_all_s(self) -> float:
        """Processor time of the worker and of all that it has started, also of what has ended."""
        pids = _with_children(self.connect.process.pid)
        return sum(sum(map(int, _stat(pid)[11:15])) for pid in pids) / _TICKS_PER_S

    def memory_of_all_mb(self) -> float:
        """Resident memory of the worker and of all that it has started; what is shared, twice."""
        return sum(map(_resident_mb, _with_children(self.connect.process.pid)))


def _text(path: Path) -> str:
    """Nothing, of a process that has ended meanwhile."""
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _stat(pid: int) -> list[str]:
    """What follows the name of a process, beginning with its state."""
    return _text(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()


def _resident_mb(pid: int) -> float:
    lines = _text(Path(f"/proc/{pid}/status")).splitlines()
    return sum(int(each.split()[1]) / 1024 for each in lines if each.startswith("VmRSS:"))


def _with_children(pid: int) -> list[int]:
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    children = [int(child) for each in lists for child in _text(each).split()]
    return [pid, *(each for child in children for each in _with_children(child))]


class CommittedTopic:
    """A topic from its beginning, as transactions commit it."""

    def __init__(self, bootstrap: str, name: str) -> None:
        self._consumer = Consumer[bytes, bytes](
            bootstrap_servers=bootstrap,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
        )
        self._consumer.assign([(name, 0)])
        self.name = name
        self.records: list[tuple[bytes | None, bytes | None]] = []

    def until(self, is_last: Callable[[bytes | None], bool], count: int = 0) -> None:
        """Read on up to a value, and so many records at least."""
        deadline, has_ended = time.monotonic() + DEADLINE_S, False
        while not has_ended or len(self.records) < count:
            assert time.monotonic() < deadline, f"{self.name}: {len(self.records)} records"
            for each in self.poll(0.2):
                has_ended = has_ended or is_last(each)

    def poll(self, timeout_s: float) -> list[bytes | None]:
        """The values that have come."""
        found = self._consumer.poll(timeout_s)
        self.records += [(each.key, each.value) for each in found]
        return [each.value for each in found]

    def close(self) -> None:
        self._consumer.close()


@contextmanager
def apache_worker(directory: Path, bootstrap: str, *jars: str) -> Iterator[MeasuredWorker]:
    """Apache's, with the options of its own script, exactly once as ours is."""
    settings = {"exactly.once.source.support": "enabled", "offset.flush.interval.ms": "60000"}
    with worker(directory, bootstrap, settings, jars, CONNECT_AS_SHIPPED) as running:
        yield MeasuredWorker("Apache", "java", running)


@contextmanager
def moldau_worker(
    directory: Path, bootstrap: str, settings: Mapping[str, str] | None = None
) -> Iterator[MeasuredWorker]:
    """Ours, as a process."""
    url = f"http://127.0.0.1:{free_port()}"
    directory.mkdir()
    properties, log = directory / "worker.properties", directory / "worker.log"
    given = {
        "bootstrap.servers": bootstrap,
        "group.id": "moldau",
        "listeners": url,
        **{f"{each}.storage.topic": f"moldau-{each}" for each in ("config", "offset", "status")},
        **(settings or {}),
    }
    properties.write_text("".join(f"{name}={text}\n" for name, text in given.items()))
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "moldau", "connect-distributed", str(properties)],
            cwd=directory,
            env={**os.environ, "PYTHONPATH": str(SOURCES)},
            stdout=output,
            stderr=output,
        )
    found = Worker(url, log, process)
    try:
        wait_until_it_serves(found)
        yield MeasuredWorker("Moldau", "moldau", found)
    finally:
        process.terminate()
        try:
            process.wait(30)
        finally:
            process.kill()
            process.wait()
