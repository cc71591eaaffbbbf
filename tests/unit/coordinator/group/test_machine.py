"""Corners of a group's behaviour; whole stories are told in tests/scenarios/group."""

from dataclasses import replace

import pytest

from moldau.coordinator.decision import PendingReply
from moldau.coordinator.group.attendance import TimerKey
from moldau.coordinator.group.messages import MemberIdentity, Sync
from moldau.coordinator.group.state import GroupState
from moldau.errors import ErrorCode
from moldau.runtime.clock import Moment
from unit.coordinator.group.samples import (
    NOW,
    joining,
    reply_of,
    stable_machine,
    store,
    surroundings,
)


def test_a_join_that_is_sent_again_answers_the_first() -> None:
    around = surroundings()
    machine = stable_machine(around)
    first = machine.join(joining("b"), now=NOW).reply
    assert isinstance(first, PendingReply)
    second = machine.join(joining("b", member_id="b"), now=NOW).reply
    assert isinstance(second, PendingReply)
    assert first.reply is not None
    assert first.reply.error is ErrorCode.REBALANCE_IN_PROGRESS
    assert second.reply is None


def test_a_sync_that_is_sent_again_answers_the_first() -> None:
    around = surroundings()
    machine = stable_machine(around)
    machine.join(joining("b"), now=NOW)
    machine.join(joining("a", member_id="a"), now=NOW)
    first = machine.sync(Sync(MemberIdentity("b", 2)), now=NOW).reply
    assert isinstance(first, PendingReply)
    second = machine.sync(Sync(MemberIdentity("b", 2)), now=NOW).reply
    assert isinstance(second, PendingReply)
    assert first.reply is not None
    assert first.reply.error is ErrorCode.REBALANCE_IN_PROGRESS


def test_a_static_member_that_changes_the_protocol_makes_a_rebalance() -> None:
    around = surroundings()
    machine = stable_machine(around)
    both = (("range", b""), ("sticky", b""))
    machine.join(replace(joining("s", instance_id="i"), protocols=both), now=NOW)
    machine.join(replace(joining("a", member_id="a"), protocols=both), now=NOW)
    store(machine, machine.sync(Sync(MemberIdentity("a", 2), assignments={}), now=NOW))
    assert machine.group.protocol_name == "range"
    returning = replace(joining("s2", instance_id="i"), protocols=(("sticky", b""),))
    decision_of_join = machine.join(returning, now=NOW)
    assert isinstance(decision_of_join.reply, PendingReply)
    assert machine.group.state is GroupState.PREPARING_REBALANCE


def test_a_returning_static_follower_hears_who_leads() -> None:
    around = surroundings()
    machine = stable_machine(around)
    machine.join(joining("s", instance_id="i"), now=NOW)
    machine.join(joining("a", member_id="a"), now=NOW)
    store(machine, machine.sync(Sync(MemberIdentity("a", 2), assignments={"s": b"1"}), now=NOW))
    returning = replace(joining("s2", instance_id="i"), can_skip_assignment=True)
    decision = machine.join(returning, now=NOW)
    reply = reply_of(decision.reply)
    assert (reply.leader_id, reply.members, reply.skip_assignment) == ("a", (), False)
    assert len(decision.records) == 1


def test_a_member_that_leaves_while_parked_is_answered() -> None:
    machine = stable_machine(surroundings())
    parked = machine.join(joining("b"), now=NOW).reply
    assert isinstance(parked, PendingReply)
    assert machine.leave([MemberIdentity("b")], now=NOW).reply == [ErrorCode.NONE]
    assert parked.reply is not None
    assert parked.reply.error is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_pending_id_can_leave() -> None:
    machine = stable_machine(surroundings())
    machine.join(replace(joining("b"), must_know_id=True), now=NOW)
    assert machine.leave([MemberIdentity("b")], now=NOW).reply == [ErrorCode.NONE]
    assert machine.group.pending_ids == {}
    assert machine.group.state is GroupState.STABLE


