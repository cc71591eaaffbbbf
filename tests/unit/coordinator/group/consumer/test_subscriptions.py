"""Looking at the cluster."""

from moldau.coordinator.group.consumer.draft import Draft
from moldau.coordinator.group.consumer.group import ConsumerGroup
from moldau.coordinator.group.consumer.member import ConsumerMember
from moldau.coordinator.group.consumer.pattern_topics import resolve_at_once
from moldau.coordinator.group.consumer.records import (
    EpochRecord,
    MemberRecord,
    PatternRecord,
    TopicsRecord,
)
from moldau.coordinator.group.consumer.stored import ResolvedPattern
from moldau.coordinator.group.consumer.subscriptions import refresh
from moldau.coordinator.group.consumer.topics import ObservedTopic
from moldau.coordinator.group.offsets import Offsets
from unit.coordinator.group.consumer.samples import T, U, image


def draft_of(member: ConsumerMember) -> Draft:
    group = ConsumerGroup("g", Offsets())
    group.apply(MemberRecord("g", member.member_id, member))
    return Draft(group)


def test_a_change_of_topics_moves_the_epoch_once() -> None:
    draft = draft_of(ConsumerMember(member_id="a", topic_names=("t",)))
    refresh(draft, image(t=2, u=1), resolve_at_once, is_changed=False, wall_ms=0)
    assert draft.records == [TopicsRecord("g", {"t": ObservedTopic(T, 2)}), EpochRecord("g", 1)]
    again = Draft(draft.group)
    refresh(again, image(t=2), resolve_at_once, is_changed=False, wall_ms=0)
    assert again.records == []
    refresh(again, image(t=2), resolve_at_once, is_changed=True, wall_ms=0)
    assert again.records == [EpochRecord("g", 2)]
    refresh(again, image(), resolve_at_once, is_changed=False, wall_ms=0)
    assert again.records[1:] == [TopicsRecord("g", {}), EpochRecord("g", 3)]


def test_patterns_stand_for_the_topics_that_there_are() -> None:
    draft = draft_of(ConsumerMember(member_id="a", topic_pattern="[tu]"))
    refresh(draft, image(u=1, v=1), resolve_at_once, is_changed=False, wall_ms=7)
    assert draft.records == [
        PatternRecord("g", "[tu]", ResolvedPattern(("u",), 7)),
        TopicsRecord("g", {"u": ObservedTopic(U, 1)}),
        EpochRecord("g", 1),
    ]
    refresh(draft, image(t=1, u=1), resolve_at_once, is_changed=False, wall_ms=9)
    assert draft.records[3] == PatternRecord("g", "[tu]", ResolvedPattern(("t", "u"), 9))
    again = Draft(draft.group)
    refresh(again, image(t=1, u=1), resolve_at_once, is_changed=False, wall_ms=9)
    assert again.records == []
    later = Draft(draft.group)
    later.add(MemberRecord("g", "a", None))
    refresh(later, image(t=1, u=1), resolve_at_once, is_changed=True, wall_ms=9)
    assert later.records[1:] == [
        PatternRecord("g", "[tu]", None),
        TopicsRecord("g", {}),
        EpochRecord("g", 3),
    ]


def test_a_pattern_that_is_not_resolved_yet_stands_for_what_it_stood_for() -> None:
    draft = draft_of(ConsumerMember(member_id="a", topic_pattern="[tu]"))
    assert not refresh(draft, image(t=1), lambda *_: None, is_changed=False, wall_ms=0)
    assert draft.records == []
    assert refresh(draft, image(t=1), resolve_at_once, is_changed=False, wall_ms=0)
    again = Draft(draft.group)
    assert not refresh(again, image(t=1, u=1), lambda *_: None, is_changed=False, wall_ms=0)
    assert again.records == []


def test_a_pattern_that_nobody_uses_is_forgotten_without_a_new_epoch() -> None:
    draft = draft_of(ConsumerMember(member_id="a"))
    draft.add(PatternRecord("g", "[tu]", ResolvedPattern((), 7)))
    refresh(draft, image(t=1), resolve_at_once, is_changed=False, wall_ms=9)
    assert draft.records[1:] == [PatternRecord("g", "[tu]", None)]
