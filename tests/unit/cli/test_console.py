"""The command serves the console until it is stopped, and keeps its users."""

import io
import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from moldau.cli.console import _services, main
from moldau.cli.terminal.failure import CommandFailed
from moldau.web.users import Users


def test_it_serves_until_it_is_stopped(tmp_path: Path) -> None:
    clusters = tmp_path / "clusters"
    clusters.write_text("one: 127.0.0.1:1\ntwo: 127.0.0.1:2\n")
    command = [sys.executable, "-m", "moldau", "console", "--port", "0", "--read-only"]
    command += ["--clusters", str(clusters)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            with urllib.request.urlopen(f"{url}/api/console", timeout=20) as answer:
                found = json.load(answer)
            assert found["clusters"] == ["one", "two"]
            assert (found["read_only"], found["actor"]["role"]) == (True, "reader")
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0
        finally:
            process.kill()


def test_users_are_added_with_their_roles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "users"
    for name, role in (("anna", "admin"), ("bob", "viewer")):
        monkeypatch.setattr("sys.stdin", io.StringIO("secret\n"))
        assert main(["users", "add", name, "--role", role, "--users", str(path)]) == 0
    assert "added bob as viewer" in capsys.readouterr().out
    assert "secret" not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    users = Users(path.read_text().splitlines(), ("viewer", "admin"))
    found = users.authenticate("Basic YW5uYTpzZWNyZXQ=")
    assert found is not None
    assert found.roles == ("admin",)


@pytest.mark.parametrize("name", ["a:b", " a"])
def test_a_name_that_the_file_cannot_keep_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(CommandFailed, match="no colon"):
        main(["users", "add", name, "--users", str(tmp_path / "users")])


def test_clusters_come_from_one_place(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="--clusters"):
        main(["--clusters", "x", "--bootstrap-server", "localhost:9092"])


def test_a_port_that_is_taken_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CommandFailed, match="-1 is not between"):
        main(["--port", "-1"])


def test_an_address_that_is_none_of_a_registry_is_refused() -> None:
    with pytest.raises(CommandFailed, match="--registry: 'nowhere' is no address of a registry"):
        main(["--registry", "nowhere"])


def test_services_are_named_once_and_by_addresses() -> None:
    wrong = (["--connect", "localhost:8083"], ["--connect", "a=ftp://x"], ["--streams", "http://"])
    for options in wrong:
        with pytest.raises(CommandFailed, match="no address such as"):
            main(options)
    twice = ["--connect", "http://anna:secret@one:8083", "--connect", "http://one:8083"]
    with pytest.raises(CommandFailed, match="one:8083 is named twice") as refused:
        main(twice)
    assert "secret" not in str(refused.value)


def test_an_application_may_be_named_as_it_prints_its_address() -> None:
    found = _services(["http://one:9400/metrics", "two=http://two:1/x/"], "--streams")
    assert found == {"one:9400": "http://one:9400", "two": "http://two:1/x/"}
