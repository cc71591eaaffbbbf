"""Which offsets a batch reads, and how they are divided among tasks."""

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from moldau.model import TopicPartition
from moldau.spark.offsets import Offsets


class Range(NamedTuple):
    """Offsets `[start, end)` of one partition, which one task reads."""

    partition: TopicPartition
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start


def limited(
    start: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int], offset_count: int
) -> Offsets:
    """Ends that lie at most `offset_count` after the starts in all, each partition by its share.

    Every partition that has something gets on by at least one.
    """
    sizes = {each: max(0, end[each] - start.get(each, end[each])) for each in end}
    total = sum(sizes.values())
    if total <= offset_count:
        return dict(end)
    found = {}
    for each, size in sizes.items():
        share = max(1, size * offset_count // total) if size else 0
        found[each] = end[each] - size + min(size, share)
    return found


def ranges(start: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int]) -> list[Range]:
    """What has to be read of each partition."""
    return [
        Range(each, start[each], end[each])
        for each in sorted(end)
        if start.get(each, end[each]) < end[each]
    ]


def divided(whole: list[Range], partitions_min: int | None) -> list[Range]:
    """The same offsets in at least so many ranges where that is possible."""
    total = sum(each.size for each in whole)
    if partitions_min is None or len(whole) >= partitions_min or not total:
        return whole
    found = []
    for each in whole:
        count = max(1, min(each.size, round(partitions_min * each.size / total)))
        cuts = [each.start + each.size * number // count for number in range(count + 1)]
        found += [Range(each.partition, first, last) for first, last in pairwise(cuts)]
    return found


def shared(found: list[Range], partitions_max: int | None) -> list[tuple[Range, ...]]:
    """Ranges by task: each has its own, or at most so many tasks share them about evenly.

    A task costs some ten milliseconds whatever it reads, so more than there are cores cost more.
    """
    if partitions_max is None or len(found) <= partitions_max:
        return [(each,) for each in found]
    tasks: list[list[Range]] = [[] for _ in range(partitions_max)]
    sizes = [0] * partitions_max
    for each in sorted(found, key=lambda one: one.size, reverse=True):
        least = sizes.index(min(sizes))
        tasks[least].append(each)
        sizes[least] += each.size
    return [tuple(sorted(task)) for task in tasks]
