"""Looks which decisions of machines and codecs their own tests take one way only.

bin/branches                       all of them; fails if a way is missing that is not in held.txt
bin/branches controller records    some, by the beginning of their paths below the package
bin/branches --write               and write what is missing now into held.txt

A module's own tests are `test_b.py` and `test_b_<aspect>.py` for `b.py`. What counts as machine or
codec is what `tests/tidy/import_map.py` calls pure. Kernels run uncompiled.
"""

import argparse
import os
import pickle
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from branches.arcs import Arcs
from branches.decisions import decisions
from mutation.forks import Job, run_all
from mutation.run import output_in_a_file
from mutation.zygote import ARGUMENTS, Deterministic
from tidy.import_map import PURE
from tidy.sources import is_within, package_modules

ROOT = Path(__file__).resolve().parents[2]
CODECS = ("moldau.broker.fast",)
LIMIT_S = 600.0
HELD = "tests/branches/held.txt"


@dataclass(frozen=True, slots=True)
class Counted:
    """How many ways there are through a module's decisions, and which are never taken."""

    ways: int
    missing: list[str]


def main() -> int:
    return run(ROOT, PURE + CODECS, sys.argv[1:])


def run(root: Path, pure: tuple[str, ...], arguments: Sequence[str]) -> int:
    options = parsed(arguments)
    subjects = {
        name: (path, tests)
        for name, path, tests in with_own_tests(root, pure)
        if not options.modules or name.startswith(tuple(options.modules))
    }
    counted, failed = measured(root, subjects, options.workers)
    ways = sum(one.ways for one in counted.values())
    missing = sum(len(one.missing) for one in counted.values())
    if ways:
        print(f"{ways - missing} of {ways} ways taken: {1 - missing / ways:.1%}")
    for name in failed:
        print(f"{name}: its tests fail")
    held = Held(root / HELD)
    if options.write:
        held.write(counted)
        return 1 if failed else 0
    news = list(held.news(counted))
    for line in news:
        print(line)
    return 1 if failed or news else 0


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bin/branches",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("modules", nargs="*", help="how paths below the package begin")
    parser.add_argument("--workers", type=int, default=1, help="how many processes at a time")
    parser.add_argument("--write", action="store_true", help=f"renew {HELD}")
    return parser.parse_args(arguments)


def with_own_tests(root: Path, pure: tuple[str, ...]) -> Iterator[tuple[str, Path, list[Path]]]:
    """Machines and codecs, by their path below the package, and their own tests."""
    package = root / "src" / "moldau"
    for module, path in package_modules(root):
        if not is_within(module, pure) or path.stem == "__init__":
            continue
        inside = path.relative_to(package)
        folder = root / "tests" / "unit" / inside.parent
        longer = [
            other.stem for other in path.parent.iterdir() if other.stem.startswith(f"{path.stem}_")
        ]
        tests = [
            test
            for test in sorted(folder.glob(f"test_{path.stem}*.py"))
            if is_of(test.stem.removeprefix("test_"), path.stem, longer)
        ]
        if tests and decisions(path.read_text(encoding="utf-8")):
            yield inside.as_posix(), path, tests


def is_of(subject: str, stem: str, longer: Iterable[str]) -> bool:
    """Whether a test is of this module, and not of one whose name begins alike."""
    return f"{subject}_".startswith(f"{stem}_") and not any(
        f"{subject}_".startswith(f"{other}_") for other in longer
    )


def measured(
    root: Path, subjects: dict[str, tuple[Path, list[Path]]], workers: int
) -> tuple[dict[str, Counted], list[str]]:
    """What each module's tests have taken, in a process each; and whose tests fail."""
    with tempfile.TemporaryDirectory() as folder:
        results = {name: Path(folder, str(number)) for number, name in enumerate(subjects)}
        jobs = [
            Job(name, partial(traced, root, path, tests, results[name]), LIMIT_S)
            for name, (path, tests) in subjects.items()
        ]
        failed = [name for name, status in run_all(jobs, workers) if status != 0]
        counted = {}
        for name, (path, _) in subjects.items():
            if name not in failed:
                arcs = pickle.loads(results[name].read_bytes())
                found = decisions(path.read_text(encoding="utf-8"))
                missing = [way for one in found for way in one.missing(arcs)]
                counted[name] = Counted(sum(one.ways for one in found), missing)
    return counted, sorted(failed)


def traced(root: Path, path: Path, tests: list[Path], result: Path) -> int:
    os.chdir(root)
    arcs = Arcs(str(path))
    with output_in_a_file() as output:
        arcs.start()
        status = pytest.main([*ARGUMENTS, *map(str, tests)], plugins=[Deterministic()])
        result.write_bytes(pickle.dumps(arcs.stop()))
        if status != pytest.ExitCode.OK:
            print(output.read_text(errors="replace")[-3000:], file=sys.stderr)
    return int(status)


class Held:
    """The ways that are known not to be taken: a line each, `module function: decision -> way`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        self._lines = [line for line in text.splitlines() if line and not line.startswith("#")]

    def news(self, counted: dict[str, Counted]) -> Iterator[str]:
        """What is missing but not held, and what is held but not missing."""
        known, found = set(self._lines), set(lines_of(counted))
        yield from (f"not taken: {line}" for line in lines_of(counted) if line not in known)
        yield from (
            f"taken, so remove it from {HELD}: {line}"
            for line in self._lines
            if line not in found and line.partition(" ")[0] in counted
        )

    def write(self, counted: dict[str, Counted]) -> None:
        kept = [line for line in self._lines if line.partition(" ")[0] not in counted]
        lines = sorted([*kept, *lines_of(counted)])
        heading = "# Ways that a module's own tests do not take. bin/branches --write renews this."
        self._path.write_text("\n".join([heading, *lines]) + "\n", encoding="utf-8")


def lines_of(counted: dict[str, Counted]) -> Iterator[str]:
    for name, one in counted.items():
        yield from (f"{name} {way}" for way in one.missing)


if __name__ == "__main__":
    sys.exit(main())
