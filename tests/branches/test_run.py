"""Ways that a test takes and does not take, in every kind of decision."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from branches.arcs import Arcs
from branches.decisions import decisions
from branches.run import HELD, is_of

HERE = Path(__file__).resolve().parent
SOURCE = """
import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def choose(number):
    if (
        number > 0
        and number < 9
    ):
        return "some"
    elif number == 0:
        return "none"
    return "many"


def count(numbers, until):
    total = 0
    for number in numbers:
        if number < 0:
            continue
        total += number
        if total > until:
            break
    while total > 100:
        total -= 100
    return total


def check(value):
    try:
        if int(value):
            return True
    except ValueError:
        return None
    return False


def name(value):
    match value:
        case 1:
            return "one"
        case str(text) if text:
            return text
        case _:
            return ""


def drawn(numbers):
    if any(number > 1 for number in numbers):
        yield 1
    yield 2


async def waiting(given):
    if await later(given):
        return 1
    async for one in many(given):
        if one:
            return one
    return 0


async def later(given):
    await asyncio.sleep(0)
    if given is None:
        raise ValueError
    return given > 1


async def many(given):
    for one in range(given):
        yield 0


class Box:
    def open(self):
        def inner(is_open):
            if is_open:
                return 1
            return 2
        return inner
"""


@pytest.fixture
def planted(tmp_path: Path) -> Iterator[tuple[ModuleType, Arcs]]:
    """A module whose lines are noted until the test ends, wherever it looks at them."""
    path = tmp_path / "planted.py"
    path.write_text(SOURCE)
    module, arcs = ModuleType("planted"), Arcs(str(path))
    exec(compile(SOURCE, str(path), "exec"), module.__dict__)
    arcs.start()
    yield module, arcs
    arcs.stop()


def missing(arcs: Arcs, function: str) -> list[str]:
    seen = arcs.stop()
    return [
        way.removeprefix(f"{function}: ")
        for one in decisions(SOURCE)
        if one.function == function
        for way in one.missing(seen)
    ]


Planted = tuple[ModuleType, Arcs]


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (
            [5],
            ["if number > 0 and number < 9 -> no", "if number == 0 -> yes", "if number == 0 -> no"],
        ),
        ([5, 0], ["if number == 0 -> no"]),
        ([0, 9], ["if number > 0 and number < 9 -> yes"]),
        ([5, 0, 9], []),
    ],
)
def test_a_condition_has_two_ways(
    planted: Planted, numbers: list[int], expected: list[str]
) -> None:
    module, arcs = planted
    for number in numbers:
        module.choose(number)
    assert missing(arcs, "choose") == expected


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([([], 9)], ["for +", "if < +", "if < -", "if > +", "if > -", "while +"]),
        ([([1], 0)], ["for -", "if < +", "if > -", "while +"]),
        ([([-1, 1], 0), ([150], 1000)], []),
        ([(iter([-1, 1]), 0), ((one for one in [150]), 1000)], []),
    ],
)
def test_a_loop_is_entered_and_left(
    planted: Planted, calls: list[tuple[list[int], int]], expected: list[str]
) -> None:
    module, arcs = planted
    for numbers, until in calls:
        module.count(numbers, until)
    names = {
        "for number in numbers": "for",
        "if number < 0": "if <",
        "if total > until": "if >",
        "while total > 100": "while",
    }
    found = [way.partition(" -> ") for way in missing(arcs, "count")]
    signs = {"yes": "+", "no": "-"}
    assert [f"{names[decision]} {signs[way]}" for decision, _, way in found] == expected


def test_what_is_raised_is_no_way(planted: Planted) -> None:
    module, arcs = planted
    module.check("x")
    module.check("1")
    assert missing(arcs, "check") == ["if int(value) -> no"]


def test_cases_of_a_match_are_decisions_but_for_whether_the_last_one_holds(
    planted: Planted,
) -> None:
    module, arcs = planted
    module.name(1)
    module.name("a")
    assert missing(arcs, "name") == ["case str(text) if text -> no", "case _ -> yes"]


def test_a_generator_that_pauses_has_not_left(planted: Planted) -> None:
    module, arcs = planted
    assert list(module.drawn([2])) == [1, 2]
    assert missing(arcs, "drawn") == ["if any((number > 1 for number in numbers)) -> no"]


def test_a_condition_that_is_awaited_decides_when_it_is_known(planted: Planted) -> None:
    module, arcs = planted
    assert asyncio.run(module.waiting(2)) == 1
    with pytest.raises(ValueError):  # noqa: PT011 - planted
        asyncio.run(module.waiting(None))
    assert missing(arcs, "waiting") == [
        "if await later(given) -> no",
        "for one in many(given) -> yes",
        "for one in many(given) -> no",
        "if one -> yes",
        "if one -> no",
    ]


def test_a_loop_over_what_is_awaited_ends(planted: Planted) -> None:
    module, arcs = planted
    assert asyncio.run(module.waiting(1)) == 0
    assert missing(arcs, "waiting") == ["if await later(given) -> yes", "if one -> yes"]


def test_functions_within_functions_have_their_own(planted: Planted) -> None:
    module, arcs = planted
    module.Box().open()(True)
    assert missing(arcs, "Box.open.<locals>.inner") == ["if is_open -> no"]


def test_equal_decisions_have_different_names() -> None:
    found = decisions("def a(b):\n    if b:\n        c\n    if b:\n        d\n")
    assert [way for one in found for way in one.missing([("a", 2, 3)])] == [
        "a: if b -> no",
        "a: if b (2) -> yes",
        "a: if b (2) -> no",
    ]


def test_what_only_type_checkers_see_is_no_decision() -> None:
    assert decisions("if TYPE_CHECKING:\n    import a\nif not cython.compiled:\n    b = 1\n") == []


@pytest.mark.parametrize(
    ("subject", "is_own"), [("fetch", True), ("fetch_attacks", True), ("fetch_session_ends", False)]
)
def test_a_test_is_of_the_module_with_the_longest_name(subject: str, is_own: bool) -> None:
    assert is_of(subject, "fetch", ["fetch_session"]) is is_own


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = {
        "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["src"]\n',
        "src/moldau/__init__.py": "",
        "src/moldau/rule.py": "def is_small(n):\n    if n < 3:\n        return True\n",
        "tests/branches/nothing": "",
        "tests/unit/test_rule.py": (
            "from moldau.rule import is_small\ndef test_it():\n    assert is_small(1)\n"
        ),
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


WAY = "rule.py is_small: if n < 3 -> no"


SCRIPT = """
import sys
from pathlib import Path
from branches.run import run

