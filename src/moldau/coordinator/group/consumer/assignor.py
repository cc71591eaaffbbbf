"""The assignors that a group can choose from, and what they are asked."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from moldau.coordinator.group.consumer.assignment import Assignment


class MemberCandidate(NamedTuple):
    """A member that is to be assigned partitions."""

    member_id: str
    instance_id: str | None
    topic_ids: tuple[bytes, ...]
    previous: Assignment
    """What it was to have until now."""


PartitionCounts = Mapping[bytes, int]
Assign = Callable[[Sequence[MemberCandidate], PartitionCounts], dict[str, Assignment]]


def in_order(candidates: Iterable[MemberCandidate]) -> list[MemberCandidate]:
    """Static members first: others cannot push them from their place by coming and going."""
    return sorted(
        candidates,
        key=lambda each: (each.instance_id is None, each.instance_id or "", each.member_id),
    )


def subscribers(candidates: Iterable[MemberCandidate]) -> dict[bytes, list[MemberCandidate]]:
    """By topic, the members that subscribe to it."""
    found: dict[bytes, list[MemberCandidate]] = {}
    for each in candidates:
        for topic_id in each.topic_ids:
            found.setdefault(topic_id, []).append(each)
    return found
