"""Write configuration files to begin with. What is in them: test_templates.py."""

from pathlib import Path

import pytest

from moldau.cli.init import KINDS, TEMPLATES
from unit.cli.command import run


def test_without_a_kind_it_is_a_broker(tmp_path: Path) -> None:
    target = tmp_path / "new"
    done = run("init", "--to", str(target))
    assert (done.code, done.stdout) == (0, f"{target}/server.properties\n")
    written = (target / "server.properties").read_bytes()
    assert written == (TEMPLATES / "server.properties").read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_all_of_its_files(kind: str, tmp_path: Path) -> None:
    assert run("init", kind, "--to", str(tmp_path)).code == 0
    assert {path.name for path in tmp_path.iterdir()} == {*KINDS[kind]}


def test_what_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "server.properties").write_text("mine")
    done = run("init", "broker", "systemd", "--to", str(tmp_path))
    assert "is there already" in done.stdout
    assert (tmp_path / "server.properties").read_text() == "mine"
    assert (tmp_path / "moldau.service").exists()


def test_an_unknown_kind_is_refused_with_those_there_are() -> None:
    assert run("init", "kubernetes").stderr.startswith("there is no kind 'kubernetes'; there is: ")
