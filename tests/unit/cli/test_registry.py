"""The command serves a registry until it is stopped, and says what is wrong."""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from moldau.cli.registry import main
from moldau.cli.terminal.failure import CommandFailed
from moldau.testing.broker import EmbeddedBroker
from unit.registry.started import request


@contextmanager
def started(broker: EmbeddedBroker, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A registry in a process of its own, and its address."""
    command = [sys.executable, "-m", "moldau", "registry", "--port", "0", *options]
    command += ["--bootstrap-server", broker.bootstrap_servers]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            for line in process.stderr:
                if found := re.search(r"the registry is at (\S+)", line):
                    yield process, found.group(1)
                    break
            else:
                raise AssertionError("it did not start")
        finally:
            process.kill()


def test_what_was_answered_is_there_after_kill_9_and_no_id_is_given_twice(
    broker: EmbeddedBroker,
) -> None:
    answered: dict[int, str] = {}

    def register(url: str, number: int) -> None:
        text = f'{{"type":"fixed","name":"F{number}","size":1}}'
        found = request(url, "POST", f"/subjects/s{number}/versions", {"schema": text})
        assert found.body["id"] not in answered
        answered[found.body["id"]] = text

    with started(broker) as (process, url):
        for number in range(20):
            register(url, number)
        killing = subprocess.Popen(["sleep", "0.05"])
        try:
            for number in range(20, 200):
                if killing.poll() is not None:
                    process.send_signal(signal.SIGKILL)
                register(url, number)
        except (OSError, json.JSONDecodeError):
            pass  # it was killed in the middle of an answer
        killing.wait()
    assert len(answered) >= 20
    with started(broker) as (process, url):
        for schema_id, text in answered.items():
            assert request(url, "GET", f"/schemas/ids/{schema_id}").body == {"schema": text}
        deadline = time.monotonic() + 30
        while request(url, "PUT", "/config", {"compatibility": "NONE"}).status != 200:
            assert time.monotonic() < deadline, "the session of the killed one ends"
        register(url, 1000)
        process.terminate()
        assert process.wait(30) == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--compatibility", "SIDEWAYS"], "SIDEWAYS is none of"),
        (["--command-config", "/none"], "/none"),
        (["--port", "-1"], "-1"),
        (["--users", "/none"], "/none"),
    ],
)
def test_what_is_wrong_is_said(arguments: list[str], words: str) -> None:
    with pytest.raises(CommandFailed, match=re.escape(words)):
        main(arguments)


def test_a_topic_that_cannot_be_used_ends_the_start(broker: EmbeddedBroker, tmp_path: Path) -> None:
    from unit.cli.command import run

    servers = f"--bootstrap-server={broker.bootstrap_servers}"
    created = run("topics", "--create", "--topic", "wrong", "--partitions", "2", servers)
    assert created.code == 0
    with pytest.raises(CommandFailed, match="2 partitions"):
        main(["--topic", "wrong", "--port", "0", servers])


def test_a_hash_is_printed_for_a_password(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("getpass.getpass", lambda: "secret")
    assert main(["--hash-password"]) == 0
    assert capsys.readouterr().out.startswith("scrypt:")
