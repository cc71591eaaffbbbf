"""Deadlines of members."""

from moldau.coordinator.group.attendance import TimerKey
from moldau.coordinator.group.consumer.deadlines import MemberDeadlines
from moldau.coordinator.group.consumer.member import ConsumerMember
from moldau.runtime.clock import Moment
from unit.coordinator.group.consumer.samples import NOW, World, classic

A = ConsumerMember(member_id="a", rebalance_timeout_ms=300)
SESSION = TimerKey("g", "a")
REBALANCE = TimerKey("g", "a", is_rebalance=True)
LATER = Moment(NOW.monotonic_ms + 100, 0)


def test_sessions_last_as_long_as_is_set_or_as_a_classic_member_wants() -> None:
    around = World(group_consumer_session_timeout_ms=500).around
    deadlines = MemberDeadlines("g", around)
    deadlines.begin_session(A, now=NOW)
    assert around.timers.deadline_ms(SESSION) == NOW.monotonic_ms + 500
    deadlines.begin_session(classic("a"), now=NOW)
    assert around.timers.deadline_ms(SESSION) == NOW.monotonic_ms + 10_000


def test_a_deadline_that_runs_is_not_put_off_by_ensuring_it() -> None:
    around = World(group_consumer_session_timeout_ms=500).around
    deadlines = MemberDeadlines("g", around)
    for now in (NOW, LATER):
        deadlines.ensure_session(A, now=now)
        deadlines.ensure_rebalance(A, now=now)
    assert around.timers.deadline_ms(SESSION) == NOW.monotonic_ms + 500
    assert around.timers.deadline_ms(REBALANCE) == NOW.monotonic_ms + 300
    deadlines.begin_rebalance(A, now=LATER)
    assert around.timers.deadline_ms(REBALANCE) == LATER.monotonic_ms + 300


def test_who_has_done_its_part_still_has_a_session() -> None:
    around = World().around
    deadlines = MemberDeadlines("g", around)
    deadlines.begin_session(A, now=NOW)
    deadlines.begin_rebalance(A, now=NOW)
    deadlines.end_rebalance("a")
    assert around.timers.deadline_ms(REBALANCE) is None
    assert around.timers.deadline_ms(SESSION) is not None
    deadlines.forget("a")
    assert len(around.timers) == 0
