"""A rule whose test notices, and one whose test does not."""

import subprocess
import sys
from pathlib import Path

import pytest

from mutation.report import BEGIN, END

HERE = Path(__file__).resolve().parent
MODULE = """
LIMIT = 3

def is_allowed(count):
    return count < LIMIT

def unseen(count):
    return count + 1

class Child(list):
    def __init__(self):
        super().__init__()
        self.name = "a"
"""
TEST = """
import pytest
from planted.rule import Child, is_allowed

def test_far_from_the_limit():
    assert is_allowed(0) and not is_allowed(9)

def test_a_child_has_a_name():
    assert Child().name == "a"
"""
SCRIPT = """
import sys
from pathlib import Path
from mutation.run import run
from mutation.targets import Project, Target
import mutation.zygote

mutation.zygote.LIMIT_S = 3.0
targets = (Target("*.py", ("test_rule.py",)),)
sys.exit(run(Project(Path.cwd(), "src/planted", "tests", targets), sys.argv[1:]))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = {
        "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["src"]\n',
        "src/planted/__init__.py": "",
        "src/planted/rule.py": MODULE,
        "tests/test_rule.py": TEST,
        "docs/reliability.md": f"Before.\n{BEGIN}\n{END}\nAfter.\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def mutate(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        cwd=project,
        env={"PYTHONPATH": str(HERE.parent), "MOLDAU_PURE": "1", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


def survivors(project: Path) -> list[str]:
    rows = (project / "docs" / "reliability.md").read_text().splitlines()
    return [row.split("|")[2].strip(" `") for row in rows if row.startswith("| `rule.py:")]


def test_what_no_test_notices_survives(project: Path) -> None:
    done = mutate(project, "--write")
    assert done.returncode == 0, done.stderr
    assert survivors(project) == [
        "3 -> 4",  # the limit itself, outside of functions
        "count < LIMIT -> count <= LIMIT",
        "count + 1 -> count - 1",  # no test runs it
        "1 -> 2",
        "super().__init__() -> pass",  # takes a variable of the class with it
    ]
    text = (project / "docs" / "reliability.md").read_text()
    assert "| `rule.py` | 6 | 6 | 1 | 0 | 5 | 17% |" in text
    assert text.startswith("Before.\n")
    assert text.endswith("\nAfter.\n")


def test_a_better_test_kills_it(project: Path) -> None:
    path = project / "tests" / "test_rule.py"
    path.write_text(f"{TEST}\ndef test_at_the_limit():\n    assert not is_allowed(3)\n")
    assert mutate(project, "--write").returncode == 0
    assert "count < LIMIT -> count <= LIMIT" not in survivors(project)
    assert "3 -> 4" not in survivors(project)


def test_nothing_is_tried_while_a_test_fails(project: Path) -> None:
    path = project / "tests" / "test_rule.py"
    path.write_text(f"{TEST}\ndef test_wrong():\n    assert is_allowed(4)\n")
    done = mutate(project)
    assert done.returncode == 1
    assert "test_wrong fails without a change" in done.stderr
    assert "its tests fail without a change" in done.stdout


def test_a_run_goes_on_where_it_was_stopped(project: Path) -> None:
    results = project / "build" / "mutation.jsonl"
    mutate(project)
    lines = results.read_text().splitlines()
    results.write_text("\n".join(lines[:-1]) + "\n")
    again = mutate(project)
    assert "1/1" in again.stderr
    assert sorted(results.read_text().splitlines()) == sorted(lines)
    assert mutate(project).stderr == ""


def test_a_sample_is_the_same_for_the_same_seed(project: Path) -> None:
    def sample(seed: str) -> str:
        return mutate(project, "--sample", "4", "--seed", seed, "--afresh").stdout

    first = sample("1")
    assert first == sample("1")
    assert "| `rule.py` | 6 | 4 |" in first
    assert any(first != sample(seed) for seed in ("2", "3", "4"))


def test_modules_are_chosen_by_their_path(project: Path) -> None:
    assert "rule.py" not in mutate(project, "other").stdout
    assert "rule.py" in mutate(project, "ru").stdout


def test_a_loop_without_end_counts_as_noticed(project: Path) -> None:
    module, test = project / "src" / "planted" / "loop.py", project / "tests" / "test_rule.py"
    module.write_text("def loop(count):\n    while count > 0:\n        count -= 1\n")
    test.write_text(
        "from planted.loop import loop\ndef test_it_ends():\n    assert loop(3) is None"
    )
    assert mutate(project, "loop", "--write").returncode == 0
    text = (project / "docs" / "reliability.md").read_text()
    assert "count -= 1 -> " not in text
    assert "| `loop.py` | 6 | 6 | 2 | 2 | 4 | 33% |" in text


def test_a_module_that_only_a_test_imports_is_changed_too(project: Path) -> None:
    module, test = project / "src" / "planted" / "late.py", project / "tests" / "test_rule.py"
    module.write_text("def is_late(count):\n    return count > 3\n")
    test.write_text(
        "def test_it():\n    from planted.late import is_late\n"
        "    assert is_late(4) and not is_late(3)\n"
    )
    assert mutate(project, "late", "--write").returncode == 0
    text = (project / "docs" / "reliability.md").read_text()
    assert "| `late.py` | 2 | 2 | 2 | 0 | 0 | 100% |" in text


def test_what_earlier_tests_noticed_need_not_be_tried_again(project: Path) -> None:
    path = project / "tests" / "test_rule.py"
    mutate(project)
    path.write_text(f"{TEST}\ndef test_at_the_limit():\n    assert not is_allowed(3)\n")
    again = mutate(project, "--trust", "--write")
    assert "/5 rule.py" in again.stderr
    assert len(survivors(project)) == 3
    text = (project / "docs" / "reliability.md").read_text()
    assert "| `rule.py` | 6 | 6 | 3 | 0 | 3 | 50% |" in text
