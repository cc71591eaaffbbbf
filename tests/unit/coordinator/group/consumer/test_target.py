"""Targets."""

from dataclasses import replace

from moldau.config.broker.groups import GroupConfig
from moldau.coordinator.group.consumer.draft import Draft
from moldau.coordinator.group.consumer.group import ConsumerGroup
from moldau.coordinator.group.consumer.member import ConsumerMember
from moldau.coordinator.group.consumer.records import (
    EpochRecord,
    MemberRecord,
    TargetEpochRecord,
    TargetRecord,
    TopicsRecord,
)
from moldau.coordinator.group.consumer.target import (
    chosen_assignor,
    offered_assignors,
    retarget,
)
from moldau.coordinator.group.consumer.topics import ObservedTopic
from moldau.coordinator.group.offsets import Offsets
from unit.coordinator.group.consumer.samples import T, U

A = ConsumerMember(member_id="a", topic_names=("t", "x"))


def group_of(*members: ConsumerMember) -> ConsumerGroup:
    group = ConsumerGroup("g", Offsets())
    group.apply(TopicsRecord("g", {"t": ObservedTopic(T, 2), "u": ObservedTopic(U, 1)}))
    group.apply(EpochRecord("g", 5))
    for member in members:
        group.apply(MemberRecord("g", member.member_id, member))
    return group


def test_assignors_are_known_by_their_classes_and_by_short_names() -> None:
    assert offered_assignors(GroupConfig()) == ["uniform", "range"]
    config = GroupConfig(group_consumer_assignors=("range", "com.example.OtherAssignor"))
    assert offered_assignors(config) == ["range"]


def test_most_wishes_count() -> None:
    wishes = ["range", "uniform", "range", None]
    members = [replace(A, member_id=str(n), assignor=each) for n, each in enumerate(wishes)]
    assert chosen_assignor(group_of(*members), "uniform") == "range"
    assert chosen_assignor(group_of(members[3]), "uniform") == "uniform"
    foreign = replace(A, assignor="of another broker")
    assert chosen_assignor(group_of(foreign), "range") == "range"


def test_only_targets_that_change_are_written() -> None:
    group = group_of(A, replace(A, member_id="b"))
    group.apply(TargetRecord("g", "a", {T: (0,)}))
    draft = Draft(group)
    retarget(draft, "range")
    assert draft.records == [TargetRecord("g", "b", {T: (1,)}), TargetEpochRecord("g", 5)]
