"""Workloads that two brokers do in turns, and the table of what came out."""

import statistics
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bench.brokers import Contestant
from bench.measure import print_table

Figures = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Workload:
    """Something that both brokers do; the figures are what is compared."""

    name: str
    run: Callable[[Contestant, str], Figures]
    """Given a broker and a name that no other run has."""


class Row(NamedTuple):
    """One figure of both."""

    name: str
    apache: float
    moldau: float
    spread: float = 1.0
    """Of Apache against itself: the largest by the smallest."""


def take_turns(
    apache: Contestant, moldau: Contestant, workloads: Sequence[Workload], pairs: int
) -> list[Row]:
    """Run every workload on both, pair after pair; the medians."""
    figures: dict[str, dict[str, list[float]]] = {}
    for pair in range(pairs):
        # Who begins changes, since the second finds a warmer machine.
        order = (apache, moldau) if pair % 2 == 0 else (moldau, apache)
        for workload in workloads:
            for broker in order:
                topic = f"{workload.name}-{pair}".replace(" ", "-").replace(",", "")
                for figure, value in workload.run(broker, topic).items():
                    name = f"{workload.name}, {figure}"
                    figures.setdefault(name, {}).setdefault(broker.name, []).append(value)
        print(f"pair {pair + 1} of {pairs} done", file=sys.stderr, flush=True)
    return [
        Row(
            name,
            statistics.median(values["Apache"]),
            statistics.median(values["Moldau"]),
            max(values["Apache"]) / max(min(values["Apache"]), 1e-9),
        )
        for name, values in figures.items()
    ]


def medians(rows: Sequence[Row]) -> list[Row]:
    """One row for each name among the rows."""
    by_name: dict[str, list[Row]] = {}
    for row in rows:
        by_name.setdefault(row.name, []).append(row)
    return [
        Row(
            name,
            statistics.median(row.apache for row in same),
            statistics.median(row.moldau for row in same),
            max(row.apache for row in same) / min(row.apache for row in same),
        )
        for name, same in by_name.items()
    ]


def print_rows(title: str, rows: Iterable[Row]) -> None:
    """The table."""
    print_table(
        title,
        ("", "Apache 3.9", "Moldau", "ratio", "Apache's spread"),
        [
            (
                row.name,
                f"{row.apache:.4g}",
                f"{row.moldau:.4g}",
                f"{row.moldau / row.apache:.2f}",
                f"{row.spread:.2f}",
            )
            for row in rows
        ],
    )
