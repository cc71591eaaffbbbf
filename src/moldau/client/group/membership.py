"""A consumer's membership in its group, and what an error of the coordinator means for that.

A member is *outside* (no generation), *joining*, or *in* a generation. Only `joined` leads in;
errors lead back, with the member id if the coordinator still knows it.
"""

from collections.abc import Mapping, Sequence
from enum import Enum, auto

from moldau.client.group.member import Assign, Assignments, GroupParticipant
from moldau.errors import ErrorCode
from moldau.protocol.messages.join_group import JoinGroupResponse

NO_GENERATION = -1
NO_MEMBER = ""


class Remedy(Enum):
    """What to do about an error."""

    REJOIN = auto()  # the group goes on to another generation
    FIND_COORDINATOR = auto()  # another broker coordinates the group
    WAIT = auto()  # the same again, a little later
    GIVE_UP = auto()  # the user must get the error


_FORGOTTEN = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION)
_ELSEWHERE = (
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NETWORK_EXCEPTION,
    ErrorCode.REQUEST_TIMED_OUT,
)


class Membership:
    """One member of one group."""

    def __init__(self, group_id: str, assignors: Mapping[str, Assign]) -> None:
        self.group_id = group_id
        self.member_id = NO_MEMBER
        self.generation = NO_GENERATION
        self.last_generation = NO_GENERATION
        """The newest that it was in, also when it is not in one now."""
        self.protocol = ""
        self._assignors = assignors

    @property
    def is_in_generation(self) -> bool:
        return self.generation != NO_GENERATION

    def take_member_id(self, member_id: str) -> None:
        """The coordinator gave a name to join with (KIP-394)."""
        self.member_id = member_id

    def joined(self, answer: JoinGroupResponse) -> bool:
        """Enter a generation; returns whether this member leads it and deals partitions out."""
        self.member_id = answer.member_id
        self.generation = self.last_generation = answer.generation_id
        self.protocol = answer.protocol_name or ""
        return answer.leader == answer.member_id and not answer.skip_assignment

    def deal_out(
        self, members: Sequence[GroupParticipant], partitions: Mapping[str, Sequence[int]]
    ) -> Assignments:
        """As the leader, by the way that all members know."""
        return self._assignors[self.protocol](members, partitions)

    def leave(self) -> None:
        """Be outside, as if never joined."""
        self.member_id = NO_MEMBER
        self.generation = NO_GENERATION

    def remedy(self, code: ErrorCode) -> Remedy:
        """What an error asks for; afterwards the member is no more than the error leaves it."""
        if code in _FORGOTTEN:
            self.generation = NO_GENERATION
            if code is ErrorCode.UNKNOWN_MEMBER_ID:
                self.member_id = NO_MEMBER
            return Remedy.REJOIN
        if code in (ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.MEMBER_ID_REQUIRED):
            return Remedy.REJOIN
        if code in _ELSEWHERE:
            return Remedy.FIND_COORDINATOR
        return Remedy.WAIT if code.is_retriable else Remedy.GIVE_UP
