"""Groups of the consumer protocol among the groups of a partition."""

import pytest

from moldau.config.broker.groups import GroupConfig
from moldau.coordinator.decision import Decision, PendingReply, RecordSource, Reply
from moldau.coordinator.group.consumer.records import EpochRecord, MemberRecord, TargetEpochRecord
from moldau.coordinator.group.groups import Groups
from moldau.coordinator.group.messages import Committed, JoinReply, MemberIdentity, Sync, SyncReply
from moldau.coordinator.group.records import GroupsRecord, OffsetRecord
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.runtime.clock import Moment
from unit.coordinator.group import samples as classic
from unit.coordinator.group.consumer.samples import NOW, T, beating, image, joining

T0 = TopicPartition("t", 0)
LATER = Moment(NOW.monotonic_ms + 100_000, NOW.wall_ms + 100_000)


def groups(policy: str = "bidirectional") -> Groups:
    config = GroupConfig(
        group_initial_rebalance_delay_ms=0,
        offsets_retention_minutes=1,
        group_consumer_migration_policy=policy,
    )
    machine = Groups(config, lambda: image(t=2))
    machine.begin(now=NOW)
    return machine


def write(machine: Groups, decision: Decision[GroupsRecord, Reply]) -> Reply:
    for record in decision.records:
        machine.apply([record], RecordSource(0, decision.producer.producer_id, NOW))
    return decision.reply


def with_member() -> Groups:
    machine = groups()
    write(machine, machine.consumer_heartbeat("g", joining("a"), now=NOW))
    return machine


def test_a_member_makes_the_group() -> None:
    machine = with_member()
    assert machine.find("g") is None
    assert machine.find_consumer("g") is not None
    assert machine.describe("g").state == "Dead", "as the classic protocol sees it"
    assert machine.describe_consumer("g").state == "Stable"
    assert [each.group_type for each in machine.overviews()] == ["consumer"]


def test_only_who_joins_makes_a_group() -> None:
    machine = groups()
    with pytest.raises(KafkaError, match="GROUP_ID_NOT_FOUND"):
        machine.consumer_heartbeat("g", beating("a", 1), now=NOW)
    with pytest.raises(KafkaError, match="GROUP_ID_NOT_FOUND"):
        machine.describe_consumer("g")


def test_classic_requests_go_to_classic_members() -> None:
    machine = with_member()
    refused = machine.join("g", classic.joining("k", "x", "one"), now=NOW)
    assert refused.reply == JoinReply(ErrorCode.UNKNOWN_MEMBER_ID, "x")
    reply = write(machine, machine.join("g", classic.joining("k"), now=NOW))
    assert reply == JoinReply(ErrorCode.NONE, "k", 2, "consumer", "range")
    synced = machine.sync("g", Sync(MemberIdentity("k", 2)), now=NOW).reply
    assert isinstance(synced, SyncReply)
    assert synced.error is ErrorCode.NONE
    unknown = MemberIdentity("x", 2)
    assert machine.sync("g", Sync(unknown), now=NOW).reply == SyncReply(ErrorCode.UNKNOWN_MEMBER_ID)
    assert machine.heartbeat("g", MemberIdentity("k", 2), now=NOW) is ErrorCode.NONE
    assert machine.heartbeat("g", unknown, now=NOW) is ErrorCode.UNKNOWN_MEMBER_ID
    assert write(machine, machine.leave("g", [MemberIdentity("k")], now=NOW)) == [ErrorCode.NONE]


def test_offsets_are_stored_and_told_by_epoch() -> None:
    machine = with_member()
    write(machine, machine.commit("g", MemberIdentity("a", 1), {T0: Committed(5)}, now=NOW))
    found = machine.fetch("g", None, require_stable=False, identity=MemberIdentity("a", 1))
    assert found[T0].offset == 5
    stale = MemberIdentity("a", 9)
    for ask in (
        lambda: machine.commit("g", stale, {T0: Committed(5)}, now=NOW),
        lambda: machine.fetch("g", None, require_stable=False, identity=stale),
    ):
        with pytest.raises(KafkaError) as caught:
            ask()
        assert caught.value.code is ErrorCode.STALE_MEMBER_EPOCH
    assert machine.delete_offsets("g", [T0]).reply == {T0: ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC}
    assert machine.forget_partitions([T0]) == [OffsetRecord("g", T0, None)]
    assert machine.forget_expired("g", now=LATER) == []


