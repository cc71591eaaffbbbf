"""One group, as its members and tools move it: joining, assigning, living, leaving.

Rules and their order are those of Kafka 3.9. A join is parked until its generation
begins, a sync until the leader's assignment is stored; both are always answered in the end:
with the outcome, with an error when the member is removed or replaced, or when this broker
stops being the coordinator.
"""

import logging
from collections.abc import Iterable

from moldau.coordinator.decision import Decision, PendingReply
from moldau.coordinator.group.attendance import Attendance, Surroundings, TimerKey
from moldau.coordinator.group.group import Group
from moldau.coordinator.group.member import Member
from moldau.coordinator.group.messages import (
    NO_MEMBER_ID,
    GroupJoin,
    JoinReply,
    MemberIdentity,
    Sync,
    SyncReply,
)
from moldau.coordinator.group.rebalance import Nothing, Rebalance
from moldau.coordinator.group.records import GroupRecord, GroupsRecord
from moldau.coordinator.group.state import GroupState
from moldau.errors import ErrorCode
from moldau.runtime.clock import Moment

_log = logging.getLogger(__name__)

NEW_MEMBER_JOIN_TIMEOUT_MS = 300_000
"""Newcomers have no session: one that went away while parked is removed after this time."""

JoinDecision = Decision[GroupsRecord, JoinReply | PendingReply[JoinReply]]
SyncDecision = Decision[GroupsRecord, SyncReply | PendingReply[SyncReply]]


