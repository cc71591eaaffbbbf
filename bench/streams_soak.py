"""Three applications of streams for long: memory, open files, checkpoints, lag and results.

bin/bench streams_soak [--minutes 60] [--rate 200] [--interval-ms 3000] [--plot FILE.svg]

A word count, windows of a minute and a join with a table, each a `moldau streams run` of its own on
`local[2]`, read 200 lines a second from one broker of Moldau. Each ten seconds their processes are
looked at; each minute the JVMs collect, so that what they really hold is known. The first two
fifths of the time are for warming up. What follows is flat if the median of its last third is at
most 5 %, or 8 MB (8 files), above that of its first third. At the end the results are compared
with what was sent.
"""

import argparse
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path

from bench.brokers import Contestant, moldau
from bench.measure import end, print_table
from bench.plot import Curve, draw
from bench.soak_applications import (
    Application,
    Sent,
    differences,
    prepare,
    running,
    send_steadily,
)
from bench.soak_samples import Series, memory_mb, open_files

_LOOK_S = 10.0
_COLLECT_EVERY = 6
_DRAIN_S = 120.0


def main() -> None:
    """Run, look now and then, compare, and say what grew."""
    options = _options()
    found: dict[str, Series] = {}
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        broker = stack.enter_context(moldau(place / "broker", {}))
        prepare(broker.bootstrap)
        applications = [
            stack.enter_context(running(name, place, broker.bootstrap, options.interval_ms))
            for name in ("words", "windows", "join")
        ]
        sent, stop = Sent(), threading.Event()
        sender = threading.Thread(
            target=send_steadily, args=(broker.bootstrap, options.rate, sent, stop)
        )
        sender.start()
        try:
            follow(options.minutes * 60, broker, applications, found)
        finally:
            stop.set()
            sender.join()
        wrong = differences(broker.bootstrap, sent, time.monotonic() + _DRAIN_S)
    print(f"\n{sent.lines} lines in {options.minutes:g} minutes; {len(wrong)} results are wrong")
    growing = report(found)
    if options.plot:
        Path(options.plot).write_text(_picture(found))
    end([*wrong, *(f"{name} is not flat" for name in growing)])


def follow(
    seconds: float, broker: Contestant, applications: list[Application], found: dict[str, Series]
) -> None:
    """Look at everything until the time is over."""
    began, looks = time.monotonic(), 0
    waiting = threading.Event()
    while (at_s := time.monotonic() - began) < seconds:
        sample = {
            "broker, MB": memory_mb([broker.pid]),
            "broker, files": float(open_files([broker.pid])),
        }
        for each in applications:
            sample |= each.sample(collects=looks % _COLLECT_EVERY == 0)
        for name, value in sample.items():
            found.setdefault(name, Series()).add(at_s, value)
        looks += 1
        waiting.wait(max(0.0, looks * _LOOK_S - (time.monotonic() - began)))


def report(found: dict[str, Series]) -> list[str]:
    """Print the table; returns the names of what is not flat."""
    rows, growing = [], []
    for name, series in found.items():
        early, late = series.thirds()
        flat = series.is_flat()
        shown = f"{series.slope_per_hour():+.1f}"
        rows.append([name, f"{early:,.1f}", f"{late:,.1f}", shown, "yes" if flat else "no"])
        if not flat and not name.endswith(", lag"):
            growing.append(name)
    columns = ["", "first third", "last third", "an hour", "flat"]
    print_table("After warming up, medians", columns, rows)
    return growing


def _picture(found: dict[str, Series]) -> str:
    titles, charts = [], []
    for unit in ("MB", "files"):
        titles.append(f"{unit} by minutes")
        charts.append(
            [
                Curve(name, [(at_s / 60, value) for at_s, value in series.points if at_s > 0])
                for name, series in found.items()
                if name.endswith(unit) and "checkpoint" not in name
            ]
        )
    return draw(titles, charts)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bin/bench streams_soak")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--interval-ms", type=int, default=3000)
    parser.add_argument("--plot", default="")
    return parser.parse_args()


if __name__ == "__main__":
    main()
