"""Changes rules one at a time, and looks whether a test notices.

bin/mutate                               all modules of tests/mutation/targets.py, every change
bin/mutate records replication/partition some of them, by the beginning of their paths
bin/mutate coordinator --sample 40       forty changes of each module, drawn by --seed
bin/mutate records --write               and renew the tables in docs/reliability.md
bin/mutate records --trust               only what no test has noticed so far, after new tests

A change drops a statement, negates a condition, leaves out one side of `and` or `or`, moves a
boundary, or alters a number, an operator or an error code. Kernels run uncompiled. Results are
kept in build/mutation.jsonl until a module or its tests change, so a run that was stopped goes on.
"""

import argparse
import hashlib
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random

import pytest

from mutation.forks import LIMIT_EXCEEDED, Job, run_all
from mutation.mutants import Mutant, mutants
from mutation.report import Result, Results, tables, written
from mutation.survivors import REASONS
from mutation.targets import MOLDAU, Project, Target
from mutation.zygote import (
    ARGUMENTS,
    COLD,
    LIMIT_FACTOR,
    SURVIVED,
    UNSEEN,
    Subject,
    Zygote,
    cold,
)

IMPORT_LIMIT_S = 60.0
SESSION_LIMIT_S = 24 * 3600.0
DOCUMENT = "docs/reliability.md"


def main() -> int:
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    return run(MOLDAU, sys.argv[1:])


def run(project: Project, arguments: Sequence[str]) -> int:
    options = parsed(arguments)
    session = MutationRun(project, options)
    for target in project.targets:
        session.try_target(target)
    return session.finish()


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bin/mutate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("modules", nargs="*", help="how paths below the package begin")
    parser.add_argument("--sample", type=int, help="how many changes of each module")
    parser.add_argument("--seed", type=int, default=0, help="what the sample is drawn from")
    parser.add_argument("--workers", type=int, default=1, help="how many processes at a time")
    parser.add_argument("--afresh", action="store_true", help="do not use earlier results")
    parser.add_argument(
        "--trust", action="store_true", help="what earlier tests noticed is noticed by these"
    )
    parser.add_argument("--write", action="store_true", help=f"renew the tables in {DOCUMENT}")
    return parser.parse_args(arguments)


