"""A distributed worker of Apache Kafka Connect 3.9, driven by its REST interface."""

import json
import os
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from conformance.apache.broker import free_port
from conformance.apache.jars import class_path
from conformance.apache.jvm import QUICK_START, java_command

_DEADLINE_S = 90
_SETTINGS = {
    "group.id": "connect",
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    "config.storage.topic": "connect-configs",
    "config.storage.replication.factor": "1",
    "offset.storage.topic": "connect-offsets",
    "offset.storage.replication.factor": "1",
    "offset.storage.partitions": "2",
    "status.storage.topic": "connect-status",
    "status.storage.replication.factor": "1",
    "status.storage.partitions": "1",
    "offset.flush.interval.ms": "200",
    "plugin.discovery": "service_load",
}


@dataclass(slots=True)
class Worker:
    """A running worker."""

    url: str
    log: Path
    process: subprocess.Popen[bytes]

    def put(self, connector: str, config: Mapping[str, str]) -> None:
        """Make a connector, or change it."""
        self._ask("PUT", f"connectors/{connector}/config", config)

    def states(self, connector: str) -> list[str]:
        """The states of a connector and its tasks, as far as they are known."""
        try:
            status = self._ask("GET", f"connectors/{connector}/status")
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return []
            raise
        assert isinstance(status, dict)
        return [each["state"] for each in (status["connector"], *status["tasks"])]

    def delete(self, connector: str) -> None:
        """Take a connector away."""
        self._ask("DELETE", f"connectors/{connector}")

    def kill(self) -> None:
        """End it as a crash would."""
        self.process.kill()
        self.process.wait()

    def connectors(self) -> list[str]:
        """The names of the connectors."""
        names = self._ask("GET", "connectors")
        assert isinstance(names, list)
        return sorted(names)

    def _ask(self, method: str, path: str, body: Mapping[str, str] | None = None) -> object:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        deadline = time.monotonic() + _DEADLINE_S
        while True:
            asked = urllib.request.Request(f"{self.url}/{path}", data, headers, method=method)
            try:
                with urllib.request.urlopen(asked, timeout=_DEADLINE_S) as answer:
                    text = answer.read()
                    return json.loads(text) if text else None
            except urllib.error.HTTPError as error:
                # It answers so while it rebalances.
                if error.code != 409 or time.monotonic() > deadline:
                    raise
            time.sleep(0.1)


@contextmanager
def worker(
    directory: Path,
    bootstrap: str,
    settings: Mapping[str, str] | None = None,
    jars: Sequence[str] = (),
    options: Sequence[str] = QUICK_START,
) -> Iterator[Worker]:
    """A worker that serves, with more jars if need be; it is stopped cleanly, unless killed."""
    directory.mkdir(exist_ok=True)
    url = f"http://127.0.0.1:{free_port()}"
    used = {
        **_SETTINGS,
        "bootstrap.servers": bootstrap,
        "listeners": url,
        **(settings or {}),
    }
    properties, log = directory / "worker.properties", directory / "worker.log"
    properties.write_text("".join(f"{name}={value}\n" for name, value in used.items()))
    main_class = "org.apache.kafka.connect.cli.ConnectDistributed"
    path = class_path("connect-3.9", *jars)
    guard = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*guard, *java_command(path, main_class, str(properties), options=options)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "LC_ALL": "C"},
        )
    running = Worker(url, log, process)
    try:
        wait_until_it_serves(running)
        yield running
        process.send_signal(signal.SIGTERM)
        process.wait(_DEADLINE_S)
    finally:
        process.kill()
        process.wait()


def wait_until_it_serves(running: Worker) -> None:
    """Until its REST interface answers."""
    deadline = time.monotonic() + _DEADLINE_S
    while True:
        try:
            running.connectors()
        except (urllib.error.URLError, ConnectionError):
            assert running.process.poll() is None, running.log.read_text()[-3000:]
            assert time.monotonic() < deadline, running.log.read_text()[-3000:]
            time.sleep(0.1)
        else:
            return
