"""Where a broker of this user keeps its data."""

from pathlib import Path

import pytest

from moldau.cli.terminal.data_directory import (
    DATA,
    data_directories,
    default_directory,
    shown_directory,
)
from moldau.cli.terminal.options import Options


def test_without_an_option_it_is_in_the_users_data(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_directory() == tmp_path / "moldau"
    assert data_directories(Options("x", "").parse([])) == [str(tmp_path / "moldau")]
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_directory() == tmp_path / ".local" / "share" / "moldau"


def test_help_shows_it_without_the_name_of_the_user(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert shown_directory() == "~/.local/share/moldau"
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert shown_directory() == "/data/moldau"


def test_several_are_separated_by_commas() -> None:
    given = Options("x", "", DATA).parse(["--data", "/a, /b,"])
    assert data_directories(given) == ["/a", "/b"]
