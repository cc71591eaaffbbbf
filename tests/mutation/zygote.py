"""A pytest session that stops after collection, and tries each mutant in a fork of itself.

The parent imports modules and tests once. For a change within a function the fork gets the
function's new code and runs the tests that were seen to run the changed lines, the quickest
first, until one fails. A change outside of functions, or to what has run while tests were
imported, needs a fresh import: those have the status COLD here and are tried by `cold`.
"""

import ast
import gc
import pickle
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
from hypothesis import Phase, settings

from mutation.forks import Job, run_all
from mutation.mutants import Mutant, mutated

SURVIVED, KILLED, COLD, UNSEEN = 0, 1, 3, 4
LIMIT_S = 5.0
LIMIT_FACTOR = 4
BASELINE_LIMIT_S = 1800.0
# Nobody reads the messages of asserts.
ARGUMENTS = ("-x", "-q", "--capture=sys", "--assert=plain", "-p", "no:cacheprovider")

Line = tuple[str, int]
Subject = tuple[Path, Mutant]


@dataclass(slots=True)
class Seen:
    """What one test ran of the modules, and for how long."""

    duration_s: float
    lines: set[Line]


@dataclass(slots=True)
class Tracer:
    """Notes which lines of some files are run."""

    files: frozenset[str]
    lines: set[Line] = field(default_factory=set)

    def start(self) -> None:
        threading.settrace(self._call)
        sys.settrace(self._call)

    def stop(self) -> set[Line]:
        """The lines since the start."""
        sys.settrace(None)
        threading.settrace(None)
        found, self.lines = self.lines, set()
        return found

    def _call(self, frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in self.files:
            return None
        self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line

    def _line(self, frame: FrameType, event: str, _: Any) -> Any:
        self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line


class Deterministic:
    """The same examples each time, and none that is made small or kept for later runs."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile(
            "mutation", deadline=None, derandomize=True, database=None, phases=phases
        )
        settings.load_profile("mutation")


class Zygote(Deterministic):
    """The plugin in whose place pytest would run the tests."""

    def __init__(
        self, subjects: list[Subject], report: Callable[[Subject, int], None], workers: int
    ) -> None:
        self._subjects = subjects
        self._report = report
        self._workers = workers
        self.seconds = 0.0
        """How long all tests take without a change."""
        self._tracer = Tracer(frozenset(str(path) for path, _ in subjects))
        self._tracer.start()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        # What a test would import first was not here to be changed.
        for path in dict.fromkeys(path for path, _ in self._subjects):
            import_module(module_name(path))
        imported = self._tracer.stop()
        if session.testsfailed:
            raise session.Failed("tests cannot be collected")
        seen = self._baseline(session)
        self.seconds = sum(one.duration_s for one in seen.values())
        by_name = {str(number): subject for number, subject in enumerate(self._subjects)}
        jobs = self._jobs(session, by_name, seen, imported)
        for name, status in run_all(jobs, self._workers):
            self._report(by_name[name], status)
        return True

    def _baseline(self, session: pytest.Session) -> dict[str, Seen]:
        """Run all tests unchanged: they must pass, and show what each of them runs."""
        with tempfile.NamedTemporaryFile(suffix=".pickle") as file:
            path = Path(file.name)

            def action() -> int:
                seen = {}
                for name, failed, duration_s in run(session, session.items, self._tracer.start):
                    seen[name] = Seen(duration_s, self._tracer.stop())
                    if failed:
                        print(f"{name} fails without a change")
                        return KILLED
                path.write_bytes(pickle.dumps(seen))
                return SURVIVED

            ((_, status),) = run_all([Job("baseline", action, BASELINE_LIMIT_S)])
            if status != SURVIVED:
                raise session.Failed("tests must pass before anything is changed")
            seen: dict[str, Seen] = pickle.loads(path.read_bytes())
            return seen

    def _jobs(
        self,
        session: pytest.Session,
        subjects: dict[str, Subject],
        seen: dict[str, Seen],
        imported: set[Line],
    ) -> Iterator[Job]:
        running = defaultdict(list)
        for item in sorted(session.items, key=lambda item: seen[item.nodeid].duration_s):
            for line in seen[item.nodeid].lines:
                running[line].append(item)
        for name, (path, mutant) in subjects.items():
            lines = [
                (str(path), number) for number in range(mutant.first_line, mutant.last_line + 1)
            ]
            if not mutant.function or not imported.isdisjoint(lines):
                self._report((path, mutant), COLD)
                continue
            items = list(dict.fromkeys(item for line in lines for item in running[line]))
            if not items:
                self._report((path, mutant), UNSEEN)
                continue
            duration_s = sum(seen[item.nodeid].duration_s for item in items)

            def action(path: Path = path, mutant: Mutant = mutant, items: Any = items) -> int:
                try:
                    swap_code(path, mutant)
                except ValueError:  # other variables of outer functions than before
                    return COLD
                is_killed = any(failed for _, failed, _ in run(session, items))
                return KILLED if is_killed else SURVIVED

            yield Job(name, action, LIMIT_S + LIMIT_FACTOR * duration_s)


def run(
    session: pytest.Session, items: list[pytest.Item], before: Callable[[], None] = lambda: None
) -> Iterator[tuple[str, bool, float]]:
    """Each test's name, whether it failed, and how long it took."""
    for item, following in zip(items, [*items[1:], None], strict=True):
        started_at = time.perf_counter()
        before()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        yield item.nodeid, bool(session.testsfailed), time.perf_counter() - started_at


def module_name(path: Path) -> str:
    """By which tests import it."""
    names = [path.stem]
    for folder in path.parents:
        if not (folder / "__init__.py").exists():
            break
        names.append(folder.name)
    return ".".join(reversed(names))


def compiled(path: Path, mutant: Mutant) -> CodeType:
    tree: ast.Module = mutated(path.read_text(encoding="utf-8"), mutant.index)
    return compile(tree, str(path), "exec")


def swap_code(path: Path, mutant: Mutant) -> None:
    """Give every function object that is or lies in the mutant's function its new code."""
    codes = {(code.co_qualname, code.co_firstlineno): code for code in _nested(path, mutant)}
    for function in gc.get_objects():
        if isinstance(function, FunctionType) and function.__code__.co_filename == str(path):
            name = function.__code__.co_qualname
            if name == mutant.function or name.startswith(f"{mutant.function}."):
                function.__code__ = codes[name, function.__code__.co_firstlineno]


def _nested(path: Path, mutant: Mutant) -> Iterator[CodeType]:
    waiting = [compiled(path, mutant)]
    while waiting:
        code = waiting.pop()
        yield code
        waiting.extend(const for const in code.co_consts if isinstance(const, CodeType))


def cold(path: Path, mutant: Mutant, arguments: list[str]) -> int:
    """Run all tests on a module that is imported with the change in it."""
    code = compiled(path, mutant)
    original = SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, name: str) -> CodeType | None:
        return code if loader.path == str(path) else original(loader, name)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign,assignment]
    status = pytest.main([*ARGUMENTS, *arguments], plugins=[Deterministic()])
    return SURVIVED if status == pytest.ExitCode.OK else KILLED
