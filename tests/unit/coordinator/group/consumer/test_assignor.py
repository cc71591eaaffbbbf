"""What assignors are asked."""

from moldau.coordinator.group.consumer.assignor import MemberCandidate, in_order, subscribers
from unit.coordinator.group.consumer.samples import T, U

A = MemberCandidate("a", None, (T,), {})
B = MemberCandidate("b", "two", (T, U), {})
C = MemberCandidate("c", "one", (), {})


def test_static_members_come_first() -> None:
    assert in_order([A, B, C]) == [C, B, A]


def test_topics_have_their_subscribers() -> None:
    assert subscribers([A, B, C]) == {T: [A, B], U: [B]}
