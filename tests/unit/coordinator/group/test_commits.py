"""Who may store, ask for and forget offsets."""

import pytest

from moldau.config.broker.groups import GroupConfig
from moldau.coordinator.group import commits
from moldau.coordinator.group.consumer.group import ConsumerGroup
from moldau.coordinator.group.group import Group
from moldau.coordinator.group.messages import Committed, FetchedOffset, MemberIdentity
from moldau.coordinator.group.offsets import Offsets
from moldau.coordinator.group.records import GroupRecord, OffsetRecord
from moldau.coordinator.group.state import GroupState
from moldau.errors import ErrorCode, KafkaError
from moldau.model import NO_PRODUCER_ID, TopicPartition
from unit.coordinator.group.samples import stable_machine, surroundings

T, U = TopicPartition("t", 0), TopicPartition("u", 0)
MINUTE = 60_000
CONFIG = GroupConfig(offsets_retention_minutes=1)


def group_with(*partitions: TopicPartition) -> Group:
    group = stable_machine(surroundings()).group
    for each in partitions:
        group.offsets.apply(each, Committed(1, commit_timestamp=0), NO_PRODUCER_ID)
    return group


@pytest.mark.parametrize(
    ("identity", "is_transactional", "expected"),
    [
        (MemberIdentity("a", 1), False, None),
        (MemberIdentity("a", 0), False, ErrorCode.ILLEGAL_GENERATION),
        (MemberIdentity("b", 1), False, ErrorCode.UNKNOWN_MEMBER_ID),
        (MemberIdentity("a", 1, "i"), True, ErrorCode.UNKNOWN_MEMBER_ID),
        (MemberIdentity(), False, ErrorCode.UNKNOWN_MEMBER_ID),
        (MemberIdentity(), True, None),
    ],
)
def test_members_commit_in_their_generation(
    identity: MemberIdentity, is_transactional: bool, expected: ErrorCode | None
) -> None:
    group = group_with()
    fault = commits.commit_fault(group, identity, is_transactional=is_transactional)
    assert fault is expected


def test_a_commit_before_the_assignment_comes_too_early() -> None:
    group = group_with()
    group.state = GroupState.COMPLETING_REBALANCE
    fault = commits.commit_fault(group, MemberIdentity("a", 1), is_transactional=False)
    assert fault is ErrorCode.REBALANCE_IN_PROGRESS
    assert commits.commit_fault(group, MemberIdentity("a", 1), is_transactional=True) is None
    fault = commits.commit_fault(group, MemberIdentity("b", 1), is_transactional=False)
    assert fault is ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(("metadata", "is_refused"), [("x" * 9, True), ("😀" * 4, False)])
def test_too_much_metadata_is_refused_alone(metadata: str, is_refused: bool) -> None:
    config = GroupConfig(offset_metadata_max_bytes=8)
    offsets = {T: Committed(1, metadata=metadata), U: Committed(2)}
    decision = commits.commit(group_with(), offsets, config)
    expected = ErrorCode.OFFSET_METADATA_TOO_LARGE if is_refused else ErrorCode.NONE
    assert decision.reply == {T: expected, U: ErrorCode.NONE}
    assert len(decision.records) == 2 - is_refused


def test_a_group_that_is_not_there_has_no_offsets() -> None:
    assert commits.fetch(None, None, require_stable=False) == {}
    assert commits.fetch(None, [T], require_stable=False)[T].offset == -1


def test_offsets_of_others_than_consumers_stay_while_there_are_members() -> None:
    group = group_with(T)
    group.protocol_type = "connect"
    with pytest.raises(KafkaError) as raised:
        commits.delete(group, [T])
    assert raised.value.code is ErrorCode.NON_EMPTY_GROUP


def test_the_last_offset_takes_an_empty_group_with_it() -> None:
    group = group_with(T, U)
    group.state = GroupState.EMPTY
    assert commits.forget(group, [T, T]) == [OffsetRecord("g", T, None)]
    assert commits.forget(group, [T, U])[-1] == GroupRecord("g", None)
    group.offsets.apply(T, Committed(2), 7)
    assert len(commits.forget(group, [T, U])) == 2, "an open transaction keeps it"


def test_a_simple_group_has_no_tombstone_of_its_own() -> None:
    group = Group("g", wall_ms=0)
    group.offsets.apply(T, Committed(1), NO_PRODUCER_ID)
    assert commits.forget(group, [T]) == [OffsetRecord("g", T, None)]


