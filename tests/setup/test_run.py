"""The command line of bin/test."""

import sys
from pathlib import Path

import pytest

import run

STATIC = ["lint", "types", "tidy"]


def commands(*arguments: str) -> list[str]:
    return [" ".join(command) for part in run.plan(arguments) for command in part.commands]


def test_without_arguments_everything_runs_but_the_fresh_clones() -> None:
    assert [part.name for part in run.plan([])] == [*STATIC, "tests"]
    everything = commands()[-1]
    assert "tests/unit" in everything
    assert "tests/setup" in everything
    assert "fresh_clone" not in everything


def test_parts_can_be_chosen() -> None:
    assert [part.name for part in run.plan(["tidy", "lint"])] == ["tidy", "lint"]
    assert commands("fresh-clone") == ["pytest -n 2 --dist worksteal tests/fresh_clone"]


def test_quick_is_what_needs_no_other_process() -> None:
    assert commands("quick") == commands("lint", "types", "tidy", "setup", "unit")


def test_what_follows_a_part_goes_to_pytest() -> None:
    assert commands("unit", "-k", "batch") == ["pytest tests/unit -k batch"]


def test_a_path_goes_to_pytest() -> None:
    assert commands("tests/setup/test_run.py", "-x") == ["pytest tests/setup/test_run.py -x"]


def test_a_part_fails_with_any_of_its_commands(capfd: pytest.CaptureFixture[str]) -> None:
    failing = run.Part("lint", (("this_module_does_not_exist",), ("this",)))
    assert not run.run(failing)
    assert "Beautiful is better than ugly" in capfd.readouterr().out
    assert run.run(run.Part("lint", (("this",),)))


@pytest.mark.parametrize("variable", ["true", None])
def test_a_test_that_fails_once_has_failed(
    variable: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one test fails when it is run first, and would pass when it is run again."""
    (tmp_path / "tests" / "conformance").mkdir(parents=True)
    (tmp_path / "tests" / "conformance" / "test_unsteady.py").write_text(
        "from pathlib import Path\n\n"
        "def test_unsteady():\n"
        "    with Path('runs').open('a') as runs:\n"
        "        runs.write('.')\n"
        "    assert Path('runs').read_text() != '.'\n"
    )
    static = dict.fromkeys(STATIC, run.Part("lint", (("this",),)))
    monkeypatch.setattr(run, "ROOT", tmp_path)
    monkeypatch.setattr(run, "WORKERS", ())
    monkeypatch.setattr(run, "static_parts", lambda: static)
    monkeypatch.setattr(run, "use_one_cache", lambda: None)
    monkeypatch.setattr(sys, "argv", ["bin/test"])
    if variable is None:
        monkeypatch.delenv("CI", raising=False)
    else:
        monkeypatch.setenv("CI", variable)
    assert run.main() == 1
    assert (tmp_path / "runs").read_text() == "."
