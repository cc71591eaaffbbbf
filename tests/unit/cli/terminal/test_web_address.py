"""Addresses of services on a command line, and logins from ~/.netrc."""

from pathlib import Path

import pytest

from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.web_address import address_with_login


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("NETRC", raising=False)
    return tmp_path


def write(file: Path, text: str) -> None:
    file.write_text(text)
    file.chmod(0o600)


def test_a_host_has_the_login_of_netrc(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(home / ".netrc", "machine connect-2 login anna password s/e:c@ret\n")
    found = address_with_login("https://connect-2:8083/base", "--connect")
    assert found == "https://anna:s%2Fe%3Ac%40ret@connect-2:8083/base"
    assert address_with_login("http://other:8083", "--connect") == "http://other:8083"
    assert capsys.readouterr().err == ""


def test_the_file_may_be_elsewhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home / "logins", "default login ben password of-ben\n")
    monkeypatch.setenv("NETRC", str(home / "logins"))
    assert address_with_login("http://any", "-r") == "http://ben:of-ben@any"


def test_a_password_that_others_can_see_is_warned_of(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(home / ".netrc", "machine host login anna password other\n")
    given = "http://ben:sesam@host:8081"
    assert address_with_login(given, "--registry") == given
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(
        "WARNING: other users of this machine can see the password in --registry"
    )
    assert "~/.netrc" in line
    assert "sesam" not in line


@pytest.mark.parametrize("url", ["host:8081", "ftp://host", "http://", "http://[", ""])
def test_what_is_no_address_stays_as_it_is(home: Path, url: str) -> None:
    write(home / ".netrc", "default login anna password secret\n")
    assert address_with_login(url, "-r") == url


def test_a_file_with_errors_is_named_without_its_secrets(home: Path) -> None:
    write(home / ".netrc", "machine host login anna password open sesame\n")
    with pytest.raises(CommandFailed, match=r"\.netrc, near line \d: not machine HOST") as error:
        address_with_login("http://host", "-r")
    assert "sesame" not in str(error.value)


def test_a_file_that_is_named_must_be_there(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETRC", str(home / "none"))
    with pytest.raises(CommandFailed, match=r"NETRC: .*none: No such file or directory"):
        address_with_login("http://host", "-r")


@pytest.mark.parametrize("name", [".netrc", "elsewhere"])
def test_a_file_that_others_can_read_serves_with_a_warning(
    home: Path,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(home / name, "machine host login anna password secret\n")
    (home / name).chmod(0o644)
    if name != ".netrc":
        monkeypatch.setenv("NETRC", str(home / name))
    assert address_with_login("http://host", "-r") == "http://anna:secret@host"
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(f"can read the passwords in {home / name}: chmod 600")
    assert address_with_login("http://other", "-r") == "http://other"
    assert capsys.readouterr().err == ""


def test_a_file_that_is_no_text_is_named(home: Path) -> None:
    (home / ".netrc").write_bytes(b"machine \xff\xfe login\n")
    (home / ".netrc").chmod(0o600)
    with pytest.raises(CommandFailed, match=r"\.netrc, near line"):
        address_with_login("http://host", "-r")
