"""The groups of one partition, as its shard sees them."""

from dataclasses import replace

import pytest

from moldau.config.broker.groups import GroupConfig
from moldau.coordinator.decision import Decision, RecordSource, Reply
from moldau.coordinator.group.groups import Groups
from moldau.coordinator.group.messages import Committed, MemberIdentity, Overview, Sync, SyncReply
from moldau.coordinator.group.records import GroupRecord, GroupsRecord, OffsetRecord
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.records.batch import Producer
from moldau.runtime.clock import Moment
from unit.coordinator.group.samples import NOW, joining, reply_of

T = TopicPartition("t", 0)


def groups() -> Groups:
    return Groups(GroupConfig(group_initial_rebalance_delay_ms=0, offsets_retention_minutes=1))


def write(machine: Groups, decision: Decision[GroupsRecord, Reply], log_offset: int = 0) -> None:
    for record in decision.records:
        machine.apply([record], RecordSource(log_offset, decision.producer.producer_id, NOW))


def commit(machine: Groups, group_id: str, producer_id: int = -1, log_offset: int = 0) -> None:
    producer = Producer(producer_id, 0 if producer_id >= 0 else -1, -1)
    decision = machine.commit(
        group_id, MemberIdentity(), {T: Committed(5)}, now=NOW, producer=producer
    )
    write(machine, decision, log_offset)


def test_a_group_comes_with_its_first_member_but_not_with_an_unknown_one() -> None:
    machine = groups()
    refused = reply_of(machine.join("g", joining("x", member_id="x"), now=NOW).reply)
    assert refused.error is ErrorCode.UNKNOWN_MEMBER_ID
    assert len(machine) == 0
    machine.join("g", joining("a"), now=NOW)
    assert machine.overviews() == [Overview("g", "consumer", "PreparingRebalance")]


def test_a_group_that_is_not_there_is_shown_as_dead() -> None:
    assert groups().describe("g").state == "Dead"


def test_a_commit_in_a_generation_of_no_group_is_refused() -> None:
    machine = groups()
    with pytest.raises(KafkaError) as raised:
        machine.commit("g", MemberIdentity("a", 1), {T: Committed(5)}, now=NOW)
    assert raised.value.code is ErrorCode.ILLEGAL_GENERATION
    with pytest.raises(KafkaError) as raised:
        machine.commit(
            "g", MemberIdentity("a", 1), {T: Committed(5)}, now=NOW, producer=Producer(7, 0, -1)
        )
    assert raised.value.code is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_transaction_ends_in_all_groups_that_it_has_offsets_of() -> None:
    machine = groups()
    commit(machine, "g", producer_id=7)
    commit(machine, "h", producer_id=7)
    machine.end_transaction(7, is_commit=True)
    machine.end_transaction(7, is_commit=False)
    for group_id in ("g", "h"):
        assert machine.fetch(group_id, [T], require_stable=True)[T].offset == 5


def test_deleting_takes_offsets_and_group_but_not_an_open_transaction() -> None:
    machine = groups()
    commit(machine, "g")
    commit(machine, "g", producer_id=7)
    decision = machine.delete("g")
    assert decision.records == [OffsetRecord("g", T, None), GroupRecord("g", None)]
    write(machine, decision)
    assert machine.fetch("g", [T], require_stable=False)[T].offset == -1
    machine.end_transaction(7, is_commit=True)
    assert machine.fetch("g", [T], require_stable=True)[T].offset == 5


def test_offsets_of_deleted_partitions_are_forgotten_in_every_group() -> None:
    machine = groups()
    commit(machine, "g")
    commit(machine, "h")
    tombstones = machine.forget_partitions([T, TopicPartition("u", 0)])
    assert tombstones == [OffsetRecord("g", T, None), OffsetRecord("h", T, None)]
    write(machine, Decision(None, tombstones))
    assert len(machine) == 0, "nothing is left of simple groups"


def test_groups_that_never_came_to_be_are_dropped_with_time() -> None:
    machine = groups()
    machine.join("g", joining("a"), now=NOW)
    assert machine.forget_expired("g", now=NOW) == []
    assert len(machine) == 1
    machine.apply([GroupRecord("g", None)], RecordSource(0, -1, NOW))
    assert len(machine) == 0
    assert machine.next_deadline_ms() is None
    assert machine.forget_expired("g", now=NOW) == []


def test_tombstones_of_what_is_not_there_change_nothing() -> None:
    machine = groups()
    machine.apply([OffsetRecord("g", T, None)], RecordSource(0, -1, NOW))
    machine.apply([GroupRecord("g", None)], RecordSource(0, -1, NOW))
    assert machine.ids() == []


def test_a_deadline_of_a_group_that_is_gone_changes_nothing() -> None:
    machine = groups()
    machine.join("g", joining("a"), now=NOW)
    (key, *_) = machine.take_due(now=Moment(NOW.monotonic_ms, 0))
    machine.apply([GroupRecord("g", None)], RecordSource(0, -1, NOW))
    assert list(machine.expire(key, now=NOW).records) == []


def test_answers_are_reported_once() -> None:
    machine = groups()
    machine.join("g", joining("a"), now=NOW)
    for key in machine.take_due(now=NOW):
        machine.expire(key, now=NOW)
    assert len(machine.take_answered()) == 1
    assert machine.take_answered() == []