def test_a_group_is_deleted_when_nobody_is_in_it() -> None:
    machine = with_member()
    write(machine, machine.commit("g", MemberIdentity("a", 1), {T0: Committed(5)}, now=NOW))
    assert machine.delete("g").reply is ErrorCode.NON_EMPTY_GROUP
    write(machine, machine.consumer_heartbeat("g", beating("a", -1), now=NOW))
    assert write(machine, machine.delete("g")) is ErrorCode.NONE
    assert len(machine) == 0


def test_offsets_outlive_their_group_until_they_expire() -> None:
    machine = with_member()
    write(
        machine, machine.commit("g", MemberIdentity("a", 1), {T0: Committed(5, -1, "", 0)}, now=NOW)
    )
    write(machine, machine.consumer_heartbeat("g", beating("a", -1), now=NOW))
    write(machine, Decision(None, machine.forget_expired("g", now=LATER)))
    assert len(machine) == 0


def test_transactions_bring_offsets_to_any_group() -> None:
    machine = with_member()
    machine.apply([OffsetRecord("g", T0, Committed(7))], RecordSource(3, 99, NOW))
    machine.end_transaction(99, is_commit=True)
    assert machine.fetch("g", [T0], require_stable=True)[T0].offset == 7


def test_an_empty_group_goes_over_to_the_classic_protocol_with_its_offsets() -> None:
    machine = with_member()
    write(machine, machine.commit("g", MemberIdentity("a", 1), {T0: Committed(5)}, now=NOW))
    write(machine, machine.consumer_heartbeat("g", beating("a", -1), now=NOW))
    decision = machine.join("g", classic.joining("k"), now=NOW)
    assert EpochRecord("g", None) in decision.records
    assert isinstance(write(machine, decision), PendingReply)
    found = machine.find("g")
    assert found is not None
    assert list(found.group.members) == ["k"]
    assert found.group.offsets.committed[T0].offset == 5


def test_members_that_are_parked_hear_when_their_group_goes_over() -> None:
    machine = groups()
    parked = machine.join("g", classic.joining("k"), now=NOW).reply
    assert isinstance(parked, PendingReply)
    write(machine, machine.consumer_heartbeat("g", joining("a"), now=NOW))
    assert parked.reply == JoinReply(ErrorCode.REBALANCE_IN_PROGRESS, "k")
    assert [each.member.member_id for each in machine.describe_consumer("g").members] == [
        "k",
        "a",
    ]


def test_the_last_consumer_leaves_a_classic_group_that_shares_anew() -> None:
    machine = with_member()
    write(machine, machine.join("g", classic.joining("k"), now=NOW))
    write(machine, machine.consumer_heartbeat("g", beating("a", -1), now=NOW))
    assert machine.describe("g").state == "PreparingRebalance"
    reply = machine.join("g", classic.joining("k", "k"), now=NOW).reply
    assert isinstance(reply, PendingReply)
    assert reply.reply is not None
    assert reply.reply.generation == 3


def test_a_group_that_goes_over_while_loading_waits_for_its_members() -> None:
    machine = with_member()
    write(machine, machine.join("g", classic.joining("k"), now=NOW))
    records = machine.consumer_heartbeat("g", beating("a", -1), now=NOW).records
    loading = Groups(GroupConfig(), lambda: image(t=2))
    for record in records:
        loading.apply([record], RecordSource(0, -1, NOW))
    assert loading.describe("g").state == "Stable"
    loading.unload()
    assert loading.describe("g").state == "Dead"


def test_everything_is_read_back() -> None:
    machine = with_member()
    other = Groups(GroupConfig(), lambda: image(t=2))
    for record in machine.consumer_heartbeat("h", joining("a"), now=NOW).records:
        ((key, value),) = machine.encode([record])
        other.replay(key, value, RecordSource(0, -1, NOW))
    other.begin(now=NOW)
    (described,) = other.describe_consumer("h").members
    assert described.target == {T: (0, 1)}
    assert other.next_deadline_ms() == NOW.monotonic_ms + 45_000
    (due,) = other.take_due(now=LATER)
    write(other, other.expire(due, now=LATER))
    assert other.describe_consumer("h").state == "Empty"
    machine.unload()


def test_tombstones_of_what_is_not_there_change_nothing() -> None:
    machine = groups()
    for record in (EpochRecord("g", None), MemberRecord("g", "a", None)):
        machine.apply([record], RecordSource(0, -1, NOW))
    assert len(machine) == 0
    machine.apply([TargetEpochRecord("g", 1)], RecordSource(0, -1, NOW))
    assert len(machine) == 1
