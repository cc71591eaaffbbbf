"""As many partitions to every member as to every other, with as few as possible moving."""

from collections.abc import Iterable, Mapping, Sequence

from moldau.coordinator.group.consumer.assignment import (
    Assignment,
    assignment_of,
    partitions_of,
)
from moldau.coordinator.group.consumer.assignor import (
    MemberCandidate,
    PartitionCounts,
    in_order,
    subscribers,
)

Partition = tuple[bytes, int]
Held = dict[str, dict[Partition, None]]
"""By member, what it is to have; in order."""


def assign(candidates: Sequence[MemberCandidate], counts: PartitionCounts) -> dict[str, Assignment]:
    """A target for every candidate."""
    members = in_order(candidates)
    held = _kept(members, counts)
    by_topic = subscribers(members)
    taken = {partition for partitions in held.values() for partition in partitions}
    free = [
        (topic_id, number)
        # Topics that few can have come first: their members take less of the others then.
        for topic_id in sorted(by_topic, key=lambda each: (len(by_topic[each]), each))
        for number in range(counts[topic_id])
        if (topic_id, number) not in taken
    ]
    is_homogeneous = len({member.topic_ids for member in members}) <= 1
    if is_homogeneous:
        _level(held, free)
    else:
        _hand_out(held, free, by_topic)
        _balance(held, by_topic)
    return {
        member_id: assignment_of((topic_id, (number,)) for topic_id, number in partitions)
        for member_id, partitions in held.items()
    }


def _kept(members: Iterable[MemberCandidate], counts: PartitionCounts) -> Held:
    """What every member had before, as far as it exists and is still subscribed to."""
    held: Held = {}
    taken: set[Partition] = set()
    for member in members:
        kept = held[member.member_id] = {}
        for partition in partitions_of(member.previous):
            topic_id, number = partition
            is_there = topic_id in member.topic_ids and number < counts[topic_id]
            if is_there and partition not in taken:
                kept[partition] = None
                taken.add(partition)
    return held


def _level(held: Held, free: list[Partition]) -> None:
    """When all may have everything: a member above its share gives, one below gets."""
    total = len(free) + sum(map(len, held.values()))
    least, extra = divmod(total, len(held)) if held else (0, 0)
    # Members that have the most already keep one more than others, if that is to be.
    by_load = sorted(held, key=lambda member_id: -len(held[member_id]))
    shares = {member_id: least + (index < extra) for index, member_id in enumerate(by_load)}
    for member_id, partitions in held.items():
        while len(partitions) > shares[member_id]:
            free.append(partitions.popitem()[0])
    for member_id, partitions in held.items():
        missing = shares[member_id] - len(partitions)
        partitions.update(dict.fromkeys(free[:missing]))
        del free[:missing]


def _hand_out(
    held: Held, free: Iterable[Partition], by_topic: Mapping[bytes, list[MemberCandidate]]
) -> None:
    """Each to the member that has the least of those that may have it."""
    for topic_id, number in free:
        least = min(by_topic[topic_id], key=lambda each: len(held[each.member_id]))
        held[least.member_id][topic_id, number] = None


def _balance(held: Held, by_topic: Mapping[bytes, list[MemberCandidate]]) -> None:
    """Move partitions to a member that has at least two less, as long as there is one.

    Every move brings two members closer together, so this ends.
    """
    has_moved = True
    while has_moved:
        has_moved = False
        for member_id in sorted(held, key=lambda each: -len(held[each])):
            partitions = held[member_id]
            for partition in list(reversed(partitions)):
                members = by_topic[partition[0]]
                least = min(members, key=lambda each: len(held[each.member_id])).member_id
                if len(held[least]) + 1 < len(partitions):
                    del partitions[partition]
                    held[least][partition] = None
                    has_moved = True
