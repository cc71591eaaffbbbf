"""Plays seeds and tells which of them broke an invariant.

bin/simulate 1000                 seeds 0 to 999, on all cores
bin/simulate 1 --start 17 -v      seed 17 alone, with its faults and the brokers' log lines
"""

import argparse
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from simulation.scenario import Verdict, play
from simulation.shapes import SHAPES, shape_of

_CHUNK = 5
_VIOLATIONS_TOLD = 10


def main() -> int:
    options = _options(sys.argv[1:])
    logging.basicConfig(level=logging.INFO if options.verbose else logging.CRITICAL)
    seeds = range(options.start, options.start + options.seeds)
    verdicts = []
    for verdict in _played(seeds, options.brokers, options.workers):
        verdicts.append(verdict)
        if is_failed(verdict) or options.verbose:
            print(told(verdict, options.brokers), flush=True)
    print(summary(verdicts))
    return 1 if any(map(is_failed, verdicts)) else 0


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


def _played(seeds: range, brokers: int | None, workers: int) -> Iterator[Verdict]:
    work = partial(_play, brokers=brokers)
    if workers == 1 or len(seeds) == 1:
        yield from map(work, seeds)
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(work, seeds, chunksize=_CHUNK)


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
    parser.add_argument("-v", "--verbose", action="store_true", help="tell everything")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