class MutationRun:
    """One run of the command."""

    def __init__(self, project: Project, options: argparse.Namespace) -> None:
        self._project = project
        self._options = options
        self._path = project.root / "build" / "mutation.jsonl"
        # How long the tests of a target take, for what is tried after its first process.
        self._seconds = project.root / "build" / "mutation-seconds.txt"
        if options.afresh:
            self._path.unlink(missing_ok=True)
        self._totals: dict[str, int] = {}
        self._results: list[Result] = []
        self._failed: list[str] = []

    def try_target(self, target: Target) -> None:
        """Try the chosen mutants of one target that have no result yet."""
        chosen = list(self._chosen(target))
        if not chosen:
            return
        digest = self._digest(target)
        tests = [str(path) for path in self._project.test_files(target)]
        waiting = self._missing(chosen, digest)
        if waiting:

            def collect() -> int:
                return self._warm(waiting, tests, digest)

            ((_, status),) = run_all([Job(target.modules, collect, SESSION_LIMIT_S, forks=True)])
            if status != 0:
                self._failed.append(target.modules)
                return
            self._cold(self._missing(chosen, digest), tests, digest)
        results = Results(self._path)
        for path, mutant in chosen:
            result = self._known(results, path, mutant, digest)
            assert result is not None, f"{path}: nothing came of {mutant.key}"
            self._results.append(result)

    def finish(self) -> int:
        """Print what came of it all; 1 if tests failed before anything was changed."""
        modules = list(dict.fromkeys(result.module for result in self._results))
        fresh = tables(self._results, self._totals, REASONS)
        print(*fresh["modules"], "", *fresh["survivors"], sep="\n")
        count = Counter(result.outcome for result in self._results)
        killed = count["killed"] + count["timeout"]
        if self._results:
            print(f"\n{killed} of {len(self._results)} killed: {killed / len(self._results):.1%}")
        if self._options.write:
            document = self._project.root / DOCUMENT
            document.write_text(written(document.read_text(), fresh, modules))
        for name in self._failed:
            print(f"{name}: its tests fail without a change, so nothing was tried")
        return 1 if self._failed else 0

    def _chosen(self, target: Target) -> Iterator[Subject]:
        for path in self._project.modules(target):
            name = self._project.name(path)
            wanted = self._options.modules
            if wanted and not name.startswith(tuple(wanted)):
                continue
            found = mutants(path.read_text(encoding="utf-8"))
            self._totals[name] = len(found)
            size = min(self._options.sample or len(found), len(found))
            sample = Random(f"{self._options.seed} {name}").sample(found, size)
            yield from ((path, mutant) for mutant in sorted(sample, key=lambda one: one.index))

    def _missing(self, chosen: list[Subject], digest: str) -> list[Subject]:
        results = Results(self._path)
        return [
            (path, mutant)
            for path, mutant in chosen
            if self._known(results, path, mutant, digest) is None
        ]

    def _known(self, results: Results, path: Path, mutant: Mutant, digest: str) -> Result | None:
        name = self._project.name(path)
        found = results.get(name, mutant.key, digest)
        if found is None and self._options.trust:
            found = results.killed(name, mutant.key)
        return found

    def _digest(self, target: Target) -> str:
        files = list(self._project.modules(target))
        for path in self._project.test_files(target):
            inside = (file for file in path.rglob("*") if file.suffix in (".py", ".txt"))
            files.extend(sorted(inside) if path.is_dir() else [path])
        return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()[:16]

    def _warm(self, subjects: list[Subject], tests: list[str], digest: str) -> int:
        """In a process of its own: collect the tests once, and fork for each mutant."""
        os.chdir(self._project.root)
        progress = Progress(len(subjects))
        results = Results(self._path)

        def report(subject: Subject, status: int) -> None:
            if status != COLD:
                progress.show(self._keep(results, subject, status, digest))

        zygote = Zygote(subjects, report, self._options.workers)
        with output_in_a_file() as output:
            status = pytest.main([*ARGUMENTS, *tests], plugins=[zygote])
            self._seconds.parent.mkdir(exist_ok=True)
            self._seconds.write_text(str(zygote.seconds))
            if status != pytest.ExitCode.OK:
                print(output.read_text(errors="replace")[-5000:], file=sys.stderr)
        return int(status)

    def _cold(self, subjects: list[Subject], tests: list[str], digest: str) -> None:
        """Import everything anew for each mutant."""
        limit_s = IMPORT_LIMIT_S + LIMIT_FACTOR * float(self._seconds.read_text())
        progress = Progress(len(subjects))
        results = Results(self._path)
        by_name = {str(number): subject for number, subject in enumerate(subjects)}

        def action(path: Path, mutant: Mutant) -> int:
            os.chdir(self._project.root)
            with output_in_a_file():
                return cold(path, mutant, tests)

        jobs = (Job(name, partial(action, *subject), limit_s) for name, subject in by_name.items())
        for name, status in run_all(jobs, self._options.workers):
            progress.show(self._keep(results, by_name[name], status, digest))

    def _keep(self, results: Results, subject: Subject, status: int, digest: str) -> Result:
        path, mutant = subject
        outcome = "survived" if status in (SURVIVED, UNSEEN) else "killed"
        if status == LIMIT_EXCEEDED:
            outcome = "timeout"
        name = self._project.name(path)
        result = Result(name, mutant.first_line, mutant.key, outcome, digest)
        results.add(result)
        return result


class Progress:
    """One line for people who wait; what survives stays on the screen."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._count: Counter[str] = Counter()
        self._started_at = time.monotonic()

    def show(self, result: Result) -> None:
        self._count[result.outcome] += 1
        if result.outcome == "survived":
            print(f"\r{result.module}:{result.line}: {result.key}", file=sys.stderr)
        done = self._count.total()
        pace = done / (time.monotonic() - self._started_at)
        counts = ", ".join(f"{number} {outcome}" for outcome, number in self._count.items())
        line = f"\r{done}/{self._total} {result.module}: {counts}, {pace:.1f} a second "
        print(line, end="" if done < self._total else "\n", file=sys.stderr, flush=True)


@contextmanager
def output_in_a_file() -> Iterator[Path]:
    """Keep what tests print off the screen; only for a process that ends with the block."""
    with tempfile.NamedTemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        yield Path(file.name)


if __name__ == "__main__":
    sys.exit(main())