def test_only_unsubscribed_topics_of_a_stable_group_expire() -> None:
    group = group_with(T, U)
    assert commits.forget_expired(group, CONFIG, wall_ms=MINUTE) == [OffsetRecord("g", U, None)]
    group.subscribed = None
    assert commits.forget_expired(group, CONFIG, wall_ms=MINUTE) == []
    group.state = GroupState.PREPARING_REBALANCE
    assert commits.forget_expired(group, CONFIG, wall_ms=MINUTE) == []


def test_without_a_time_of_its_state_an_empty_group_goes_by_its_commits() -> None:
    group = group_with(T)
    group.state, group.state_timestamp = GroupState.EMPTY, 30_000
    assert commits.forget_expired(group, CONFIG, wall_ms=MINUTE) == []
    group.state_timestamp = -1
    assert len(commits.forget_expired(group, CONFIG, wall_ms=MINUTE)) == 2


def test_offsets_of_a_group_that_rebalances_do_not_expire() -> None:
    group = group_with(T, U)
    group.state = GroupState.PREPARING_REBALANCE
    assert commits.forget_expired(group, CONFIG, wall_ms=MINUTE) == []


def test_offsets_of_others_than_consumers_do_not_expire_while_there_are_members() -> None:
    group = group_with(T, U)
    group.protocol_type = "connect"
    assert commits.forget_expired(group, CONFIG, wall_ms=MINUTE) == []


def test_offsets_are_deleted_unless_a_member_consumes_the_topic() -> None:
    group = group_with(T, U)
    used = {T: ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC, U: ErrorCode.NONE}
    assert commits.delete(group, [T, U]).reply == used
    group.state = GroupState.EMPTY
    assert commits.delete(group, [T, U]).reply == dict.fromkeys([T, U], ErrorCode.NONE)


def test_a_group_with_members_outlives_its_last_offset() -> None:
    assert commits.forget(group_with(T), [T]) == [OffsetRecord("g", T, None)]


def test_a_tool_commits_while_there_are_no_members() -> None:
    group = Group("g", wall_ms=0)
    for identity in (MemberIdentity(), MemberIdentity("tool")):
        assert commits.commit_fault(group, identity, is_transactional=False) is None
    fault = commits.commit_fault(group, MemberIdentity("a", 1), is_transactional=False)
    assert fault is ErrorCode.UNKNOWN_MEMBER_ID


def test_offsets_are_fetched_by_name_or_all_that_there_are() -> None:
    group = group_with(T)
    stored = FetchedOffset(ErrorCode.NONE, 1)
    assert commits.fetch(group, [T, U], require_stable=True) == {T: stored, U: FetchedOffset()}
    assert commits.fetch(group, None, require_stable=True) == {T: stored}


def test_an_offset_in_an_open_transaction_is_not_stable() -> None:
    group = group_with(T)
    group.offsets.apply(T, Committed(2), 7)
    unstable = FetchedOffset(ErrorCode.UNSTABLE_OFFSET_COMMIT)
    assert commits.fetch(group, [T], require_stable=True) == {T: unstable}
    assert commits.fetch(group, [T], require_stable=False) == {T: FetchedOffset(offset=1)}


def test_offsets_of_no_protocol_expire_by_their_own_time() -> None:
    group = Group("g", wall_ms=0)
    group.offsets.apply(T, Committed(1, commit_timestamp=0), NO_PRODUCER_ID)
    assert commits.forget_expired(group, CONFIG, wall_ms=MINUTE - 1) == []
    assert commits.forget_expired(group, CONFIG, wall_ms=MINUTE) == [OffsetRecord("g", T, None)]


def test_groups_of_the_consumer_protocol_have_rules_of_their_own() -> None:
    group = ConsumerGroup("g", Offsets())
    group.offsets.apply(T, Committed(1, commit_timestamp=0), NO_PRODUCER_ID)
    stranger, gone = MemberIdentity("b", 1), OffsetRecord("g", T, None)
    fault = commits.commit_fault(group, stranger, is_transactional=False)
    assert fault is commits.fetch_fault(group, stranger) is ErrorCode.UNKNOWN_MEMBER_ID
    assert commits.fetch_fault(group_with(T), stranger) is None, "which the others let it know"
    assert commits.delete(group, [T]).records == commits.forget(group, [T]) == [gone]
    assert commits.forget_expired(group, CONFIG, wall_ms=MINUTE)[0] == gone
