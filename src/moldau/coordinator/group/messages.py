"""Requests of members and tools to a group, and responses: the wire's messages, unversioned."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from moldau.errors import ErrorCode
from moldau.model import TopicPartition

NO_MEMBER_ID = ""
NO_GENERATION = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupJoin:
    """A member wants into the next generation."""

    member_id: str = NO_MEMBER_ID
    instance_id: str | None = None
    # The member's id from now on, if it has none.
    new_member_id: str
    client_id: str = ""
    client_host: str = ""
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    protocols: tuple[tuple[str, bytes], ...]
    # KIP-394: newcomers get their id first, so that a retry does not make a second one.
    must_know_id: bool = False
    # KIP-814: the response can ask a leader to leave the assignment as it is.
    can_skip_assignment: bool = False


class JoinedMember(NamedTuple):
    """A member as the leader sees it."""

    member_id: str
    instance_id: str | None
    metadata: bytes


class JoinReply(NamedTuple):
    """The generation a member is in, or why it is in none."""

    error: ErrorCode
    member_id: str
    generation: int = NO_GENERATION
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader_id: str = ""
    members: tuple[JoinedMember, ...] = ()
    skip_assignment: bool = False


class MemberIdentity(NamedTuple):
    """The member that asks, and the generation it believes to be in."""

    member_id: str = NO_MEMBER_ID
    generation: int = NO_GENERATION
    instance_id: str | None = None
    knows_epochs: bool = True
    """Whether the request is of a version that members of the consumer protocol may use."""


NOBODY = MemberIdentity()
"""A client without a member id: a tool, or a consumer that assigns itself."""


class Sync(NamedTuple):
    """A member asks for its assignment; the leader brings those of all members."""

    identity: MemberIdentity
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignments: Mapping[str, bytes] = {}


class SyncReply(NamedTuple):
    """A member's assignment, or why there is none."""

    error: ErrorCode
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


_COMMITTED = tuple.__new__  # half of what calling the class takes: it is called for every offset


class Committed(NamedTuple):
    """An offset that a group has stored; `log_offset` is where in our own log."""

    offset: int
    leader_epoch: int = -1
    metadata: str = ""
    commit_timestamp: int = -1
    expire_timestamp: int = -1
    log_offset: int = -1

    def at(self, log_offset: int) -> "Committed":
        """The same, where it was written."""
        return _COMMITTED(Committed, (*self[:5], log_offset))


class FetchedOffset(NamedTuple):
    """The response for one partition."""

    error: ErrorCode = ErrorCode.NONE
    offset: int = -1
    leader_epoch: int = -1
    metadata: str = ""


class DescribedMember(NamedTuple):
    """A member as tools see it."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    metadata: bytes = b""
    assignment: bytes = b""


class GroupSummary(NamedTuple):
    """A group as tools see it."""

    state: str
    protocol_type: str = ""
    protocol_name: str = ""
    members: tuple[DescribedMember, ...] = ()


class Overview(NamedTuple):
    """A group as lists show it."""

    group_id: str
    protocol_type: str
    state: str
    group_type: str = "classic"


Partitions = tuple[TopicPartition, ...]
