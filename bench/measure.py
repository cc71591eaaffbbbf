"""Fair comparisons: contestants take turns, CPU time counts, the best turn of each is kept.

On a machine that others use too, the minimum over turns that alternate is what repeats.
"""

import time
from collections.abc import Callable, Mapping, Sequence

ROUNDS = 15
SECONDS_PER_TURN = 0.02


def best_seconds(
    contestants: Mapping[str, Callable[[], object]], *, rounds: int = ROUNDS
) -> dict[str, float]:
    """CPU seconds of one call of each contestant, at its best."""
    calls = {name: _calls_per_turn(run) for name, run in contestants.items()}
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(rounds):
        for name, run in contestants.items():
            best[name] = min(best[name], _seconds_per_call(run, calls[name]))
    return best


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a Markdown table: names to the left, numbers to the right."""
    widths = [max(len(cell) for cell in cells) for cells in zip(columns, *rows, strict=True)]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    print(f"\n{title}\n")
    for cells in (columns, rule, *rows):
        padded = [cells[0].ljust(widths[0])]
        padded += [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
        print(f"| {' | '.join(padded)} |")


def end(misses: Sequence[str]) -> None:
    """End the process; badly, and with the reasons, if an aim was missed."""
    if misses:
        raise SystemExit("missed: " + "; ".join(misses))


def _calls_per_turn(run: Callable[[], object]) -> int:
    calls = 1
    while True:
        seconds = _seconds_per_call(run, calls) * calls
        if seconds > SECONDS_PER_TURN / 4:
            return max(1, round(calls * SECONDS_PER_TURN / seconds))
        calls *= 4


def _seconds_per_call(run: Callable[[], object], calls: int) -> float:
    start = time.process_time()
    for _ in range(calls):
        run()
    return (time.process_time() - start) / calls
