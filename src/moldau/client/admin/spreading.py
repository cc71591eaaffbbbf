"""Where partitions should be, so that replicas, leaders and bytes are spread evenly: a machine.

What is there already stays where it can: the same cluster gives the same plan, and a cluster that
is even gives none. So a run that was cut off is gone on with by planning again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from moldau.model import TopicPartition

Assignments = Mapping[TopicPartition, Sequence[int]]
_SWAPS_MAX = 1_000
_EVEN_SHARE = 0.1
"""Brokers whose bytes differ by less than this share of the average are even."""


class Load(NamedTuple):
    """What a broker has."""

    replicas: int
    leaders: int
    size_bytes: int


@dataclass(slots=True)
class Spreading:
    """Moves one replica after the other, until there is nothing to gain."""

    brokers: Sequence[int]
    """Who is to have replicas; all others are emptied."""
    racks: Mapping[int, str | None]
    sizes: Mapping[TopicPartition, int]
    _plan: dict[TopicPartition, list[int]] = field(default_factory=dict)

    def plan(self, current: Assignments) -> dict[TopicPartition, list[int]]:
        """The partitions whose replicas should be others, or in another order."""
        self._plan = {each: list(current[each]) for each in sorted(current)}
        self._empty_others()
        self._even_counts()
        self._even_sizes()
        self._even_leaders()
        return {each: found for each, found in self._plan.items() if found != list(current[each])}

    def _empty_others(self) -> None:
        for partition, replicas in self._plan.items():
            for broker in [each for each in replicas if each not in self.brokers]:
                free = [each for each in self._by_load() if self._may_have(each, partition, broker)]
                if free:
                    replicas[replicas.index(broker)] = free[0]

    def _even_counts(self) -> None:
        while True:
            order = self._by_load()
            counts = {each: load.replicas for each, load in self._loads().items()}
            pairs = [
                (full, empty)
                for full in reversed(order)
                for empty in order
                if counts[full] - counts[empty] > 1
            ]
            if not any(self._move_one(*pair) for pair in pairs):
                return

    def _move_one(self, full: int, empty: int) -> bool:
        loads = self._loads()
        wanted = (loads[full].size_bytes - loads[empty].size_bytes) // 2
        movable = [
            each
            for each, replicas in self._plan.items()
            if full in replicas and self._may_have(empty, each, full)
        ]
        if not movable:
            return False
        best = min(movable, key=lambda each: (abs(wanted - self.sizes.get(each, 0)), each))
        self._replace(best, full, empty)
        return True

    def _even_sizes(self) -> None:
        for _ in range(_SWAPS_MAX):
            loads = self._loads()
            order = sorted(self.brokers, key=lambda each: (loads[each].size_bytes, each))
            light, heavy = order[0], order[-1]
            gap = loads[heavy].size_bytes - loads[light].size_bytes
            average = sum(load.size_bytes for load in loads.values()) / len(order)
            if gap <= average * _EVEN_SHARE or not self._swap(heavy, light, gap):
                return

    def _swap(self, heavy: int, light: int, gap: int) -> bool:
        """Exchange a large replica for a small one, if both are nearer to each other then."""
        there = self._movable(heavy, light)
        here = self._movable(light, heavy)
        found = [
            (abs(gap // 2 - gained), large, small)
            for large in there
            for small in here
            if 0 < (gained := self.sizes.get(large, 0) - self.sizes.get(small, 0)) < gap
        ]
        if not found:
            return False
        _, large, small = min(found)
        self._replace(large, heavy, light)
        self._replace(small, light, heavy)
        return True

    def _movable(self, source: int, target: int) -> list[TopicPartition]:
        """The largest and the smallest that may move: more would take too long to compare."""
        found = [
            each
            for each, replicas in self._plan.items()
            if source in replicas and self._may_have(target, each, source)
        ]
        found.sort(key=lambda each: (self.sizes.get(each, 0), each))
        return found if len(found) <= 200 else [*found[:100], *found[-100:]]

    def _even_leaders(self) -> None:
        leaders = dict.fromkeys(self.brokers, 0)
        for replicas in self._plan.values():
            if replicas and replicas[0] in leaders:
                leaders[replicas[0]] += 1
        has_changed = True
        while has_changed:
            has_changed = False
            for replicas in self._plan.values():
                known = [each for each in replicas if each in leaders]
                if not known or replicas[0] not in leaders:
                    continue
                least = min(known, key=lambda each: (leaders[each], each))
                if leaders[replicas[0]] - leaders[least] > 1:
                    leaders[replicas[0]] -= 1
                    leaders[least] += 1
                    replicas.remove(least)
                    replicas.insert(0, least)
                    has_changed = True

    def _may_have(self, broker: int, partition: TopicPartition, instead_of: int) -> bool:
        """Whether a broker may take a replica: it has none, nor has another of its rack."""
        replicas = self._plan[partition]
        if broker in replicas:
            return False
        rack = self.racks.get(broker)
        others = {self.racks.get(each) for each in replicas if each != instead_of}
        return rack is None or rack not in others or rack == self.racks.get(instead_of)

    def _replace(self, partition: TopicPartition, old: int, new: int) -> None:
        replicas = self._plan[partition]
        replicas[replicas.index(old)] = new

    def _by_load(self) -> list[int]:
        loads = self._loads()
        return sorted(self.brokers, key=lambda e: (loads[e].replicas, loads[e].size_bytes, e))

    def _loads(self) -> dict[int, Load]:
        return loads(self._plan, self.sizes, self.brokers)


def loads(
    plan: Assignments, sizes: Mapping[TopicPartition, int], brokers: Iterable[int]
) -> dict[int, Load]:
    """What these brokers have by a plan."""
    found = dict.fromkeys(brokers, Load(0, 0, 0))
    for partition, replicas in plan.items():
        for at, broker in enumerate(replicas):
            if broker in found:
                count, leaders, size = found[broker]
                size += sizes.get(partition, 0)
                found[broker] = Load(count + 1, leaders + (at == 0), size)
    return found
