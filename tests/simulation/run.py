"""Plays seeds and tells which of them broke an invariant.

bin/simulate 1000                 seeds 0 to 999, on all cores
bin/simulate 1 --start 17 -v      seed 17 alone, with its faults and the brokers' log lines
bin/simulate 10000 --record run   likewise many; the same command goes on where it was broken off
"""

import argparse
import logging
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import TextIO

from simulation.record import Record
from simulation.scenario import Verdict, play
from simulation.shapes import SHAPES, shape_of

_WIDTH = 30
_VIOLATIONS_TOLD = 10


def main() -> int:
    options = _options(sys.argv[1:])
    logging.basicConfig(level=logging.INFO if options.verbose else logging.CRITICAL)
    record = Record(options.record, range(options.start, options.start + options.seeds))
    progress = Progress(len(record.verdicts), options.seeds, sys.stderr)
    for verdict in _played(record.missing, options.brokers, options.workers):
        record.add(verdict)
        if is_failed(verdict) or options.verbose:
            print(told(verdict, options.brokers), flush=True)
        progress.step(sum(map(is_failed, record.verdicts.values())))
    progress.end()
    verdicts = list(record.verdicts.values())
    print(summary(verdicts))
    return 1 if any(map(is_failed, verdicts)) else 0


class Progress:
    """A line that grows on a terminal, and is not there elsewhere."""

    def __init__(self, done: int, total: int, output: TextIO) -> None:
        self._done = self._done_before = done
        self._total = total
        self._output = output
        self._is_shown = output.isatty()
        self._began_s = time.monotonic()

    def step(self, failed: int) -> None:
        """One more seed was played."""
        self._done += 1
        if self._is_shown:
            self._output.write(f"\r{self.line(failed, time.monotonic() - self._began_s)} ")
            self._output.flush()

    def line(self, failed: int, elapsed_s: float) -> str:
        """How far it is, and how long it will take."""
        filled = _WIDTH * self._done // self._total
        bar = "#" * filled + "." * (_WIDTH - filled)
        each_s = elapsed_s / (self._done - self._done_before)
        left_min = each_s * (self._total - self._done) / 60
        return f"[{bar}] {self._done}/{self._total}, {failed} failed, {left_min:.0f} min left"

    def end(self) -> None:
        """Leave the line behind."""
        if self._is_shown:
            self._output.write("\n")


def is_failed(verdict: Verdict) -> bool:
    """Whether an invariant was broken, or nothing much put to the test."""
    return bool(verdict.violations) or not verdict.is_worth_something


def told(verdict: Verdict, brokers: int | None) -> str:
    """What happened in a seed, and how to see it again."""
    chosen = "" if brokers is None else f" --brokers {brokers}"
    lines = [
        f"seed {verdict.seed}: {len(verdict.violations)} violations, trace {verdict.trace:08x}",
        f"  replay     bin/simulate 1 --start {verdict.seed}{chosen} -v",
        f"  worth      {verdict.simulated_s:.0f} s, {verdict.acknowledged_count} records",
        f"  parts      {', '.join(verdict.parts)}",
        *(f"  fault      {fault}" for fault in verdict.faults),
        *(f"  violation  {found}" for found in verdict.violations[:_VIOLATIONS_TOLD]),
    ]
    return "\n".join(lines)


def summary(verdicts: Sequence[Verdict]) -> str:
    """One line about all seeds."""
    count = len(verdicts)
    failed = [verdict.seed for verdict in verdicts if is_failed(verdict)]
    cpu_s = sum(verdict.cpu_s for verdict in verdicts) / count
    simulated_s = sum(verdict.simulated_s for verdict in verdicts) / count
    faults = sum(len(verdict.faults) for verdict in verdicts) / count
    acknowledged = sum(verdict.acknowledged_count for verdict in verdicts) / count
    return (
        f"{count} seeds, {len(failed)} failed {failed or ''}; per seed {simulated_s:.0f} simulated "
        f"seconds, {faults:.1f} faults, {acknowledged:.0f} acknowledged records, {cpu_s:.2f} CPU s"
    )


def _played(seeds: Sequence[int], brokers: int | None, workers: int) -> Iterator[Verdict]:
    work = partial(_play, brokers=brokers)
    if workers == 1 or len(seeds) == 1:
        yield from map(work, seeds)
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(work, seeds)


def _play(seed: int, brokers: int | None) -> Verdict:
    return play(seed, shape_of(seed, brokers))


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bin/simulate", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("seeds", type=int, help="how many seeds to play")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--brokers", type=int, choices=SHAPES, help="by default the seed says")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes at once")
    parser.add_argument("--record", type=Path, help="file of seeds that need not be played again")
    parser.add_argument("-v", "--verbose", action="store_true", help="tell everything")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
