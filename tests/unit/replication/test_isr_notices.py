"""When the controller hears of changed in-sync sets."""

from moldau.model import TopicPartition
from moldau.replication.isr_notices import LATEST_MS, QUIET_MS, IsrNotices

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def test_changes_are_told_together_after_a_quiet_time() -> None:
    notices = IsrNotices(now_ms=0)
    notices.note(T0, now_ms=100)
    notices.note(T1, now_ms=QUIET_MS)
    assert notices.due(now_ms=2 * QUIET_MS) == []
    assert notices.due(now_ms=2 * QUIET_MS + 1) == [T0, T1]


def test_changes_without_an_end_are_sent_nevertheless() -> None:
    notices = IsrNotices(now_ms=0)
    notices.note(T0, now_ms=LATEST_MS)
    assert notices.due(now_ms=LATEST_MS + 1) == [T0]


def test_what_was_sent_is_not_sent_again() -> None:
    notices = IsrNotices(now_ms=0)
    notices.note(T0, now_ms=0)
    sent = notices.due(now_ms=QUIET_MS + 1)
    notices.note(T1, now_ms=QUIET_MS + 1)
    notices.sent(sent, now_ms=QUIET_MS + 1)
    assert notices.due(now_ms=2 * QUIET_MS + 2) == [T1]
