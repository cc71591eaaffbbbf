"""Every module has its test file, and every test file its module."""

from collections.abc import Iterator
from pathlib import Path

from tidy.sources import Violation, package_modules, place

# Declarations without behaviour: messages are covered by all files in
# tests/unit/protocol/messages, the broker's settings by tests/unit/config/test_broker.py.
TESTED_AS_A_WHOLE = ("protocol/messages", "config/broker")
UNTESTED = {"__init__", "__main__"}


def modules_have_tests(root: Path) -> Iterator[Violation]:
    """`src/moldau/a/b.py` is tested by `tests/unit/a/test_b.py`."""
    for _, path in package_modules(root):
        inside = path.relative_to(root / "src" / "moldau")
        if path.stem in UNTESTED or inside.parent.as_posix() in TESTED_AS_A_WHOLE:
            continue
        expected = root / "tests" / "unit" / inside.parent / f"test_{path.stem}.py"
        if not expected.is_file():
            detail = f"{place(root, expected)} is missing"
            yield Violation(place(root, path), "modules_have_tests", detail)


def tests_have_modules(root: Path) -> Iterator[Violation]:
    """`test_b.py`, or `test_b_<aspect>.py`, stands where `b.py` or the package `b` stands."""
    unit = root / "tests" / "unit"
    for path in sorted(unit.rglob("test_*.py")):
        inside = path.relative_to(unit)
        if inside.parent.as_posix() in TESTED_AS_A_WHOLE:
            continue
        subject = path.stem.removeprefix("test_")
        modules = (root / "src" / "moldau" / inside.parent).glob("*")
        if not any(f"{subject}_".startswith(f"{module.stem}_") for module in modules):
            yield Violation(place(root, path), "tests_have_modules", f"no module {subject!r}")
