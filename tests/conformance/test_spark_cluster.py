"""Executors in processes of their own read and write with the package that an archive brought."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.connect_tables import Tables
from conformance.connect_worker import worker_process
from conformance.spark_driver import COPY, OVERTAKEN
from conformance.spark_killing import ROW_BYTES
from conformance.spark_pipeline import committed, written
from conformance.spark_standalone import Standalone, standalone
from moldau.client.blocking.producer import Producer
from moldau.records.fetched import kernel
from moldau.spark.packing import pack
from moldau.testing.broker import EmbeddedBroker, running_broker

pytestmark = [pytest.mark.needs("java"), pytest.mark.timeout(1200)]

COUNT = 600
ROWS = 1000


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where executors are, and have what archives brought."""
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def cluster(work: Path) -> Iterator[Standalone]:
    """For all tests, one after the other."""
    with standalone(work) as running:
        yield running


@pytest.fixture(scope="module")
def archive(work: Path) -> Path:
    """What executors need."""
    file = work / "moldau.tar.gz"
    pack(file)
    return file


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
    broker: EmbeddedBroker, cluster: Standalone, archive: Path, work: Path, tmp_path: Path
) -> None:
    run = subprocess.run(
        [
            *(sys.executable, "-m", "conformance.spark_driver"),
            *(cluster.address, broker.bootstrap_servers, "events", archive, tmp_path),
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
        assert Path(package).is_relative_to(work)
        assert kernel_name == kernel.__name__
    # A copy of a task was started while the first wrote: only one of them did.
    assert int((tmp_path / "copied").read_text()) > 0
    assert committed(broker.bootstrap_servers, OVERTAKEN) == Counter(expected)
    # An executor was killed when rows of its were in the log: they were aborted, and written anew.
    assert int((tmp_path / "killed").read_text()) > 0
    assert written(broker.bootstrap_servers, COPY).total() > COUNT
    assert committed(broker.bootstrap_servers, COPY) == Counter(expected)


def test_connectors_outlive_an_executor_and_each_row_goes_through_once(
    cluster: Standalone, archive: Path, tmp_path: Path
) -> None:
    settings = {
        "engine": "spark",
        "spark.master": cluster.address,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "512m",
        "spark.executor.memory": "512m",
        "spark.archives": f"{archive}#moldau",
        "spark.executorEnv.PYTHONPATH": "./moldau",
        **Tables.WORKER,
    }
    tables = Tables(tmp_path, ROWS)
    tables.fill()
    quick = {"group.initial.rebalance.delay.ms": "0", "group.min.session.timeout.ms": "1000"}
    with (
        running_broker({"num.partitions": "2", **quick}) as broker,
        worker_process(tmp_path, broker.bootstrap_servers, settings) as worker,
    ):
        worker.rest.put("in", tables.source())
        worker.rest.put("out", tables.sink())
        worker.until(lambda: tables.count() > 0)
        os.kill(cluster.executors()[0], signal.SIGKILL)
        assert tables.count() < tables.count_wanted, "it was killed half way"
        worker.until(lambda: tables.count() >= tables.count_wanted, tables.count)
        assert tables.written() == tables.expected()
        assert tables.in_topics(broker.bootstrap_servers) == tables.expected()
        worker.until_states("in", ["RUNNING"] * 3)
        worker.until_states("out", ["RUNNING"] * 3)
