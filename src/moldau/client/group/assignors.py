"""How the leader of a group deals partitions out to its members."""

from collections.abc import Mapping, Sequence

from moldau.client.group.member import Assign, Assignments, GroupParticipant
from moldau.client.group.sticky import assign_cooperative_sticky, assign_sticky
from moldau.config.values import invalid
from moldau.model import TopicPartition

STICKY = "sticky"
COOPERATIVE = "cooperative-sticky"


def assign_range(
    members: Sequence[GroupParticipant], partitions: Mapping[str, Sequence[int]]
) -> Assignments:
    """Topic by topic a range for each, the first ones one more if it does not divide."""
    assigned: Assignments = {member.member_id: [] for member in members}
    for topic in sorted(partitions):
        readers = sorted(
            (member for member in members if topic in member.topics),
            key=lambda member: member.order,
        )
        start = 0
        for index, reader in enumerate(readers):
            share, rest = divmod(len(partitions[topic]), len(readers))
            end = start + share + (index < rest)
            part = sorted(partitions[topic])[start:end]
            assigned[reader.member_id] += [TopicPartition(topic, each) for each in part]
            start = end
    return assigned


def assign_round_robin(
    members: Sequence[GroupParticipant], partitions: Mapping[str, Sequence[int]]
) -> Assignments:
    """All partitions of all topics in turn, each to the next member that reads its topic."""
    assigned: Assignments = {member.member_id: [] for member in members}
    in_order = sorted(members, key=lambda member: member.order)
    turn = 0
    for topic in sorted(partitions):
        if not any(topic in member.topics for member in members):
            continue
        for partition in sorted(partitions[topic]):
            while topic not in in_order[turn % len(in_order)].topics:
                turn += 1
            reader = in_order[turn % len(in_order)]
            assigned[reader.member_id].append(TopicPartition(topic, partition))
            turn += 1
    return assigned


ASSIGNORS: dict[str, Assign] = {
    "range": assign_range,
    "roundrobin": assign_round_robin,
    STICKY: assign_sticky,
    COOPERATIVE: assign_cooperative_sticky,
}

# The classes of Java's clients, which configurations may name.
_JAVA_NAMES = {
    f"org.apache.kafka.clients.consumer.{java}": name
    for java, name in (
        ("RangeAssignor", "range"),
        ("RoundRobinAssignor", "roundrobin"),
        ("StickyAssignor", STICKY),
        ("CooperativeStickyAssignor", COOPERATIVE),
    )
}


def assignors_of(names: str) -> dict[str, Assign]:
    """The assignors in a list with commas, most wanted first; InvalidConfig if one is unknown."""
    chosen: dict[str, Assign] = {}
    for part in names.split(","):
        name = _JAVA_NAMES.get(part.strip(), part.strip())
        if name not in ASSIGNORS:
            allowed = f"of {', '.join(ASSIGNORS)}, with commas between"
            raise invalid("partition.assignment.strategy", name, allowed)
        chosen[name] = ASSIGNORS[name]
    return chosen
