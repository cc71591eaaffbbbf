"""Deals partitions out evenly while members keep what they have, as far as they can.

Used by the sticky assignor, whose members give everything back first, and by the cooperative
one, whose members keep what they have (KIP-429): there, a partition that goes to another member
is left out until its owner has given it back.
"""

from collections.abc import Mapping, Sequence

from moldau.client.group.member import Assignments, GroupParticipant
from moldau.model import TopicPartition


def assign_sticky(
    members: Sequence[GroupParticipant], partitions: Mapping[str, Sequence[int]]
) -> Assignments:
    """As even as can be, with as few moves as that takes."""
    return _Deal(members, partitions).result()


def assign_cooperative_sticky(
    members: Sequence[GroupParticipant], partitions: Mapping[str, Sequence[int]]
) -> Assignments:
    """The same, without what another member still has."""
    owners = {partition: member.member_id for member in members for partition in member.owned}
    return {
        member_id: [each for each in dealt if owners.get(each, member_id) == member_id]
        for member_id, dealt in assign_sticky(members, partitions).items()
    }


class _Deal:
    """One deal: what members may keep, then the rest, then moves from the rich to the poor."""

    def __init__(
        self, members: Sequence[GroupParticipant], partitions: Mapping[str, Sequence[int]]
    ) -> None:
        self._members = sorted(members, key=lambda member: member.order)
        self._partitions = partitions
        self._dealt: dict[str, list[TopicPartition]] = {
            member.member_id: [] for member in self._members
        }
        self._readers = {
            topic: [member.member_id for member in self._members if topic in member.topics]
            for topic in partitions
        }

    def result(self) -> Assignments:
        kept = self._keep()
        for topic in sorted(self._partitions):
            if not self._readers[topic]:
                continue
            for number in sorted(self._partitions[topic]):
                if TopicPartition(topic, number) not in kept:
                    self._dealt[self._poorest(topic)].append(TopicPartition(topic, number))
        while self._even_out():
            pass
        return self._dealt

    def _keep(self) -> set[TopicPartition]:
        """What members had before; of two that claim the same, the newer generation has it."""
        claims: dict[TopicPartition, list[GroupParticipant]] = {}
        for member in self._members:
            for partition in dict.fromkeys(member.owned):
                claims.setdefault(partition, []).append(member)
        kept: set[TopicPartition] = set()
        for partition, claimants in claims.items():
            newest = max(member.generation for member in claimants)
            believed = [member for member in claimants if member.generation == newest]
            is_there = partition.partition in self._partitions.get(partition.topic, ())
            if len(believed) == 1 and is_there and partition.topic in believed[0].topics:
                self._dealt[believed[0].member_id].append(partition)
                kept.add(partition)
        for dealt in self._dealt.values():
            dealt.sort()
        return kept

    def _even_out(self) -> bool:
        """Move partitions to members that have at least two fewer; whether any was moved."""
        has_moved = False
        for rich in sorted(self._dealt, key=lambda member_id: -len(self._dealt[member_id])):
            for partition in reversed(list(self._dealt[rich])):
                poor = self._poorest(partition.topic)
                if len(self._dealt[poor]) + 1 < len(self._dealt[rich]):
                    self._dealt[rich].remove(partition)
                    self._dealt[poor].append(partition)
                    has_moved = True
        return has_moved

    def _poorest(self, topic: str) -> str:
        return min(self._readers[topic], key=lambda member_id: len(self._dealt[member_id]))
