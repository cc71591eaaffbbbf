"""`bin/kafka-server-start.sh`, `bin/zookeeper-server-start.sh` and what stops them again."""

import hashlib
import os
import re
import shutil
import site
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kazoo.client import KazooClient

from conformance.apache.broker import free_port
from conformance.apache.cache import cache_directory

ROOT = Path(__file__).resolve().parents[2]
DEADLINE_S = 20


class Clone:
    """The scripts in a place of their own, with an environment that counts as made."""

    def __init__(self, root: Path) -> None:
        self.root = root
        shutil.copytree(ROOT / "bin", root / "bin")
        python = root / ".venv" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.symlink_to(Path(sys.executable).resolve())
        stamp = root / ".venv" / "stamps" / "base"
        stamp.parent.mkdir()
        start = root / "bin" / "kafka-server-start.sh"
        stamp.write_text(f"{hashlib.sha256(start.read_bytes()).hexdigest()}  {start}\n")
        properties = root / "server.properties"
        properties.write_text(f"log.dirs={root}/data\nlisteners=PLAINTEXT://127.0.0.1:0\n")

    def run(self, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        sources = os.pathsep.join([str(ROOT / "src"), *site.getsitepackages()])
        return subprocess.run(
            [str(self.root / "bin" / script), *arguments],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": sources, "MOLDAU_PURE": ""},
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )

    def wait_for_line(self, pattern: str) -> None:
        output = self.root / "logs" / "kafkaServer.out"
        deadline = time.monotonic() + DEADLINE_S
        while not (output.exists() and re.search(pattern, output.read_text())):
            assert time.monotonic() < deadline, output.read_text()
            time.sleep(0.02)


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


def test_a_daemon_starts_and_is_found_again_to_be_stopped(clone: Clone) -> None:
    start = clone.run(
        "kafka-server-start.sh", "-daemon", "server.properties", "--override", "broker.id=4"
    )
    assert start.returncode == 0, start.stderr
    try:
        clone.wait_for_line(r"\[KafkaServer id=4\] started")
    finally:
        stop = clone.run("kafka-server-stop.sh")
    assert (stop.returncode, stop.stdout) == (0, "")
    clone.wait_for_line(r"\[KafkaServer id=4\] shutting down")
    deadline = time.monotonic() + DEADLINE_S
    while not (clone.root / "data" / ".kafka_cleanshutdown").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_without_a_broker_there_is_nothing_to_stop(clone: Clone) -> None:
    stop = clone.run("kafka-server-stop.sh")
    assert (stop.returncode, stop.stdout) == (1, "No kafka server to stop\n")


def test_without_a_file_the_usage_is_shown(clone: Clone) -> None:
    start = clone.run("kafka-server-start.sh")
    assert start.returncode == 1
    assert start.stderr.startswith("USAGE: ")
    assert "[-daemon] server.properties [--override property=value]*" in start.stderr


def test_the_command_is_there_too(clone: Clone) -> None:
    assert "serve" in clone.run("moldau", "--help").stdout


@pytest.fixture
def zookeeper_clone(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> Clone:
    monkeypatch.setenv("MOLDAU_CACHE", str(cache_directory()))
    monkeypatch.setenv("KAFKA_HEAP_OPTS", "-Xmx64M -XX:TieredStopAtLevel=1")
    return clone


def wait_for_port(port: int, *, is_open: bool) -> None:
    deadline = time.monotonic() + 3 * DEADLINE_S
    while True:
        with socket.socket() as probe:
            if (probe.connect_ex(("127.0.0.1", port)) == 0) is is_open:
                return
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.needs("java", "mvn")
def test_a_zookeeper_starts_keeps_a_node_and_is_stopped(zookeeper_clone: Clone) -> None:
    port = free_port()
    config = zookeeper_clone.root / "zookeeper.properties"
    config.write_text(
        f"dataDir={zookeeper_clone.root}/zookeeper\nclientPort={port}\n"
        "clientPortAddress=127.0.0.1\n"
    )
    start = zookeeper_clone.run("zookeeper-server-start.sh", "-daemon", str(config))
    assert start.returncode == 0, start.stderr
    try:
        wait_for_port(port, is_open=True)
        client = KazooClient(f"127.0.0.1:{port}")
        client.start()
        client.create("/a", b"kept")
        assert client.get("/a")[0] == b"kept"
        client.stop()
        client.close()
    finally:
        stop = zookeeper_clone.run("zookeeper-server-stop.sh")
    assert (stop.returncode, stop.stdout) == (0, "")
    wait_for_port(port, is_open=False)


def test_without_java_our_own_tree_is_started_and_stopped(
    clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(clone.root / "nowhere"))
    port = free_port()
    config = clone.root / "zookeeper.properties"
    config.write_text(f"dataDir={clone.root}/zookeeper\nclientPort={port}\n")
    start = clone.run("zookeeper-server-start.sh", "-daemon", str(config))
    assert start.returncode == 0, start.stderr
    try:
        wait_for_port(port, is_open=True)
    finally:
        stop = clone.run("zookeeper-server-stop.sh")
    assert (stop.returncode, stop.stdout) == (0, "")
    wait_for_port(port, is_open=False)


def test_brokers_of_a_supervisor_are_left_to_it(clone: Clone) -> None:
    # Only a command line is looked at; a broker that really runs would end in other ways too.
    words = f"{clone.root}/.venv/bin/python -m moldau serve x.properties --until-input-ends"
    with subprocess.Popen([words, "30"], executable="/bin/sleep") as child:
        stop = clone.run("kafka-server-stop.sh")
        assert (stop.returncode, stop.stdout) == (1, "No kafka server to stop\n")
        assert child.poll() is None
        child.kill()


def test_without_a_zookeeper_there_is_nothing_to_stop(clone: Clone) -> None:
    stop = clone.run("zookeeper-server-stop.sh")
    assert (stop.returncode, stop.stdout) == (1, "No zookeeper server to stop\n")


def test_a_zookeeper_needs_a_file(clone: Clone) -> None:
    start = clone.run("zookeeper-server-start.sh")
    assert start.returncode == 1
    assert "[-daemon] zookeeper.properties" in start.stderr
