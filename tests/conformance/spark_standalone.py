"""A standalone cluster of Spark: a master and two workers, as processes on this machine."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark

from conformance.apache.broker import free_port
from conformance.processes import children_of

SPARK = Path(pyspark.__file__).parent
_START_S = 120
EXECUTOR = b"CoarseGrainedExecutorBackend"


@dataclass(frozen=True, slots=True)
class Standalone:
    """A cluster, by what drivers have to know, and its workers' processes."""

    address: str
    workers: tuple[int, ...]

    def executors(self) -> list[int]:
        """The processes that it has started for drivers."""
        return [pid for worker in self.workers for pid in children_of(worker, EXECUTOR)]


@contextmanager
def standalone(directory: Path) -> Iterator[Standalone]:
    """A master and two workers, as processes that know nothing of this clone."""
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    master = ("master.Master", "--port", str(port), "--webui-port", str(free_port()))
    worker = ("worker.Worker", "--cores", "1", "--memory", "1g", "--work-dir")
    with ExitStack() as stack:
        stack.enter_context(daemon(*master))
        until_listening(port)
        workers = []
        for number in (1, 2):
            own = (str(directory / str(number)), "--webui-port", str(free_port()))
            # Spark starts a copy of a task on another host only.
            host = f"127.0.0.{number}"
            workers.append(stack.enter_context(daemon(*worker, *own, address, host=host)))
        yield Standalone(address, tuple(workers))


@contextmanager
def daemon(name: str, *arguments: str, host: str = "127.0.0.1") -> Iterator[int]:
    """A process of Spark's; yields its number, which stays when its script becomes Java."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [str(SPARK / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}"]
    process = subprocess.Popen(
        [*command, "--host", host, *arguments],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait(60)


def until_listening(port: int) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError(f"nothing listens on port {port}")