class GroupMachine:
    """Takes what members ask; see `GroupState` for the states."""

    __slots__ = ("_attendance", "group", "rebalance")

    def __init__(self, group: Group, around: Surroundings) -> None:
        self.group = group
        self._attendance = Attendance(group.group_id, around)
        self.rebalance = Rebalance(group, self._attendance)

    # Joining

    def join(self, join: GroupJoin, *, now: Moment) -> JoinDecision:
        """A member joins, or joins again."""
        decision = self._join(join, now=now)
        completed = self.rebalance.complete_if_all_are_here(now=now)
        decision.records = [*decision.records, *completed.records]
        return decision

    def _join(self, join: GroupJoin, *, now: Moment) -> JoinDecision:
        group = self.group
        if not self._has_room_for(join.member_id):
            group.remove(join.member_id)
            self._attendance.forget(join.member_id)
            return Decision(JoinReply(ErrorCode.GROUP_MAX_SIZE_REACHED, NO_MEMBER_ID))
        if not group.supports(join.protocol_type, join.protocols):
            return Decision(JoinReply(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, join.member_id))
        if join.member_id in group.pending_ids:
            return Decision(self._add(join, join.member_id, now=now))
        if join.member_id != NO_MEMBER_ID:
            return Decision(self._join_again(join, now=now))
        if join.instance_id in group.static_ids:
            member = group.members[group.static_ids[join.instance_id]]
            return self._replace_static(member, join, now=now)
        if join.must_know_id and join.instance_id is None:
            group.pending_ids[join.new_member_id] = None
            self._attendance.expect(join.new_member_id, join.session_timeout_ms, now=now)
            return Decision(JoinReply(ErrorCode.MEMBER_ID_REQUIRED, join.new_member_id))
        return Decision(self._add(join, join.new_member_id, now=now))

    def _has_room_for(self, member_id: str) -> bool:
        group, size_max = self.group, self._attendance.config.group_max_size
        if group.state is GroupState.EMPTY or len(group.members) < size_max:
            return True
        member = group.members.get(member_id)
        if group.state is GroupState.PREPARING_REBALANCE:
            # The last to rejoin is turned away, should the limit have been lowered.
            is_waiting = member is not None and member.join is not None
            return is_waiting or group.awaiting_join_count < size_max
        return member is not None

    def _add(self, join: GroupJoin, member_id: str, *, now: Moment) -> PendingReply[JoinReply]:
        self.rebalance.note_newcomer()
        parked: PendingReply[JoinReply] = PendingReply()
        member = Member(
            member_id=member_id,
            instance_id=join.instance_id,
            client_id=join.client_id,
            client_host=join.client_host,
            session_timeout_ms=join.session_timeout_ms,
            rebalance_timeout_ms=join.rebalance_timeout_ms,
            protocols=join.protocols,
            is_new=True,
            join=parked,
        )
        self.group.add(member, join.protocol_type)
        self._attendance.expect(member_id, NEW_MEMBER_JOIN_TIMEOUT_MS, now=now)
        self.rebalance.begin(now=now)
        return parked

    def _join_again(self, join: GroupJoin, *, now: Moment) -> JoinReply | PendingReply[JoinReply]:
        group = self.group
        error = group.fault_of(MemberIdentity(join.member_id, instance_id=join.instance_id))
        if error is not None:
            return JoinReply(error, join.member_id)
        member = group.members[join.member_id]
        # It may have missed the response, and only want it again. A leader that joins
        # while nothing is under way wants to assign anew.
        is_repeated = group.state is GroupState.COMPLETING_REBALANCE or (
            group.state is GroupState.STABLE and not group.is_leader(member.member_id)
        )
        if is_repeated and member.protocols == join.protocols:
            return self.rebalance.joined(member)
        parked = self._update(member, join)
        self.rebalance.begin(now=now)
        return parked

    def _update(self, member: Member, join: GroupJoin) -> PendingReply[JoinReply]:
        repeated = JoinReply(ErrorCode.REBALANCE_IN_PROGRESS, member.member_id)
        self._attendance.answer_join(member, repeated)
        parked = member.join = PendingReply()
        self.group.set_protocols(member, join.protocols)
        member.session_timeout_ms = join.session_timeout_ms
        member.rebalance_timeout_ms = join.rebalance_timeout_ms
        return parked

    def _replace_static(self, member: Member, join: GroupJoin, *, now: Moment) -> JoinDecision:
        """A static member is back without its id: it gets another, and the old one is fenced."""
        group = self.group
        old_leader_id = group.leader_id or ""
        self._refuse(member, ErrorCode.FENCED_INSTANCE_ID)
        self._attendance.forget(member.member_id)
        group.rename(member, join.new_member_id)
        parked = self._update(member, join)
        self._attendance.begin_session(member, now=now)
        if group.state is not GroupState.STABLE or group.select_protocol() != group.protocol_name:
            self.rebalance.begin(now=now)
            return Decision(parked)
        # Its partitions wait for it, and no other member has to know.
        member.join = None
        assignments = {each.member_id: each.assignment for each in group.members.values()}
        reply = self.rebalance.joined(member)
        if not join.can_skip_assignment:
            # Not knowing itself as leader, it does not assign what no member would take.
            reply = reply._replace(leader_id=old_leader_id, members=())
        elif group.is_leader(member.member_id):
            reply = reply._replace(skip_assignment=True)
        return Decision(reply, [GroupRecord(group.group_id, group.stored(assignments))])

    # Assigning

    def sync(self, sync: Sync, *, now: Moment) -> SyncDecision:
        """A member asks for its assignment; the leader brings those of all members."""
        group = self.group
        error = self._sync_fault(sync)
        if error is not None:
            return Decision(SyncReply(error))
        if group.state is GroupState.PREPARING_REBALANCE:
            return Decision(SyncReply(ErrorCode.REBALANCE_IN_PROGRESS))
        member = group.members[sync.identity.member_id]
        self.rebalance.note_sync(member)
        if group.state is GroupState.STABLE:
            self._attendance.begin_session(member, now=now)
            return Decision(self.rebalance.assigned(member))
        assert group.state is GroupState.COMPLETING_REBALANCE
        self._attendance.answer_sync(member, SyncReply(ErrorCode.REBALANCE_IN_PROGRESS))
        parked = member.sync = PendingReply()
        if not group.is_leader(member.member_id):
            return Decision(parked)
        value = group.stored({key: bytes(each) for key, each in sync.assignments.items()})
        return Decision(parked, [GroupRecord(group.group_id, value)])

    def _sync_fault(self, sync: Sync) -> ErrorCode | None:
        group = self.group
        error = group.fault_of(sync.identity)
        if error is not None:
            return error
        if sync.identity.generation != group.generation:
            return ErrorCode.ILLEGAL_GENERATION
        is_of_group = sync.protocol_type in (None, group.protocol_type)
        if not is_of_group or sync.protocol_name not in (None, group.protocol_name):
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        return None

    # Living and leaving

    def heartbeat(self, identity: MemberIdentity, *, now: Moment) -> ErrorCode:
        """A member is alive; the error says if it has to join again."""
        group = self.group
        error = group.fault_of(identity)
        if error is not None:
            return error
        if identity.generation != group.generation:
            return ErrorCode.ILLEGAL_GENERATION
        self.note_alive(identity.member_id, now=now)
        if group.state is GroupState.PREPARING_REBALANCE:
            return ErrorCode.REBALANCE_IN_PROGRESS
        return ErrorCode.NONE

    def note_alive(self, member_id: str, *, now: Moment) -> None:
        """A member has sent a request."""
        self._attendance.begin_session(self.group.members[member_id], now=now)

    def note_commit(self, member_id: str, *, now: Moment) -> None:
        """Offsets were stored; if by a member, then it is alive."""
        if member_id in self.group.members:
            self.note_alive(member_id, now=now)

    def leave(
        self, leaving: Iterable[MemberIdentity], *, now: Moment
    ) -> Decision[GroupsRecord, list[ErrorCode]]:
        """Members go, or an administrator sends them away by their instance ids."""
        errors: list[ErrorCode] = []
        records: list[GroupsRecord] = []
        for identity in leaving:
            member_id, error = self._find_leaving(identity)
            errors.append(error)
            if error is ErrorCode.NONE:
                records += self._remove(member_id, now=now).records
        return Decision(errors, records)

    def _find_leaving(self, identity: MemberIdentity) -> tuple[str, ErrorCode]:
        group = self.group
        if identity.member_id == NO_MEMBER_ID:
            current_id = group.static_ids.get(identity.instance_id or "")
            if current_id is None:
                return NO_MEMBER_ID, ErrorCode.UNKNOWN_MEMBER_ID
            return current_id, ErrorCode.NONE
        if identity.member_id in group.pending_ids:
            return identity.member_id, ErrorCode.NONE
        return identity.member_id, group.fault_of(identity) or ErrorCode.NONE

    def _remove(self, member_id: str, *, now: Moment) -> Nothing:
        group = self.group
        member = group.members.get(member_id)
        if member is not None:
            self._attendance.answer_join(
                member, JoinReply(ErrorCode.UNKNOWN_MEMBER_ID, NO_MEMBER_ID)
            )
            self._attendance.answer_sync(member, SyncReply(ErrorCode.UNKNOWN_MEMBER_ID))
        group.remove(member_id)
        self._attendance.forget(member_id)
        if member is not None and group.state is not GroupState.EMPTY:
            self.rebalance.begin(now=now)
        return self.rebalance.complete_if_all_are_here(now=now)

    def _refuse(self, member: Member, error: ErrorCode) -> None:
        self._attendance.answer_join(member, JoinReply(error, member.member_id))
        self._attendance.answer_sync(member, SyncReply(error))

    # Time

    def begin_sessions(self, *, now: Moment) -> None:
        """The group was loaded: its members have their session timeout to come forward."""
        if len(self.group.members) > self._attendance.config.group_max_size:
            self.rebalance.begin(now=now)
        for member in self.group.members.values():
            self._attendance.begin_session(member, now=now)

    def expire(self, key: TimerKey, *, now: Moment) -> Nothing:
        """A deadline has come."""
        if key.member_id is None:
            return self.rebalance.expire(now=now)
        member = self.group.members.get(key.member_id)
        if member is not None and member.is_parked and not member.is_new:
            return Decision(None)  # it is waiting for us: its session begins with the answer
        if member is not None:
            _log.info(
                "Member %s in group %s has failed, removing it from the group",
                key.member_id,
                self.group.group_id,
            )
        return self._remove(key.member_id, now=now)

    def refuse_all(self, error: ErrorCode) -> None:
        """Answer all parked requests."""
        for member in self.group.members.values():
            self._refuse(member, error)

    def unload(self) -> None:
        """Another broker coordinates the group now."""
        self.refuse_all(ErrorCode.NOT_COORDINATOR)
        self.group.state = GroupState.DEAD