@pytest.mark.parametrize("key", [TimerKey("g", "gone"), TimerKey("g")])
def test_a_deadline_of_the_past_changes_nothing_of_the_members(key: TimerKey) -> None:
    machine = stable_machine(surroundings())
    if key.member_id is None:
        machine.group.remove("a")
        machine.group.state = GroupState.EMPTY
    assert list(machine.expire(key, now=NOW).records) == []


def test_a_parked_member_need_not_be_heard_of() -> None:
    machine = stable_machine(surroundings())
    machine.join(joining("b"), now=NOW)
    machine.join(replace(joining("c"), must_know_id=True), now=NOW)
    machine.join(joining("a", member_id="a"), now=NOW)
    machine.expire(TimerKey("g", "a"), now=Moment(NOW.monotonic_ms + 10_000, 0))
    assert "a" in machine.group.members


def test_a_loaded_group_that_is_too_large_rebalances() -> None:
    around = surroundings()
    machine = stable_machine(around)
    machine.join(joining("b"), now=NOW)
    machine.join(joining("a", member_id="a"), now=NOW)
    machine.group.state = GroupState.STABLE
    machine.begin_sessions(now=NOW)
    assert machine.group.state is GroupState.STABLE
    small = stable_machine(surroundings(group_max_size=1))
    small.group.add(machine.group.members["b"], "consumer")
    small.begin_sessions(now=NOW)
    assert small.group.state is GroupState.PREPARING_REBALANCE


def test_whoever_is_parked_hears_of_the_other_coordinator() -> None:
    machine = stable_machine(surroundings())
    parked = machine.join(joining("b"), now=NOW).reply
    assert isinstance(parked, PendingReply)
    machine.unload()
    assert parked.reply is not None
    assert parked.reply.error is ErrorCode.NOT_COORDINATOR
    assert machine.group.state is GroupState.DEAD


def test_a_heartbeat_of_another_generation_is_refused() -> None:
    machine = stable_machine(surroundings())
    assert machine.heartbeat(MemberIdentity("a", 1), now=NOW) is ErrorCode.NONE
    assert machine.heartbeat(MemberIdentity("a", 0), now=NOW) is ErrorCode.ILLEGAL_GENERATION
    assert machine.heartbeat(MemberIdentity("a", 2), now=NOW) is ErrorCode.ILLEGAL_GENERATION


def test_a_static_member_that_comes_twice_fences_its_first_join() -> None:
    machine = stable_machine(surroundings())
    first = machine.join(joining("s", instance_id="i"), now=NOW).reply
    assert isinstance(first, PendingReply)
    machine.join(joining("s2", instance_id="i"), now=NOW)
    assert first.reply is not None
    assert first.reply.error is ErrorCode.FENCED_INSTANCE_ID


def test_a_returned_static_member_is_not_waiting_and_has_to_live_on() -> None:
    machine = stable_machine(surroundings())
    machine.join(joining("s", instance_id="i"), now=NOW)
    machine.join(joining("a", member_id="a"), now=NOW)
    store(machine, machine.sync(Sync(MemberIdentity("a", 2), assignments={"s": b"1"}), now=NOW))
    machine.join(joining("s2", instance_id="i"), now=NOW)
    assert not machine.group.members["s2"].is_parked
    machine.expire(TimerKey("g", "s2"), now=Moment(NOW.monotonic_ms + 10_000, 0))
    assert "s2" not in machine.group.members


def test_a_member_that_leaves_while_it_waits_for_its_assignment_is_answered() -> None:
    machine = stable_machine(surroundings())
    machine.join(joining("b"), now=NOW)
    machine.join(joining("a", member_id="a"), now=NOW)
    parked = machine.sync(Sync(MemberIdentity("b", 2)), now=NOW).reply
    assert isinstance(parked, PendingReply)
    machine.leave([MemberIdentity("b", 2)], now=NOW)
    assert parked.reply is not None
    assert parked.reply.error is ErrorCode.UNKNOWN_MEMBER_ID