sys.exit(run(Path.cwd(), ("moldau.rule",), sys.argv[1:]))
"""


def branches(project: Path, *arguments: str) -> tuple[int, str]:
    """Its status, and what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        cwd=project,
        env={"PYTHONPATH": str(HERE.parent), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout


def test_a_way_that_is_not_taken_fails_unless_it_is_held(project: Path) -> None:
    status, text = branches(project)
    assert status == 1
    assert f"not taken: {WAY}" in text
    assert branches(project, "--write")[0] == 0
    assert WAY in (project / HELD).read_text().splitlines()
    status, text = branches(project)
    assert status == 0
    assert "1 of 2 ways taken: 50.0%" in text


def test_a_way_that_is_taken_is_no_longer_held(project: Path) -> None:
    (project / HELD).write_text(f"{WAY}\nother.py f: if g -> no\n")
    test = project / "tests" / "unit" / "test_rule.py"
    test.write_text(test.read_text() + "    assert not is_small(3)\n")
    status, text = branches(project)
    assert status == 1
    assert f"remove it from {HELD}: {WAY}" in text
    assert branches(project, "--write")[0] == 0
    assert (project / HELD).read_text().splitlines()[1:] == ["other.py f: if g -> no"]


def test_nothing_is_said_of_a_module_whose_tests_fail(project: Path) -> None:
    test = project / "tests" / "unit" / "test_rule.py"
    test.write_text(test.read_text() + "    assert is_small(3)\n")
    status, text = branches(project)
    assert status == 1
    assert "rule.py: its tests fail" in text
    assert WAY not in text
