"""A member of a group, as the one that deals partitions out sees it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from moldau.model import TopicPartition

Assignments = dict[str, list[TopicPartition]]


@dataclass(frozen=True, slots=True)
class GroupParticipant:
    """A member, and what it subscribes to. Static members keep their place by their name."""

    member_id: str
    topics: Sequence[str]
    instance_id: str | None = None
    owned: Sequence[TopicPartition] = ()
    """What it had in its last generation, if it says so."""
    generation: int = -1

    @property
    def order(self) -> tuple[bool, str]:
        """Where the member stands among the others, as in Java."""
        return self.instance_id is None, self.instance_id or self.member_id


Assign = Callable[[Sequence[GroupParticipant], Mapping[str, Sequence[int]]], Assignments]
"""Members and the partitions of topics; every member has an entry in what comes back."""
