"""How brokers on one machine add up: each is held to the same share of a core.

bin/bench shares [share] [picture.svg]

Brokers of `moldau serve --brokers N`, N being 1, 2, 4 and 8, each in a control group of its own
that gives it so much of a core (0.1, unless another share is given) in every 20 ms. What is left
of the machine is for the clients, C programs with raw requests; numbers of brokers that would
leave them less than a third are left out. Needs root, as control groups do.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

from bench.measure import print_table
from bench.one_machine import cluster
from bench.plot import Curve, draw
from bench.several import Brokers, bulk, single

SHARE = 0.1
BROKERS = (1, 2, 4, 8)
ROUNDS = 3
_PERIOD_US = 20_000
_GROUPS = Path("/sys/fs/cgroup")
_CONNECTIONS = 20
_OF_MACHINE = 0.65
# What a whole core does in a turn, about.
_SINGLES_PER_CORE, _BATCHES_PER_CORE = 120_000, 16_000


@contextmanager
def held_to(share: float, process: int, name: str) -> Iterator[None]:
    """Give a process no more than this share of a core."""
    quota = int(share * _PERIOD_US)
    if (_GROUPS / "cgroup.controllers").exists():
        group = _GROUPS / name
        limits = {"cpu.max": f"{quota} {_PERIOD_US}"}
    else:
        group = _GROUPS / "cpu" / name
        limits = {"cpu.cfs_period_us": str(_PERIOD_US), "cpu.cfs_quota_us": str(quota)}
    group.mkdir()
    before = _group_of(process, group.parent)
    try:
        for file, text in limits.items():
            (group / file).write_text(text)
        (group / "cgroup.procs").write_text(str(process))
        yield
    finally:
        if Path(f"/proc/{process}").exists():
            (before / "cgroup.procs").write_text(str(process))
        group.rmdir()


def _group_of(process: int, root: Path) -> Path:
    """Where a process is now, to be put back there."""
    for line in Path(f"/proc/{process}/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers in ("", "cpu", "cpu,cpuacct") and (root / path[1:]).is_dir():
            return root / path[1:]
    return root


def measure(count: int, share: float) -> tuple[float, float]:
    """Requests and MB per second."""
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        made = stack.enter_context(cluster(count, Path(directory)))
        brokers = Brokers(made.ports)
        brokers.prepare()
        for number, process in made.processes().items():
            name = f"moldau-bench-{os.getpid()}-{number}"
            stack.enter_context(held_to(share, process, name))
        connections = _CONNECTIONS * count
        singles = int(_SINGLES_PER_CORE * share) * count
        batches = int(_BATCHES_PER_CORE * share) * count
        single(brokers, connections, singles // 3)  # until all is warm
        return (
            median(single(brokers, connections, singles) for _ in range(ROUNDS)),
            median(bulk(brokers, connections, batches) for _ in range(ROUNDS)),
        )


def main(share: float, picture: str | None) -> None:
    """Measure, print the table, and draw it."""
    counts = [one for one in BROKERS if one * share <= (os.cpu_count() or 1) * _OF_MACHINE]
    found = {count: measure(count, share) for count in counts}
    first = found[counts[0]]
    rows = [
        (
            str(count),
            f"{requests:,.0f}",
            f"{requests / first[0] / count:.2f}",
            f"{megabytes:,.0f}",
            f"{megabytes / first[1] / count:.2f}",
        )
        for count, (requests, megabytes) in found.items()
    ]
    columns = ("brokers", "requests/s", "of N times one", "MB/s", "of N times one")
    title = f"Each broker has {share:g} of a core; {os.cpu_count()} cores, medians of {ROUNDS}"
    print_table(title, columns, rows)
    if picture is not None:
        charts = [
            [
                Curve("measured", [(count, found[count][index]) for count in counts]),
                Curve("N times one", [(count, first[index] * count) for count in counts]),
            ]
            for index in (0, 1)
        ]
        titles = ("single-record requests/s, by brokers", "MB/s, by brokers")
        Path(picture).write_text(draw(titles, charts))


if __name__ == "__main__":
    main(
        float(sys.argv[1]) if len(sys.argv) > 1 else SHARE,
        sys.argv[2] if len(sys.argv) > 2 else None,
    )
