"""Who may store offsets."""

from dataclasses import replace

from moldau.config.broker.groups import GroupConfig
from moldau.coordinator.group.consumer.commits import (
    commit_fault,
    delete,
    fetch_fault,
    forget,
    forget_expired,
)
from moldau.coordinator.group.consumer.group import ConsumerGroup
from moldau.coordinator.group.consumer.member import ConsumerMember
from moldau.coordinator.group.consumer.records import CurrentRecord, EpochRecord, MemberRecord
from moldau.coordinator.group.messages import NOBODY, Committed, MemberIdentity
from moldau.coordinator.group.offsets import Offsets
from moldau.coordinator.group.records import OffsetRecord
from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from unit.coordinator.group.consumer.samples import classic

A = ConsumerMember(member_id="a", topic_names=("t",), epoch=3)
T0, U0 = TopicPartition("t", 0), TopicPartition("u", 0)
CONFIG = GroupConfig(offsets_retention_minutes=1)


def group_of(*members: ConsumerMember) -> ConsumerGroup:
    group = ConsumerGroup("g", Offsets())
    group.apply(EpochRecord("g", 3))
    for member in members:
        group.apply(MemberRecord("g", member.member_id, member))
        group.apply(CurrentRecord("g", member.member_id, member))
    group.offsets.committed |= {T0: Committed(1), U0: Committed(2)}
    return group


def fault(group: ConsumerGroup, identity: MemberIdentity) -> ErrorCode | None:
    return commit_fault(group, identity, is_transactional=False)


def test_members_commit_in_their_epoch() -> None:
    group = group_of(A, replace(classic("b"), epoch=3))
    assert fault(group, MemberIdentity("a", 3)) is None
    assert fault(group, MemberIdentity("a", 2)) is ErrorCode.STALE_MEMBER_EPOCH
    assert fault(group, MemberIdentity("b", 2)) is ErrorCode.ILLEGAL_GENERATION
    assert fault(group, MemberIdentity("x", 3)) is ErrorCode.UNKNOWN_MEMBER_ID


def test_members_need_a_version_that_knows_epochs() -> None:
    group = group_of(A, replace(classic("b"), epoch=3))
    old = MemberIdentity("a", 3, knows_epochs=False)
    assert fault(group, old) is ErrorCode.UNSUPPORTED_VERSION
    assert commit_fault(group, old, is_transactional=True) is None
    assert fault(group, MemberIdentity("b", 3, knows_epochs=False)) is None


def test_others_commit_while_there_are_no_members() -> None:
    assert fault(group_of(), NOBODY) is None
    assert fault(group_of(), MemberIdentity("a", 0)) is ErrorCode.UNKNOWN_MEMBER_ID
    assert fault(group_of(A), NOBODY) is ErrorCode.UNKNOWN_MEMBER_ID


def test_old_transactional_producers_do_not_say_who_they_are() -> None:
    group = group_of(A)
    assert commit_fault(group, NOBODY, is_transactional=True) is None
    stale = commit_fault(group, MemberIdentity("a", 1), is_transactional=True)
    assert stale is ErrorCode.ILLEGAL_GENERATION


def test_members_ask_in_their_epoch_and_tools_at_any_time() -> None:
    group = group_of(A)
    assert fetch_fault(group, NOBODY) is None
    assert fetch_fault(group, MemberIdentity("a", 3)) is None
    assert fetch_fault(group, MemberIdentity("a", 4)) is ErrorCode.STALE_MEMBER_EPOCH
    for unknown in (MemberIdentity("x", 3), MemberIdentity("x"), MemberIdentity("", 0)):
        assert fetch_fault(group, unknown) is ErrorCode.UNKNOWN_MEMBER_ID


def test_offsets_of_subscribed_topics_are_not_deleted() -> None:
    decision = delete(group_of(A), [T0, U0])
    assert decision.reply == {
        T0: ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,
        U0: ErrorCode.NONE,
    }
    assert list(decision.records) == [OffsetRecord("g", U0, None)]
    assert forget(group_of(), [TopicPartition("x", 0)]) == []


def test_offsets_expire_unless_their_topic_is_subscribed_to() -> None:
    assert forget_expired(group_of(A), CONFIG, wall_ms=60_000) == [OffsetRecord("g", U0, None)]


def test_a_group_with_members_does_not_end_with_its_offsets() -> None:
    group = group_of(replace(A, topic_names=()))
    expired = [OffsetRecord("g", each, None) for each in (T0, U0)]
    assert forget_expired(group, CONFIG, wall_ms=60_000) == expired


def test_a_group_without_members_ends_with_its_offsets() -> None:
    group = group_of()
    records = forget_expired(group, CONFIG, wall_ms=60_000)
    assert records[:2] == [OffsetRecord("g", T0, None), OffsetRecord("g", U0, None)]
    assert records[2:] == group.tombstones()
    assert forget_expired(group, CONFIG, wall_ms=0) == []
    group.offsets.open[7] = {}
    assert len(forget_expired(group, CONFIG, wall_ms=60_000)) == 2
