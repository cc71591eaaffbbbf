"""Where a broker of this user keeps its data."""

from pathlib import Path

import pytest

from moldau.cli.terminal.data_directory import DATA, data_directories, default_directory
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


def test_several_are_separated_by_commas() -> None:
    given = Options("x", "", DATA).parse(["--data", "/a, /b,"])
    assert data_directories(given) == ["/a", "/b"]
