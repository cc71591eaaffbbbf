"""Stop the ZooKeeper servers that this installation has started."""

import pytest

from unit.cli.command import run


def test_nothing_else_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNAL", "CONT")  # which changes nothing
    done = run("zookeeper-server-stop.sh")
    assert done == (1, "No zookeeper server to stop\n", "")
