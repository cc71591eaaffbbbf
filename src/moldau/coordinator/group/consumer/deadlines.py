"""Until when the members of a group have to send a request."""

from moldau.coordinator.group.attendance import Surroundings, TimerKey
from moldau.coordinator.group.consumer.member import ConsumerMember
from moldau.runtime.clock import Moment


class MemberDeadlines:
    """Every member has a session, and at times a deadline for its part of a rebalance."""

    __slots__ = ("_around", "_group_id")

    def __init__(self, group_id: str, around: Surroundings) -> None:
        self._group_id = group_id
        self._around = around

    def begin_session(self, member: ConsumerMember, *, now: Moment) -> None:
        """A member has sent a request."""
        timeout_ms = self._around.config.group_consumer_session_timeout_ms
        if member.classic is not None:
            timeout_ms = member.classic.session_timeout_ms
        self._around.timers.set(self._session(member.member_id), now.monotonic_ms + timeout_ms)

    def ensure_session(self, member: ConsumerMember, *, now: Moment) -> None:
        """A member is there; its session begins, unless it has begun already."""
        if self._around.timers.deadline_ms(self._session(member.member_id)) is None:
            self.begin_session(member, now=now)

    def begin_rebalance(self, member: ConsumerMember, *, now: Moment) -> None:
        """A member has its rebalance timeout to give up partitions, or to join or sync."""
        deadline_ms = now.monotonic_ms + member.rebalance_timeout_ms
        self._around.timers.set(self._rebalance(member.member_id), deadline_ms)

    def ensure_rebalance(self, member: ConsumerMember, *, now: Moment) -> None:
        """The same, unless the time runs already."""
        if self._around.timers.deadline_ms(self._rebalance(member.member_id)) is None:
            self.begin_rebalance(member, now=now)

    def end_rebalance(self, member_id: str) -> None:
        """A member has done its part."""
        self._around.timers.cancel(self._rebalance(member_id))

    def forget(self, member_id: str) -> None:
        """A member is not expected any more."""
        self._around.timers.cancel(self._session(member_id))
        self.end_rebalance(member_id)

    def _session(self, member_id: str) -> TimerKey:
        return TimerKey(self._group_id, member_id)

    def _rebalance(self, member_id: str) -> TimerKey:
        return TimerKey(self._group_id, member_id, is_rebalance=True)
