"""What must hold before brokers are started."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from moldau.coordination.journal import StoreError, TreeJournal
from moldau.errors import KafkaError
from moldau.supervisor import preconditions
from moldau.supervisor.plan import ClusterWish
from moldau.supervisor.preconditions import until_possible
from unit.waiting import until

# What a broker does as long as it runs: record locks are of processes, so it is one.
_ORPHAN = """\
import fcntl, sys
file = open(sys.argv[1], "a")
fcntl.lockf(file, fcntl.LOCK_EX)
print("locked", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The directory of a cluster that has run."""
    with TreeJournal(str(tmp_path / "tree.sqlite")):
        pass
    for number in range(2):
        (tmp_path / f"broker-{number}").mkdir()
        (tmp_path / f"broker-{number}" / ".lock").touch()
    return tmp_path


def wish(data: Path, shared_port: int | None = None, tree_port: int = 0) -> ClusterWish:
    return ClusterWish(0, data, "127.0.0.1", [], {}, shared_port=shared_port, tree_port=tree_port)


@contextmanager
def orphan(data: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", _ORPHAN, str(data / "broker-1" / ".lock")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        try:
            yield process
        finally:
            process.kill()


async def test_brokers_that_have_lost_their_supervisor_are_waited_for(
    data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    with orphan(data) as process:
        waiting = asyncio.create_task(until_possible(wish(data)))
        await until(lambda: bool(caplog.messages))
        assert not waiting.done()
        process.kill()
        await asyncio.wait_for(waiting, 20)
    assert caplog.messages == ["waiting for the brokers of an earlier start to end: broker-1"]


async def test_they_are_not_waited_for_for_ever(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preconditions, "_PATIENCE_S", 0)
    with orphan(data), pytest.raises(KafkaError, match=r"broker-1 of .* are still in use"):
        await until_possible(wish(data))


async def test_a_cluster_that_runs_is_not_waited_for(data: Path) -> None:
    running = TreeJournal(str(data / "tree.sqlite"))
    with running, orphan(data), pytest.raises(StoreError, match="in use by another process"):
        await until_possible(wish(data))


@pytest.mark.parametrize("which", ["shared_port", "tree_port"])
async def test_a_port_that_is_taken_is_told(which: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1:{port}"):
            await until_possible(wish(tmp_path, **{which: port}))
