"""A Spark that is all on this machine listens to it alone."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from moldau.spark import local
from moldau.spark.local import keep_local

VARIABLE = "SPARK_LOCAL_IP"


@pytest.fixture(autouse=True)
def _without_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.delenv(VARIABLE)


@pytest.mark.parametrize("master", ["local", "local[*]", "local[2,3]", "local-cluster[2,1,1024]"])
def test_a_master_on_this_machine_needs_no_other_address(master: str) -> None:
    assert keep_local(master) == master
    assert os.environ[VARIABLE] == "127.0.0.1"


@pytest.mark.parametrize("master", ["spark://host:7077", "yarn", "k8s://https://host:6443"])
def test_executors_elsewhere_have_to_reach_the_driver(master: str) -> None:
    keep_local(master)
    assert VARIABLE not in os.environ


def test_an_address_that_somebody_chose_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "10.0.0.7")
    keep_local("local[*]")
    assert os.environ[VARIABLE] == "10.0.0.7"


SESSION = """
from pyspark.sql import SparkSession
from moldau.spark.local import keep_local
builder = SparkSession.builder.master(keep_local("local[1]")).config("spark.ui.port", "0")
spark = builder.getOrCreate()
print("process", spark.sparkContext._gateway.proc.pid, flush=True)
input()
spark.stop()
"""
LISTENS = "0A"


@pytest.mark.needs("java")
@pytest.mark.skipif(sys.platform != "linux", reason="nobody else tells who listens")
def test_all_that_spark_listens_on_is_a_loopback_address() -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(local.__file__).parents[2])}
    with subprocess.Popen(
        [sys.executable, "-c", SESSION],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    ) as driver:
        assert driver.stdout is not None
        java = int(driver.stdout.readline().split()[1])
        addresses = listening_addresses(java)
        driver.communicate("\n")
    assert len(addresses) >= 3
    assert [each for each in addresses if not each.endswith("0100007F")] == []


def listening_addresses(process: int) -> list[str]:
    """The addresses of a process's listening sockets, as the kernel writes them."""
    files = (path.readlink() for path in Path(f"/proc/{process}/fd").iterdir())
    sockets = {match[1] for file in files if (match := re.match(r"socket:\[(\d+)\]", str(file)))}
    found = []
    for family in ("tcp", "tcp6"):
        for line in Path(f"/proc/{process}/net/{family}").read_text().splitlines()[1:]:
            _, address, _, state, *_, inode = line.split()[:10]
            if state == LISTENS and inode in sockets:
                found.append(address.partition(":")[0])
    return found
