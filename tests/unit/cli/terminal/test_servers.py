"""Servers of this installation that run."""

import os
import subprocess
import sys

import pytest

from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.servers import is_broker, is_zookeeper, mark, processes, stop_servers


@pytest.mark.parametrize(
    "words",
    [
        ["-m", "moldau", "serve", "--port", "1"],
        ["/env/bin/moldau", "serve"],
        ["/env/bin/moldau", "kafka-server-start.sh", "server.properties"],
    ],
)
def test_a_broker_is_known_by_its_command_line(words: list[str]) -> None:
    assert is_broker([sys.executable, *words])
    assert not is_broker(["/other/bin/python", *words])


@pytest.mark.parametrize(
    "words", [[], ["-m", "moldau"], ["-m", "moldau", "topics"], ["-m", "other", "serve"], ["serve"]]
)
def test_other_commands_are_no_brokers(words: list[str]) -> None:
    assert not is_broker([sys.executable, *words])
    assert not is_broker(words)


def test_a_zookeeper_is_known_by_its_mark() -> None:
    assert is_zookeeper(["java", mark(), "org.apache.zookeeper.server.quorum.QuorumPeerMain"])
    assert not is_zookeeper(["java", "org.apache.zookeeper.server.quorum.QuorumPeerMain"])


def test_servers_are_sent_the_signal_that_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def is_ours(words: object) -> bool:
        return words == waiting

    waiting = [sys.executable, "-c", f"input({os.getpid()!r})"]
    pipe = subprocess.PIPE
    with subprocess.Popen(waiting, stdin=pipe, stdout=pipe) as process:
        # Until it asks, its command line may still be empty.
        assert process.stdout is not None
        assert process.stdout.read(1)
        assert (process.pid, waiting) in list(processes())
        monkeypatch.setenv("SIGNAL", "KILL")
        assert stop_servers("kafka", is_ours) == 0
        assert process.wait(60) == -9
    assert stop_servers("kafka", is_ours) == 1
    assert capsys.readouterr().out == "No kafka server to stop\n"
    monkeypatch.setenv("SIGNAL", "NONE")
    with pytest.raises(CommandFailed, match="no signal NONE"):
        stop_servers("kafka", is_ours)
