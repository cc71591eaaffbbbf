"""Files are checked and tried out by the command."""

import json
from pathlib import Path

import pytest

from moldau.cli.connect import main
from moldau.cli.terminal.failure import CommandFailed

PIPELINE = """
[worker]
"key.converter" = "StringConverter"
"value.converter" = "StringConverter"
[connectors.lines]
"connector.class" = "FileStreamSource"
file = "{file}"
topic = "lines"
"""


def test_mistakes_are_printed_and_make_the_command_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.toml"
    path.write_text(PIPELINE.format(file="/x"))
    assert main(["lint", str(path)]) == 0
    assert capsys.readouterr().out == "1 connector, no errors\n"
    path.write_text(PIPELINE.format(file="/x").replace("FileStreamSource", "FileStrmSource"))
    assert main(["lint", str(path)]) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[0].endswith("is FileStreamSource meant?")
    assert told[1] == "1 connector, 1 error"


def test_a_connector_of_its_own_is_checked_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = {"connector.class": "FileStreamSource", "file": "/x", "topic": "t"}
    (tmp_path / "c.json").write_text(json.dumps({"name": "c", "config": config}))
    (tmp_path / "c.properties").write_text("name=c\nconnector.class=FileStreamSource\nfile=/x\n")
    assert main(["lint", str(tmp_path / "c.json")]) == 0
    assert main(["lint", str(tmp_path / "c.properties")]) == 1
    assert "topic" in capsys.readouterr().out
    (tmp_path / "p.toml").write_text("")
    with pytest.raises(CommandFailed, match="no connectors"):
        main(["lint", str(tmp_path / "p.toml")])


def test_a_dry_run_shows_the_first_records(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").write_text("a\nb\n")
    path = tmp_path / "p.toml"
    path.write_text(PIPELINE.format(file=tmp_path / "in"))
    assert main(["run", "--dry-run", str(path)]) == 0
    assert capsys.readouterr().out == (
        "lines: source, 2 records; nothing is written\n  lines  null  a\n  lines  null  b\n"
    )
    path.write_text(PIPELINE.format(file=tmp_path / "in").replace('"String', '"ByteArray', 2))
    assert main(["run", "--dry-run", str(path)]) == 1
    assert "FAILED: ByteArrayConverter is not compatible" in capsys.readouterr().out
