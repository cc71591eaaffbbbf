"""Executors in processes of their own read with the package that an archive brought them."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark
import pytest

from conformance.apache.broker import free_port
from moldau.client.blocking.producer import Producer
from moldau.records.fetched import kernel
from moldau.spark.packing import pack
from moldau.testing.broker import EmbeddedBroker, running_broker

pytestmark = pytest.mark.needs("java")

SPARK = Path(pyspark.__file__).parent
DRIVER = Path(__file__).with_name("spark_driver.py")
COUNT = 300
_START_S = 120


@contextmanager
def standalone(directory: Path) -> Iterator[str]:
    """A master and a worker, as processes that know nothing of this clone."""
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    master = ("master.Master", "--port", str(port), "--webui-port", str(free_port()))
    worker = ("worker.Worker", "--cores", "2", "--memory", "1g", "--work-dir", str(directory))
    with ExitStack() as stack:
        stack.enter_context(daemon(*master))
        until_listening(port)
        stack.enter_context(daemon(*worker, "--webui-port", str(free_port()), address))
        yield address


@contextmanager
def daemon(name: str, *arguments: str) -> Iterator[None]:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [str(SPARK / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}"]
    process = subprocess.Popen(
        [*command, "--host", "127.0.0.1", *arguments],
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
                producer.send("events", b"%d" % number)
        yield broker


def test_executors_read_with_the_package_and_the_kernel_from_the_archive(
    broker: EmbeddedBroker, tmp_path: Path
) -> None:
    archive = tmp_path / "moldau.tar.gz"
    pack(archive)
    with standalone(tmp_path / "work") as master:
        run = subprocess.run(
            [sys.executable, DRIVER, master, broker.bootstrap_servers, "events", archive, tmp_path],
            env={**os.environ, "PYSPARK_PYTHON": sys.executable},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert run.returncode == 0, run.stderr[-4000:]
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["batch"] == sorted(str(number) for number in range(COUNT))
    assert found["stream"] == COUNT
    for package, kernel_name in found["places"]:
        assert Path(package).is_relative_to(tmp_path / "work")
        assert kernel_name == kernel.__name__
