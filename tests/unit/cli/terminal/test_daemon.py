"""Servers that are left behind, by the options of Kafka's scripts that start them."""

from pathlib import Path

import pytest

import moldau
from moldau.cli.terminal.daemon import leave_behind, without_script_options
from moldau.cli.terminal.failure import CommandFailed


def test_options_of_the_scripts_stand_first() -> None:
    assert without_script_options(["a", "-daemon"]) == (["a", "-daemon"], False)
    given = ["-name", "x", "-daemon", "-loggc", "a", "--b"]
    assert without_script_options(given) == (["a", "--b"], True)
    assert without_script_options(["-name"]) == ([], False)


def test_what_it_says_goes_to_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOG_DIR", str(tmp_path / "made" / "for it"))
    monkeypatch.setenv("PYTHONPATH", str(Path(moldau.__file__).parents[1]))
    process = leave_behind("topics", "out", ["--version"])
    assert process.wait() == 0
    assert (tmp_path / "made" / "for it" / "out").read_text().startswith("3.9")


def test_a_place_where_nothing_can_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("LOG_DIR", str(tmp_path / "file"))
    with pytest.raises(CommandFailed, match=r"file/out: File exists; .* LOG_DIR"):
        leave_behind("topics", "out", [])
