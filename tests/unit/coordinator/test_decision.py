"""Decisions and parked replies."""

from moldau.coordinator.decision import Decision, PendingReply
from moldau.records.batch import NO_PRODUCER


def test_a_decision_writes_nothing_unless_it_says_so() -> None:
    decision: Decision[str, str] = Decision("reply")
    assert list(decision.records) == []
    assert decision.producer == NO_PRODUCER
    assert decision.guard is None


def test_every_parked_reply_is_a_key_of_its_own() -> None:
    first: PendingReply[str] = PendingReply()
    second: PendingReply[str] = PendingReply()
    assert first.reply is None
    assert len({first, second}) == 2
