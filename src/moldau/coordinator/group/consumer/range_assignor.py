"""Each topic in runs of neighbours, the same for topics with as many partitions and members.

So members that subscribe to the same topics get the same numbers of each, and can join them.
"""

from collections.abc import Sequence

from moldau.coordinator.group.consumer.assignment import Assignment, assignment_of
from moldau.coordinator.group.consumer.assignor import (
    MemberCandidate,
    PartitionCounts,
    in_order,
    subscribers,
)


def assign(candidates: Sequence[MemberCandidate], counts: PartitionCounts) -> dict[str, Assignment]:
    """A target for every candidate."""
    runs: dict[str, list[tuple[bytes, range]]] = {each.member_id: [] for each in candidates}
    for topic_id, members in subscribers(in_order(candidates)).items():
        least, extra = divmod(counts[topic_id], len(members))
        start = 0
        for index, member in enumerate(members):
            end = start + least + (index < extra)
            runs[member.member_id].append((topic_id, range(start, end)))
            start = end
    return {member_id: assignment_of(each) for member_id, each in runs.items()}
