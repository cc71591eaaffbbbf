"""A group becomes what its records say."""

from dataclasses import replace

from moldau.coordinator.group.consumer.group import ConsumerGroup, member_tombstones
from moldau.coordinator.group.consumer.member import ConsumerMember, MemberState
from moldau.coordinator.group.consumer.records import (
    ConsumerRecord,
    CurrentRecord,
    EpochRecord,
    MemberRecord,
    PatternRecord,
    TargetEpochRecord,
    TargetRecord,
    TopicsRecord,
)
from moldau.coordinator.group.consumer.stored import ResolvedPattern
from moldau.coordinator.group.consumer.topics import ObservedTopic
from moldau.coordinator.group.offsets import Offsets
from unit.coordinator.group.consumer.samples import T

A = ConsumerMember(member_id="a", instance_id="one", topic_names=("t",))
MOVED = replace(A, epoch=1, assigned={T: (0,)}, revoking={T: (1,)})


def group_of(*records: ConsumerRecord) -> ConsumerGroup:
    group = ConsumerGroup("g", Offsets())
    for record in records:
        group.apply(record)
    return group


def full_group() -> ConsumerGroup:
    return group_of(
        MemberRecord("g", "a", A),
        PatternRecord("g", "u.*", ResolvedPattern(("u1",))),
        TopicsRecord("g", {"t": ObservedTopic(T, 2)}),
        EpochRecord("g", 1),
        TargetRecord("g", "a", {T: (0,)}),
        TargetEpochRecord("g", 1),
        CurrentRecord("g", "a", MOVED),
    )


def test_the_two_records_of_a_member_come_in_any_order() -> None:
    one = group_of(MemberRecord("g", "a", A), CurrentRecord("g", "a", MOVED))
    other = group_of(CurrentRecord("g", "a", MOVED), MemberRecord("g", "a", A))
    assert one.members == other.members == {"a": MOVED}
    assert one.static_member("one") == other.static_member("one") == MOVED


def test_what_a_member_has_or_still_has_is_not_free() -> None:
    group = full_group()
    assert not group.is_free(T, 0)
    assert not group.is_free(T, 1)
    assert group.is_free(T, 2)
    group.apply(CurrentRecord("g", "a", replace(MOVED, revoking={})))
    assert group.is_free(T, 1)
    group.apply(CurrentRecord("g", "a", None))
    assert group.is_free(T, 0)


def test_nobody_gives_back_what_another_has_got() -> None:
    group = full_group()
    group.apply(CurrentRecord("g", "b", ConsumerMember(member_id="b", assigned={T: (0,)})))
    group.apply(MemberRecord("g", "a", None))
    assert not group.is_free(T, 0)
    assert group.is_free(T, 1)


def test_states_follow_epochs() -> None:
    group = full_group()
    states = [group.state]
    group.apply(CurrentRecord("g", "a", replace(MOVED, state=MemberState.UNREVOKED)))
    states.append(group.state)
    group.apply(EpochRecord("g", 2))
    states.append(group.state)
    for record in member_tombstones("g", "a"):
        group.apply(record)
    assert [state.value for state in states] == ["Stable", "Reconciling", "Assigning"]
    assert group.overview() == ("g", "consumer", "Empty", "consumer")


def test_a_copy_lives_on_its_own() -> None:
    group = full_group()
    copy = group.copy()
    for record in group.tombstones():
        copy.apply(record)
    assert (copy.epoch, copy.assignment_epoch, copy.members, copy.targets) == (0, 0, {}, {})
    assert (copy.topics, copy.patterns, copy.static_ids) == ({}, {}, {})
    assert copy.is_free(T, 0)
    assert (group.epoch, list(group.members), group.target("a")) == (1, ["a"], {T: (0,)})
    assert not group.is_free(T, 0)


def test_tombstones_of_what_is_not_there_change_nothing() -> None:
    group = ConsumerGroup("g", Offsets())
    for record in (*member_tombstones("g", "x"), PatternRecord("g", "p", None)):
        group.apply(record)
    assert (group.members, group.target("x")) == ({}, {})


def test_another_may_have_taken_the_place_of_a_static_member() -> None:
    group = full_group()
    group.apply(MemberRecord("g", "b", replace(A, member_id="b")))
    group.apply(MemberRecord("g", "a", None))
    assert group.static_ids == {"one": "b"}
    group.apply(MemberRecord("g", "b", replace(A, member_id="b", instance_id=None)))
    assert group.static_member("one") is None


def test_topics_are_subscribed_to_by_name_and_by_pattern() -> None:
    group = full_group()
    group.apply(MemberRecord("g", "b", ConsumerMember(member_id="b", topic_pattern="u.*")))
    assert group.subscribed == ["t", "u1"]
    assert group.is_subscribed("u1")
    assert not group.is_subscribed("v")
