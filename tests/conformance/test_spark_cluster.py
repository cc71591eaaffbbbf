"""Executors in processes of their own read and write with the package that an archive brought."""

import json
import os
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark
import pytest

from conformance.apache.broker import free_port
from conformance.spark_driver import COPY, OVERTAKEN
from conformance.spark_killing import ROW_BYTES
from conformance.spark_pipeline import committed, written
from moldau.client.blocking.producer import Producer
from moldau.records.fetched import kernel
from moldau.spark.packing import pack
from moldau.testing.broker import EmbeddedBroker, running_broker

pytestmark = [pytest.mark.needs("java"), pytest.mark.timeout(1200)]

SPARK = Path(pyspark.__file__).parent
COUNT = 600
_START_S = 120


@contextmanager
def standalone(directory: Path) -> Iterator[str]:
    """A master and two workers, as processes that know nothing of this clone."""
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    master = ("master.Master", "--port", str(port), "--webui-port", str(free_port()))
    worker = ("worker.Worker", "--cores", "1", "--memory", "1g", "--work-dir")
    with ExitStack() as stack:
        stack.enter_context(daemon(*master))
        until_listening(port)
        for number in (1, 2):
            own = (str(directory / str(number)), "--webui-port", str(free_port()))
            # Spark starts a copy of a task on another host only.
            host = f"127.0.0.{number}"
            stack.enter_context(daemon(*worker, *own, address, host=host))
        yield address


@contextmanager
def daemon(name: str, *arguments: str, host: str = "127.0.0.1") -> Iterator[None]:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [str(SPARK / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}"]
    process = subprocess.Popen(
        [*command, "--host", host, *arguments],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
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


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with running_broker({"num.partitions": "3"}) as broker:
        with Producer[bytes, bytes](
            bootstrap_servers=broker.bootstrap_servers, compression_type="zstd"
        ) as producer:
            for number in range(COUNT):
                producer.send("events", b"%0*d" % (ROW_BYTES, number))
        yield broker


def test_executors_read_and_write_with_what_the_archive_brought(
    broker: EmbeddedBroker, tmp_path: Path
) -> None:
    archive = tmp_path / "moldau.tar.gz"
    pack(archive)
    with standalone(tmp_path / "work") as master:
        run = subprocess.run(
            [
                *(sys.executable, "-m", "conformance.spark_driver"),
                *(master, broker.bootstrap_servers, "events", archive, tmp_path),
            ],
            env={
                **os.environ,
                "PYSPARK_PYTHON": sys.executable,
                "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=1100,
        )
        assert run.returncode == 0, run.stderr[-4000:]
    expected = [b"%0*d" % (ROW_BYTES, number) for number in range(COUNT)]
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["batch"] == [value.decode() for value in expected]
    assert found["stream"] == COUNT
    for package, kernel_name in found["places"]:
        assert Path(package).is_relative_to(tmp_path / "work")
        assert kernel_name == kernel.__name__
    # A copy of a task was started while the first wrote: only one of them did.
    assert int((tmp_path / "copied").read_text()) > 0
    assert committed(broker.bootstrap_servers, OVERTAKEN) == Counter(expected)
    # An executor was killed when rows of its were in the log: they were aborted, and written anew.
    assert int((tmp_path / "killed").read_text()) > 0
    assert written(broker.bootstrap_servers, COPY).total() > COUNT
    assert committed(broker.bootstrap_servers, COPY) == Counter(expected)
