"""The members a group waits for, until when, and the requests that wait for the group."""

from collections.abc import Callable
from typing import NamedTuple

from moldau.config.broker.groups import GroupConfig
from moldau.coordinator.decision import PendingReply
from moldau.coordinator.group.consumer.pattern_topics import Resolve, resolve_at_once
from moldau.coordinator.group.member import Member
from moldau.coordinator.group.messages import JoinReply, SyncReply
from moldau.coordinator.timers import Timers
from moldau.metadata.image import ClusterImage
from moldau.runtime.clock import Moment

AnyPendingReply = PendingReply[JoinReply] | PendingReply[SyncReply]


class TimerKey(NamedTuple):
    """What a deadline is for: a member's session, or (without a member) the group's phase."""

    group_id: str
    member_id: str | None = None
    # Of the consumer protocol, where members are not waited for together.
    is_rebalance: bool = False


class Surroundings(NamedTuple):
    """What all groups of a shard share."""

    config: GroupConfig
    timers: Timers[TimerKey]
    # Parked replies that have become known; the machine's caller wakes their waiters.
    answered: list[AnyPendingReply]
    # The cluster as it is now.
    image: Callable[[], ClusterImage] = ClusterImage
    # What is known of patterns.
    resolve: Resolve = resolve_at_once


class Attendance:
    """The deadlines and the parked replies of one group."""

    __slots__ = ("_around", "_phase_key", "config")

    def __init__(self, group_id: str, around: Surroundings) -> None:
        self._around = around
        self._phase_key = TimerKey(group_id)
        self.config = around.config

    def expect(self, member_id: str, wait_ms: int, *, now: Moment) -> None:
        """A member is removed unless it sends a request within this time."""
        key = TimerKey(self._phase_key.group_id, member_id)
        self._around.timers.set(key, now.monotonic_ms + wait_ms)

    def begin_session(self, member: Member, *, now: Moment) -> None:
        """A member has sent a request."""
        self.expect(member.member_id, member.session_timeout_ms, now=now)

    def forget(self, member_id: str) -> None:
        """A member is not expected any more."""
        self._around.timers.cancel(TimerKey(self._phase_key.group_id, member_id))

    def begin_phase(self, wait_ms: int, *, now: Moment) -> None:
        """All members together have this time."""
        self._around.timers.set(self._phase_key, now.monotonic_ms + wait_ms)

    def end_phase(self) -> None:
        """There is nothing that all members together are waited for."""
        self._around.timers.cancel(self._phase_key)

    def answer_join(self, member: Member, reply: JoinReply) -> None:
        """Answer the member's join, if one is parked."""
        if member.join is not None:
            member.join.reply = reply
            self._around.answered.append(member.join)
            member.join = None

    def answer_sync(self, member: Member, reply: SyncReply) -> None:
        """Answer the member's sync, if one is parked; its session begins with the answer."""
        if member.sync is not None:
            member.sync.reply = reply
            self._around.answered.append(member.sync)
            member.sync = None
