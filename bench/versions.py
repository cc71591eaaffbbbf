"""This clone's broker against that of another clone: what a change costs or gains.

bin/bench versions OTHER-CLONE [rounds]

Both brokers run side by side and take turns with the same loads. On a machine whose speed changes
the best turn of each is what repeats, so that is compared: processor time, and the clock.
"""

import sys
import tempfile
from pathlib import Path

from bench.broker import bulk, latency, single
from bench.brokers import SETTINGS, Contestant, moldau
from bench.comparison import Workload
from bench.measure import print_table

ROUNDS = 5
HIGHER_IS_BETTER = ("MB/s", "requests/s")

Best = dict[tuple[str, str], float]


def workloads() -> list[Workload]:
    """Short ones: many turns find the best."""
    return [
        *bulk(1024, 200_000),
        *bulk(100, 500_000),
        *bulk(1024, 150_000, "lz4"),
        *bulk(1024, 150_000, "zstd"),
        single(1, 20_000),
        single(50, 40_000),
        single(200, 40_000),
        latency(1_000),
    ]


def take_turn(broker: Contestant, turn: str, best: Best) -> None:
    """Let a broker do everything once, and keep what was better than before."""
    for workload in workloads():
        topic = f"{workload.name}-{turn}".replace(" ", "-").replace(",", "")
        for figure, value in workload.run(broker, topic).items():
            name = (workload.name, figure)
            choose = max if figure in HIGHER_IS_BETTER else min
            best[name] = choose(best.get(name, value), value)


def compare(other: Path, rounds: int) -> None:
    """Run everything and print the table."""
    before: Best = {}
    after: Best = {}
    with (
        tempfile.TemporaryDirectory() as directory,
        moldau(Path(directory) / "before", SETTINGS, clone=other) as old,
        moldau(Path(directory) / "after", SETTINGS) as new,
    ):
        for turn in range(rounds):
            order = [(old, before), (new, after)]
            for broker, best in order if turn % 2 == 0 else reversed(order):
                take_turn(broker, str(turn), best)
            print(f"round {turn + 1} of {rounds} done", file=sys.stderr, flush=True)
    rows = [
        (f"{name}, {figure}", f"{value:.4g}", f"{after[name, figure]:.4g}",
         f"{after[name, figure] / value:.2f}")
        for (name, figure), value in before.items()
    ]  # fmt: skip
    print_table(f"Best of {rounds} rounds", ("", str(other.name), "this clone", "ratio"), rows)


if __name__ == "__main__":
    compare(Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS)
