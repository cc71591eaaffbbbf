"""How a group gets from one generation to the next.

All members join again, or are left behind when the time is up; then the leader assigns. The
first rebalance of an empty group waits a little for more members, and each newcomer makes it
wait again, so that a fleet that starts together is assigned once.
"""

import logging

from moldau.coordinator.decision import Decision
from moldau.coordinator.group.attendance import Attendance
from moldau.coordinator.group.group import Group
from moldau.coordinator.group.member import Member
from moldau.coordinator.group.messages import JoinReply, SyncReply
from moldau.coordinator.group.records import GroupRecord, GroupsRecord
from moldau.coordinator.group.state import GroupState
from moldau.errors import ErrorCode
from moldau.protocol.messages.offsets_topic import GroupMetadataValue
from moldau.runtime.clock import Moment

_log = logging.getLogger(__name__)

Nothing = Decision[GroupsRecord, None]


class Rebalance:
    """Moves a group between its states."""

    __slots__ = ("_attendance", "_delay_left_ms", "_group", "_has_newcomer", "_is_first")

    def __init__(self, group: Group, attendance: Attendance) -> None:
        self._group = group
        self._attendance = attendance
        self._is_first = False
        # Of a first rebalance: how much longer it may wait, and whether a member came meanwhile.
        self._delay_left_ms = 0
        self._has_newcomer = False

    def note_newcomer(self) -> None:
        """A member that was not in the group joins; only a group's very first wait grows by it."""
        if self._group.state is GroupState.PREPARING_REBALANCE and self._group.generation == 0:
            self._has_newcomer = True

    def begin(self, *, now: Moment) -> None:
        """Have all members join again, unless that is under way."""
        group = self._group
        if group.state is GroupState.PREPARING_REBALANCE:
            return
        if group.state is GroupState.COMPLETING_REBALANCE:
            self._refuse_syncs(ErrorCode.REBALANCE_IN_PROGRESS, now=now)
        self._is_first = group.state is GroupState.EMPTY
        wait_ms = group.rebalance_timeout_ms
        if self._is_first:
            self._has_newcomer = False
            delay_ms = self._attendance.config.group_initial_rebalance_delay_ms
            self._delay_left_ms = max(wait_ms - delay_ms, 0)
            wait_ms = delay_ms
        group.enter(GroupState.PREPARING_REBALANCE, wall_ms=now.wall_ms)
        self._attendance.begin_phase(wait_ms, now=now)
        # These lines are Kafka's own words: operators search for them.
        _log.info(
            "Preparing to rebalance group %s in state %s with old generation %d",
            group.group_id,
            group.state.value,
            group.generation,
        )

    def complete_if_all_are_here(self, *, now: Moment) -> Nothing:
        """Begin the generation early if no member is missing; a first delay always lasts."""
        is_waiting = self._group.state is GroupState.PREPARING_REBALANCE
        if is_waiting and not self._is_first and self._group.have_all_joined:
            return self._complete(now=now)
        return Decision(None)

    def expire(self, *, now: Moment) -> Nothing:
        """The time of the group's phase is up."""
        match self._group.state:
            case GroupState.PREPARING_REBALANCE:
                if self._is_first and self._has_newcomer and self._delay_left_ms > 0:
                    return self._prolong(now=now)
                return self._complete(now=now)
            case GroupState.COMPLETING_REBALANCE | GroupState.STABLE:
                return self._expire_syncs(now=now)
            case _:
                return Decision(None)

    def joined(self, member: Member) -> JoinReply:
        """What a member of this generation is sent; the leader gets all members."""
        group = self._group
        return JoinReply(
            ErrorCode.NONE,
            member.member_id,
            group.generation,
            group.protocol_type,
            group.protocol_name,
            group.leader_id or "",
            group.joined_members() if group.is_leader(member.member_id) else (),
        )

    def assigned(self, member: Member) -> SyncReply:
        """The response with a member's assignment."""
        group = self._group
        return SyncReply(
            ErrorCode.NONE, group.protocol_type, group.protocol_name, member.assignment
        )

    def note_sync(self, member: Member) -> None:
        """A member asks for its assignment."""
        self._group.expected_syncs.pop(member.member_id, None)
        if not self._group.expected_syncs:
            self._attendance.end_phase()

    def apply(self, value: GroupMetadataValue, *, now: Moment) -> None:
        """The group was stored; if with new assignments, they are given out."""
        was_assigning = self._group.state is GroupState.COMPLETING_REBALANCE
        self._group.apply(value)
        if not was_assigning:
            return
        self._log_assignment()
        self._group.enter(self._group.state, wall_ms=now.wall_ms)
        for member in self._group.members.values():
            if member.sync is not None:
                self._attendance.answer_sync(member, self.assigned(member))
                self._attendance.begin_session(member, now=now)

    def refuse_assignment(self, error: ErrorCode, *, now: Moment) -> None:
        """The leader's assignment could not be stored: all members have to join again."""
        if self._group.state is GroupState.COMPLETING_REBALANCE:
            self._refuse_syncs(error, now=now)
            self.begin(now=now)

    def _prolong(self, *, now: Moment) -> Nothing:
        self._has_newcomer = False
        delay_ms = self._attendance.config.group_initial_rebalance_delay_ms
        delay_ms = min(delay_ms, self._delay_left_ms)
        self._delay_left_ms -= delay_ms
        self._attendance.begin_phase(delay_ms, now=now)
        return Decision(None)

    def _complete(self, *, now: Moment) -> Nothing:
        """Members that are not here are out, unless static; the others are the next generation."""
        group, attendance = self._group, self._attendance
        self._is_first = False
        for member in list(group.members.values()):
            if member.join is None and not member.is_static:
                group.remove(member.member_id)
                attendance.forget(member.member_id)
        if group.members and not group.elect_joined_leader():
            # Only static members, and none of them is back: their sessions decide.
            attendance.begin_phase(group.rebalance_timeout_ms, now=now)
            return Decision(None)
        group.begin_generation(wall_ms=now.wall_ms)
        if not group.members:
            attendance.end_phase()
            _log.info("Group %s with generation %d is now empty", group.group_id, group.generation)
            return Decision(None, [GroupRecord(group.group_id, group.stored({}))])
        _log.info(
            "Stabilized group %s generation %d with %d members",
            group.group_id,
            group.generation,
            len(group.members),
        )
        for member in group.members.values():
            attendance.answer_join(member, self.joined(member))
            attendance.begin_session(member, now=now)
            member.is_new = False
            group.expected_syncs[member.member_id] = None
        attendance.begin_phase(group.rebalance_timeout_ms, now=now)
        return Decision(None)

    def _log_assignment(self) -> None:
        group = self._group
        _log.info(
            "Assignment received from leader %s for group %s for generation %d. "
            "The group has %d members, %d of which are static.",
            group.leader_id,
            group.group_id,
            group.generation,
            len(group.members),
            len(group.static_ids),
        )

    def _expire_syncs(self, *, now: Moment) -> Nothing:
        """Members that joined but never asked for their assignment are out."""
        for member_id in list(self._group.expected_syncs):
            self._group.remove(member_id)
            self._attendance.forget(member_id)
        self.begin(now=now)
        return self.complete_if_all_are_here(now=now)

    def _refuse_syncs(self, error: ErrorCode, *, now: Moment) -> None:
        for member in self._group.members.values():
            member.assignment = b""
            if member.sync is not None:
                self._attendance.answer_sync(member, SyncReply(error))
                self._attendance.begin_session(member, now=now)
