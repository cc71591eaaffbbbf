"""Sliding windows of one key, found from its records.

For a record at time t there is the window that ends with it, `[t - difference, t]`, and, if
anything is in it, the one that begins after it, `[t + 1, t + 1 + difference]`; both ends are
within. No window begins before the time 0.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from moldau.streams.functions import Folding


class Sample(NamedTuple):
    """A record that may still be in a window that comes."""

    millis: int
    value: object


class Span(NamedTuple):
    """A window and what is in it."""

    start_ms: int
    end_ms: int
    samples: tuple[Sample, ...]


def spans(samples: Iterable[Sample], difference_ms: int) -> dict[int, Span]:
    """All windows of records, which are given as they came, by their beginnings."""
    known = tuple(samples)
    starts = {max(0, each.millis - difference_ms) for each in known}
    starts |= {each.millis + 1 for each in known}
    found = {}
    for start_ms in sorted(starts):
        end_ms = start_ms + difference_ms
        within = tuple(each for each in known if start_ms <= each.millis <= end_ms)
        if within:
            found[start_ms] = Span(start_ms, end_ms, within)
    return found


def changed(before: dict[int, Span], after: dict[int, Span]) -> Iterator[Span]:
    """Windows that are new or have another content."""
    for start_ms, span in after.items():
        if before.get(start_ms) != span:
            yield span


def aggregate(folding: Folding, key: object, samples: Iterable[Sample]) -> object:
    """The records of a window, folded as they came."""
    waiting = iter(samples)
    so_far = next(waiting).value if folding.initial is None else folding.initial()
    for each in waiting:
        so_far = folding.add(key, each.value, so_far)
    return so_far
