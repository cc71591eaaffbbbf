"""The parts of the test suite, in the order in which they fail fastest.

bin/test                          everything
bin/test quick                    what needs no other process: lint, types, tidy, setup, unit
bin/test lint types               some parts
bin/test unit -k batch            a part, with arguments for pytest
bin/test tests/unit/test_model.py a path, likewise
bin/test fresh-clone              the set-up itself, in fresh clones (network, minutes)

A test that fails has failed: nothing is run again. One that fails now and then has a cause, and is
mended or removed.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TYPED = (
    *("bin/environment", "bin/documents", "examples", "tests/run.py", "tests/conftest.py"),
    *("tests/tidy", "tests/conformance", "tests/faults", "tests/mutation"),
    "tests/branches",
    "tests/neighbours",
    *("tests/simulation", "tests/unit"),
)
WORKERS = ("-n", "2", "--dist", "worksteal")
ALONE = {"fresh_clone"}  # only run when asked for by name
QUICK = ("lint", "types", "tidy", "setup", "unit")


@dataclass(frozen=True, slots=True)
class Part:
    """One line of the summary."""

    name: str
    commands: tuple[tuple[str, ...], ...]


def static_parts() -> dict[str, Part]:
    """What needs no test to run."""
    return {
        "lint": Part("lint", (("ruff", "format", "--check", "."), ("ruff", "check", "."))),
        "types": Part("types", (("mypy", "--strict"), ("mypy", "--strict", *TYPED))),
        "tidy": Part("tidy", (("pytest", "-q", "tests/tidy"),)),
    }


def folders() -> list[str]:
    """The folders of tests that take part in a whole run, the quick ones first."""
    known = ["setup", "unit", "scenarios", "simulation", "conformance"]
    there = [
        folder.name
        for folder in (ROOT / "tests").iterdir()
        if folder.name not in {*ALONE, "tidy"} and any(folder.rglob("test_*.py"))
    ]
    return sorted(there, key=lambda name: known.index(name) if name in known else len(known))


def plan(arguments: Sequence[str]) -> list[Part]:
    """Turn the command line into parts; what is no part's name is for pytest."""
    static = static_parts()
    if list(arguments[:1]) == ["quick"]:
        arguments = [*QUICK, *arguments[1:]]
    names, for_pytest = split(arguments)
    if not arguments:
        everything = ("pytest", *WORKERS, *map("tests/{}".format, folders()))
        return [*static.values(), Part("tests", (everything,))]
    chosen = [static[name] for name in names if name in static]
    paths = [f"tests/{name.replace('-', '_')}" for name in names if name not in static]
    if paths or for_pytest:
        workers = WORKERS if paths and not for_pytest else ()
        chosen.append(Part("tests", (("pytest", *workers, *paths, *for_pytest),)))
    return chosen


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The leading names of parts, and the rest."""
    parts = {*static_parts(), *(name.replace("_", "-") for name in {*folders(), *ALONE})}
    count = 0
    while count < len(arguments) and arguments[count] in parts:
        count += 1
    return list(arguments[:count]), list(arguments[count:])


def run(part: Part) -> bool:
    """Run every command of a part, even after a failure: each has something to say."""
    is_passed = True
    for command in part.commands:
        print(f"== {part.name}: {' '.join(command)}", flush=True)
        done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, check=False)
        is_passed = is_passed and done.returncode == 0
    return is_passed


def use_one_cache() -> None:
    """Keep every download of the suite in one folder, so that it runs again without network."""
    cache = os.environ.setdefault("MOLDAU_CACHE", str(ROOT / ".cache"))
    os.environ.setdefault("npm_config_cache", f"{cache}/npm")
    os.environ.setdefault("GOMODCACHE", f"{cache}/go/mod")
    os.environ.setdefault("GOCACHE", f"{cache}/go/build")


def main() -> int:
    if sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    # Ignored in what a script starts by `&`, and tests press Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    use_one_cache()
    results: list[tuple[str, bool, float]] = []
    for part in plan(sys.argv[1:]):
        started_at = time.monotonic()
        is_passed = run(part)
        results.append((part.name, is_passed, time.monotonic() - started_at))
    print("\npart      result     seconds")
    for name, is_passed, duration_s in results:
        print(f"{name:9} {'passed' if is_passed else 'FAILED':9} {duration_s:8.1f}")
    return 0 if all(is_passed for _, is_passed, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main())
