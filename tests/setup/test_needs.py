"""Tests of the `needs` mark: what cannot run is skipped here, and fails where CI=true."""

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

CONFTEST = Path(__file__).parents[1] / "conftest.py"
PLAIN = ("-p", "no:xdist", "-p", "no:asyncio", "-p", "no:hypothesispytest")
TEST = """
    import pytest

    @pytest.mark.needs({programs})
    def test_it():
        pass
"""


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A suite of its own, under the project's conftest, on a machine that has only `git`."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("PATH", str(pytester.path))
    program = pytester.path / "git"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    pytester.makeconftest(CONFTEST.read_text(encoding="utf-8"))
    return pytester


def test_a_test_runs_when_its_program_is_there(suite: pytest.Pytester) -> None:
    suite.makepyfile(TEST.format(programs='"git"'))
    suite.inline_run(*PLAIN).assertoutcome(passed=1)


def test_a_missing_program_skips_with_the_install_line(suite: pytest.Pytester) -> None:
    suite.makepyfile(TEST.format(programs='"git", "mvn"'))
    result = suite.runpytest_inprocess("-rs", *PLAIN)
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*needs mvn (apt-get install -y maven)*"])


def test_a_missing_program_fails_where_everything_must_run(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    suite.makepyfile(TEST.format(programs='"mvn"'))
    result = suite.runpytest_inprocess(*PLAIN)
    # Failing in the set-up of a test is what pytest calls an error.
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*needs mvn (apt-get install -y maven)*"])


def test_an_unknown_program_is_a_mistake_in_the_test(suite: pytest.Pytester) -> None:
    suite.makepyfile(TEST.format(programs='"mvm"'))
    suite.runpytest_inprocess(*PLAIN).assert_outcomes(errors=1)


def test_any_of_several_browsers_will_do(suite: pytest.Pytester) -> None:
    (suite.path / "git").rename(suite.path / "google-chrome")
    suite.makepyfile(TEST.format(programs='"browser"'))
    suite.inline_run(*PLAIN).assertoutcome(passed=1)
