"""The command line of bin/test."""

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


@pytest.mark.parametrize(
    ("failed", "expected"),
    [
        ([], False),
        (["tests/conformance/test_kill.py::test_a"], True),
        (["tests/conformance/test_kill.py::test_a", "tests/unit/test_model.py::test_b"], False),
        (["tests/conformance/test_kill.py"], False),
        ([f"tests/conformance/test_kill.py::test_{n}" for n in range(6)], False),
    ],
)
def test_only_few_tests_of_processes_get_a_second_chance(failed: list[str], expected: bool) -> None:
    assert run.unsteady(failed) is expected


def test_who_fails_again_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    last_failed = tmp_path / "lastfailed"
    outcomes = iter([False, False, False, True])
    asked: list[str] = []

    def run_once(part: run.Part) -> bool:
        last_failed.write_text('{"tests/conformance/test_kill.py::test_a": true}')
        asked.append(part.commands[0][-1])
        return next(outcomes)

    monkeypatch.setattr(run, "LAST_FAILED", last_failed)
    monkeypatch.setattr(run, "run", run_once)
    everything = run.Part("tests", (("pytest", "tests"),))
    assert not run.run_everything(everything)
    assert run.run_everything(everything)
    assert asked == ["tests", "tests/conformance/test_kill.py::test_a"] * 2
    assert "unsteady, passed only when run alone" in capfd.readouterr().out
