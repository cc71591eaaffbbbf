"""Deadlines of one group among many, and answers that are reported."""

from moldau.coordinator.decision import PendingReply
from moldau.coordinator.group.attendance import Attendance, TimerKey
from moldau.coordinator.group.messages import JoinReply, SyncReply
from moldau.errors import ErrorCode
from moldau.runtime.clock import Moment
from unit.coordinator.group.samples import NOW, member, surroundings


def test_a_session_begins_anew_when_a_member_is_heard_of() -> None:
    around = surroundings()
    attendance = Attendance("g", around)
    attendance.begin_session(member("a"), now=NOW)
    attendance.begin_session(member("a"), now=Moment(NOW.monotonic_ms + 5, 0))
    assert around.timers.next_deadline_ms() == NOW.monotonic_ms + 5 + 10_000
    attendance.forget("a")
    assert around.timers.next_deadline_ms() is None


def test_groups_have_deadlines_of_their_own() -> None:
    around = surroundings()
    one, other = Attendance("g", around), Attendance("h", around)
    one.begin_phase(5, now=NOW)
    other.begin_phase(6, now=NOW)
    other.expect("a", 7, now=NOW)
    one.end_phase()
    due = around.timers.take_due(now_ms=NOW.monotonic_ms + 7)
    assert due == [TimerKey("h"), TimerKey("h", "a")]


def test_an_answer_is_given_once_and_reported() -> None:
    around = surroundings()
    attendance = Attendance("g", around)
    one = member("a")
    join: PendingReply[JoinReply] = PendingReply()
    sync: PendingReply[SyncReply] = PendingReply()
    one.join, one.sync = join, sync
    for _ in range(2):
        attendance.answer_join(one, JoinReply(ErrorCode.NONE, "a"))
        attendance.answer_sync(one, SyncReply(ErrorCode.NONE))
    assert around.answered == [join, sync]
    assert not one.is_parked
    assert join.reply == JoinReply(ErrorCode.NONE, "a")
