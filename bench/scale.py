"""How cost grows: with partitions, connections and groups of a broker, and with the cluster.

bin/bench scale [size] [svg]

A broker, as a process of its own, gets ever more of one thing, and is asked after each step
for its memory, for the processor time that the new ones took, for that of a second without
work, and for that of one request. Clusters of up to thirty brokers with 20,000 partitions are
simulated: the real code of all brokers in one process, so that processor time is that of all
of them together. `size` makes all of it smaller, such as 0.01 to try the command out; `svg`
is a file for the curves.
"""

import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.brokers import Contestant, moldau
from bench.growth import Connections, Groups, Grown, Partitions, grow
from bench.measure import print_table
from bench.plot import Curve, draw
from bench.simulated_cluster import PHASES, Size, simulate

_STEPS: dict[str, tuple[Callable[[Contestant], Partitions | Connections | Groups], list[int]]] = {
    "partitions": (Partitions, [1, 10, 100, 1_000, 3_000, 10_000]),
    "connections": (Connections, [1, 10, 100, 500, 1_000, 2_000]),
    "groups": (Groups, [1, 10, 100, 500, 1_000, 2_000]),
}
_CLUSTERS = [Size(3, 2_000), Size(10, 6_700), Size(30, 2_000), Size(30, 6_700), Size(30, 20_000)]
# Sessions of many idle members must outlast the measurement.
_SETTINGS = {"group.max.session.timeout.ms": "3600000", "max.connections": "10000"}


def measure(size: float) -> tuple[dict[str, list[Grown]], dict[Size, dict[str, float]]]:
    """All figures: of one broker by what it has more and more of, and of clusters by phase."""
    grown = {}
    for what, (load, counts) in _STEPS.items():
        with (
            tempfile.TemporaryDirectory() as directory,
            moldau(Path(directory), _SETTINGS) as broker,
        ):
            grown[what] = grow(broker, load(broker), _scaled(counts, size))
        _print_grown(what, grown[what])
    clusters = {}
    for one in _CLUSTERS:
        smaller = Size(max(3, int(one.brokers * size**0.5)), max(100, int(one.partitions * size)))
        clusters[smaller] = simulate(smaller)
    _print_clusters(clusters)
    return grown, clusters


def _scaled(counts: Sequence[int], size: float) -> list[int]:
    return sorted({max(1, int(count * size)) for count in counts})


def _print_grown(what: str, rows: Sequence[Grown]) -> None:
    print_table(
        f"One broker with more and more {what}",
        (what, "memory MB", "CPU ms each", "CPU ms/s idle", "CPU us/request"),
        [
            (
                f"{row.count:,}",
                f"{row.memory_mb:.1f}",
                f"{row.each_ms:.3f}",
                f"{row.idle_ms_per_s:.1f}",
                f"{row.request_us:.0f}",
            )
            for row in rows
        ],
    )


def _print_clusters(clusters: dict[Size, dict[str, float]]) -> None:
    print_table(
        "Simulated clusters, three replicas: CPU seconds of all brokers together",
        ("brokers", "partitions", *PHASES),
        [
            (str(one.brokers), f"{one.partitions:,}", *(f"{spent[name]:.2f}" for name in PHASES))
            for one, spent in clusters.items()
        ],
    )


def _curves(
    grown: dict[str, list[Grown]], clusters: dict[Size, dict[str, float]]
) -> list[list[Curve]]:
    """Two charts: memory of one broker, and processor time of the largest number of brokers."""
    memory = [
        Curve(f"MB, {what}", [(row.count, row.memory_mb) for row in rows])
        for what, rows in grown.items()
    ]
    most = max(one.brokers for one in clusters)
    phases = [
        Curve(
            f"CPU s, {phase}",
            [
                (one.partitions, spent[phase])
                for one, spent in clusters.items()
                if one.brokers == most
            ],
        )
        for phase in PHASES
    ]
    return [memory, phases]


if __name__ == "__main__":
    found = measure(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
    if len(sys.argv) > 2:
        titles = ("Memory of one broker", "Processor time of a cluster, by partitions")
        Path(sys.argv[2]).write_text(draw(titles, _curves(*found)))
