"""A group: its members, and what they have agreed on.

Durable, rebuilt from the log: generation, protocol, leader, members and their assignments, as
of the last generation that was assigned or found the group empty; and the offsets. All else is
lost when another broker takes over: members then join again.
"""

from collections import Counter
from collections.abc import Iterator

from moldau.coordinator.group.compiled import Offsets
from moldau.coordinator.group.member import Member, Protocols
from moldau.coordinator.group.messages import (
    DescribedMember,
    GroupSummary,
    JoinedMember,
    MemberIdentity,
    Overview,
)
from moldau.coordinator.group.state import GroupState
from moldau.coordinator.group.subscription import CONSUMER, subscribed_topics
from moldau.errors import ErrorCode
from moldau.protocol.messages.offsets_topic import GroupMetadataValue, MemberMetadata


class Group:
    """The members of one group by id, in the order in which they came."""

    __slots__ = (
        "_supporters",
        "expected_syncs",
        "generation",
        "group_id",
        "leader_id",
        "members",
        "offsets",
        "pending_ids",
        "protocol_name",
        "protocol_type",
        "state",
        "state_timestamp",
        "static_ids",
        "subscribed",
    )

    def __init__(self, group_id: str, *, wall_ms: int, offsets: Offsets | None = None) -> None:
        self.group_id = group_id
        self.state = GroupState.EMPTY
        self.state_timestamp = wall_ms
        self.generation = 0
        self.protocol_type: str | None = None
        self.protocol_name: str | None = None
        self.leader_id: str | None = None
        self.members: dict[str, Member] = {}
        # Member ids by the instance ids of static members (KIP-345).
        self.static_ids: dict[str, str] = {}
        # Ids that were given out, to members that have not come back with them yet.
        self.pending_ids: dict[str, None] = {}
        # Members of this generation that have not asked for their assignment yet.
        self.expected_syncs: dict[str, None] = {}
        # Topics that the members consume; None if that is not known.
        self.subscribed: frozenset[str] | None = None
        self.offsets = Offsets() if offsets is None else offsets
        # How many members support each protocol.
        self._supporters: Counter[str] = Counter()

    def enter(self, state: GroupState, *, wall_ms: int) -> None:
        """Move to another state."""
        self.state = state
        self.state_timestamp = wall_ms

    # Members

    def add(self, member: Member, protocol_type: str) -> None:
        """Take in a member that fits; the first becomes leader."""
        if member.instance_id is not None:
            assert member.instance_id not in self.static_ids
            self.static_ids[member.instance_id] = member.member_id
        if not self.members:
            self.protocol_type = protocol_type
        if self.leader_id is None:
            self.leader_id = member.member_id
        self.members[member.member_id] = member
        self._supporters.update(_names(member.protocols))
        self.pending_ids.pop(member.member_id, None)

    def remove(self, member_id: str) -> None:
        """Let a member go, known or pending; the next one becomes leader."""
        member = self.members.pop(member_id, None)
        if member is not None:
            self._supporters.subtract(_names(member.protocols))
            if member.instance_id is not None:
                del self.static_ids[member.instance_id]
        if self.leader_id == member_id:
            self.leader_id = next(iter(self.members), None)
        self.pending_ids.pop(member_id, None)
        self.expected_syncs.pop(member_id, None)

    def rename(self, member: Member, new_id: str) -> None:
        """Give a static member another id, so that a client with the old one is fenced."""
        assert member.instance_id is not None
        old_id = member.member_id
        member.member_id = new_id
        self.members = {each.member_id: each for each in self.members.values()}
        self.static_ids[member.instance_id] = new_id
        if self.leader_id == old_id:
            self.leader_id = new_id
        if old_id in self.expected_syncs:
            del self.expected_syncs[old_id]
            self.expected_syncs[new_id] = None

    def set_protocols(self, member: Member, protocols: Protocols) -> None:
        """A member supports something else now."""
        self._supporters.subtract(_names(member.protocols))
        self._supporters.update(_names(protocols))
        member.protocols = protocols

    def fault_of(self, identity: MemberIdentity) -> ErrorCode | None:
        """Why this is not a member, if it is none."""
        if identity.instance_id is not None:
            current_id = self.static_ids.get(identity.instance_id)
            if current_id is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            if current_id != identity.member_id:
                return ErrorCode.FENCED_INSTANCE_ID
        if identity.member_id not in self.members:
            return ErrorCode.UNKNOWN_MEMBER_ID
        return None

    def is_leader(self, member_id: str) -> bool:
        return self.leader_id == member_id

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest that any member may need to come back."""
        return max((each.rebalance_timeout_ms for each in self.members.values()), default=0)

    @property
    def awaiting_join_count(self) -> int:
        return sum(each.join is not None for each in self.members.values())

    @property
    def have_all_joined(self) -> bool:
        return not self.pending_ids and all(each.join is not None for each in self.members.values())

    def elect_joined_leader(self) -> bool:
        """Let the leader be a member that has joined; False if there is none."""
        if self.leader_id is None:
            return False
        if self.members[self.leader_id].join is None:
            joined = (each.member_id for each in self.members.values() if each.join is not None)
            found = next(joined, None)
            if found is None:
                return False
            self.leader_id = found
        return True

    # Protocols

    def supports(self, protocol_type: str, protocols: Protocols) -> bool:
        """Whether a member with these protocols can be among the others."""
        if self.state is GroupState.EMPTY:
            return protocol_type != "" and len(protocols) > 0
        if protocol_type != self.protocol_type:
            return False
        return any(self._supporters[name] == len(self.members) for name, _ in protocols)

    def select_protocol(self) -> str:
        """What all support and most like best."""
        candidates = [
            name for name, count in self._supporters.items() if count == len(self.members)
        ]
        votes = Counter(each.vote(candidates) for each in self.members.values())
        return votes.most_common(1)[0][0]

    def begin_generation(self, *, wall_ms: int) -> None:
        """All members that are here belong to the next generation."""
        self.generation += 1
        self.expected_syncs = {}
        if self.members:
            self.protocol_name = self.select_protocol()
            self.enter(GroupState.COMPLETING_REBALANCE, wall_ms=wall_ms)
        else:
            self.protocol_name = None
            self.enter(GroupState.EMPTY, wall_ms=wall_ms)
        self._note_subscriptions()

    def is_subscribed(self, topic: str) -> bool:
        """Whether a member may consume a topic; any, if subscriptions are unknown."""
        return self.subscribed is None or topic in self.subscribed

    def _note_subscriptions(self) -> None:
        self.subscribed = None
        if self.protocol_type == CONSUMER:
            name = self.protocol_name
            metadata = [] if name is None else [m.metadata(name) for m in self.members.values()]
            self.subscribed = subscribed_topics(metadata)

    # What is stored and shown

    def stored(self, assignments: dict[str, bytes]) -> GroupMetadataValue:
        """The generation with these assignments, as a record's value."""
        name = self.protocol_name
        return GroupMetadataValue(
            protocol_type=self.protocol_type or "",
            generation=self.generation,
            protocol=name,
            leader=self.leader_id,
            current_state_timestamp=self.state_timestamp,
            members=[
                MemberMetadata(
                    member_id=each.member_id,
                    group_instance_id=each.instance_id,
                    client_id=each.client_id,
                    client_host=each.client_host,
                    rebalance_timeout=each.rebalance_timeout_ms,
                    session_timeout=each.session_timeout_ms,
                    subscription=b"" if name is None else each.metadata(name),
                    assignment=assignments.get(each.member_id, b""),
                )
                for each in self.members.values()
            ],
        )

    def apply(self, value: GroupMetadataValue) -> None:
        """Become what a record says; members that are here keep what is not in it."""
        known = self.members
        self.members, self.static_ids = {}, {}
        self._supporters.clear()
        self.generation = value.generation
        self.protocol_type = value.protocol_type or None
        self.protocol_name = value.protocol
        self.leader_id = value.leader
        for stored in value.members:
            member = known.get(stored.member_id) or _restored(stored, value.protocol)
            member.assignment = bytes(stored.assignment)
            self.add(member, value.protocol_type)
        self.state = GroupState.STABLE if self.members else GroupState.EMPTY
        self.state_timestamp = value.current_state_timestamp
        self._note_subscriptions()

    def joined_members(self) -> tuple[JoinedMember, ...]:
        """What the leader is sent about all members."""
        assert self.protocol_name is not None
        return tuple(
            JoinedMember(each.member_id, each.instance_id, each.metadata(self.protocol_name))
            for each in self.members.values()
        )

    def overview(self) -> Overview:
        """The group as lists show it."""
        return Overview(self.group_id, self.protocol_type or "", self.state.value)

    def describe(self) -> GroupSummary:
        """Metadata and assignments are shown only while they hold."""
        return GroupSummary(
            self.state.value,
            self.protocol_type or "",
            self.protocol_name or "" if self.state is GroupState.STABLE else "",
            tuple(self._described()),
        )

    def _described(self) -> Iterator[DescribedMember]:
        for each in self.members.values():
            shown = DescribedMember(
                each.member_id, each.instance_id, each.client_id, each.client_host
            )
            if self.state is GroupState.STABLE and self.protocol_name is not None:
                metadata = each.metadata(self.protocol_name)
                shown = shown._replace(metadata=metadata, assignment=each.assignment)
            yield shown


def _names(protocols: Protocols) -> list[str]:
    """Each name once, even if a client sent it twice."""
    return list(dict.fromkeys(name for name, _ in protocols))


def _restored(stored: MemberMetadata, protocol_name: str | None) -> Member:
    rebalance_timeout_ms = stored.rebalance_timeout
    if rebalance_timeout_ms == -1:  # before version 1 there was only one timeout
        rebalance_timeout_ms = stored.session_timeout
    return Member(
        member_id=stored.member_id,
        instance_id=stored.group_instance_id,
        client_id=stored.client_id,
        client_host=stored.client_host,
        session_timeout_ms=stored.session_timeout,
        rebalance_timeout_ms=rebalance_timeout_ms,
        protocols=((protocol_name or "", bytes(stored.subscription)),),
    )