def test_records_of_other_kinds_are_skipped_when_loading() -> None:
    machine = groups()
    machine.replay(b"\0\x0b\0\1g", b"\0\0\0", RecordSource(0, -1, NOW))
    assert len(machine) == 0


def test_nobody_is_assigned_in_a_group_that_is_not_there() -> None:
    reply = groups().sync("g", Sync(MemberIdentity("a", 1)), now=NOW).reply
    assert isinstance(reply, SyncReply)
    assert reply.error is ErrorCode.UNKNOWN_MEMBER_ID


def test_the_first_generation_of_no_group_is_refused_too() -> None:
    with pytest.raises(KafkaError) as raised:
        groups().commit("g", MemberIdentity("a", 0), {T: Committed(5)}, now=NOW)
    assert raised.value.code is ErrorCode.ILLEGAL_GENERATION


def test_a_group_of_which_nothing_was_stored_goes() -> None:
    machine = groups()
    machine.commit("g", MemberIdentity(), {}, now=NOW)
    assert len(machine) == 1
    assert machine.forget_expired("g", now=NOW) == []
    assert len(machine) == 0


def test_storing_assignments_does_not_rebalance_again() -> None:
    machine = groups()
    machine.begin(now=NOW)
    machine.join("g", joining("a"), now=NOW)
    for key in machine.take_due(now=NOW):
        machine.expire(key, now=NOW)
    write(machine, machine.sync("g", Sync(MemberIdentity("a", 1), assignments={}), now=NOW))
    assert machine.overviews() == [Overview("g", "consumer", "Stable")]


def assigned(machine: Groups) -> None:
    """The group `g` has one member, `a`, that waits for its assignment."""
    machine.begin(now=NOW)
    machine.join("g", joining("a"), now=NOW)
    for key in machine.take_due(now=NOW):
        machine.expire(key, now=NOW)


@pytest.mark.parametrize("session_timeout_ms", [5_999, 1_800_001])
def test_sessions_have_a_shortest_and_a_longest(session_timeout_ms: int) -> None:
    join = replace(joining("a"), session_timeout_ms=session_timeout_ms)
    reply = reply_of(groups().join("g", join, now=NOW).reply)
    assert reply.error is ErrorCode.INVALID_SESSION_TIMEOUT


def test_members_are_heard_and_leave_where_their_group_is() -> None:
    machine, identity = groups(), MemberIdentity("a", 1)
    assert machine.heartbeat("g", identity, now=NOW) is ErrorCode.UNKNOWN_MEMBER_ID
    assert machine.leave("g", [identity], now=NOW).reply == [ErrorCode.UNKNOWN_MEMBER_ID]
    assigned(machine)
    assert machine.heartbeat("g", identity, now=NOW) is ErrorCode.NONE
    assert machine.leave("g", [identity], now=NOW).reply == [ErrorCode.NONE]


def test_an_assignment_that_was_not_stored_is_refused_where_the_group_is() -> None:
    machine = groups()
    machine.refuse_assignment("g", ErrorCode.NOT_COORDINATOR, now=NOW)
    assigned(machine)
    assert machine.overviews()[0].state == "CompletingRebalance"
    machine.refuse_assignment("g", ErrorCode.NOT_COORDINATOR, now=NOW)
    assert machine.overviews()[0].state == "PreparingRebalance"


def test_a_group_that_is_not_there_is_not_deleted() -> None:
    assert groups().delete("g").reply is ErrorCode.GROUP_ID_NOT_FOUND
    with pytest.raises(KafkaError) as raised:
        groups().delete_offsets("g", [T])
    assert raised.value.code is ErrorCode.GROUP_ID_NOT_FOUND


def test_offsets_are_read_back_and_so_are_their_tombstones() -> None:
    machine = groups()
    ((key, value),) = machine.encode([OffsetRecord("g", T, Committed(5))])
    machine.replay(key, value, RecordSource(0, -1, NOW))
    assert machine.fetch("g", [T], require_stable=True)[T].offset == 5
    machine.replay(key, None, RecordSource(1, -1, NOW))
    assert len(machine) == 0


def test_records_of_all_kinds_are_applied_in_their_order() -> None:
    machine = groups()
    other, later = TopicPartition("t", 1), Committed(9)
    written: list[GroupsRecord] = [
        OffsetRecord("g", T, Committed(5)),
        OffsetRecord("g", other, Committed(6)),
        OffsetRecord("h", T, Committed(7)),
        OffsetRecord("g", T, None),
        OffsetRecord("g", other, later),
    ]
    machine.apply(written, RecordSource(10, -1, NOW))
    (g, h) = (machine.find(name) for name in ("g", "h"))
    assert g is not None
    assert h is not None
    assert g.group.offsets.committed == {other: later.at(14)}
    assert h.group.offsets.committed == {T: Committed(7).at(12)}


def test_offsets_of_a_transaction_wait_for_its_end() -> None:
    machine = groups()
    written: list[GroupsRecord] = [OffsetRecord("g", T, Committed(5))]
    machine.apply(written, RecordSource(10, 99, NOW))
    found = machine.find("g")
    assert found is not None
    assert not found.group.offsets.committed
    machine.end_transaction(99, is_commit=True)
    assert found.group.offsets.committed == {T: Committed(5).at(10)}
