"""Steps of a rebalance; whole ones are told in tests/scenarios/group."""

import logging

import pytest

from moldau.config.broker.groups import GroupConfig
from moldau.coordinator.decision import PendingReply
from moldau.coordinator.group.attendance import Attendance, Surroundings, TimerKey
from moldau.coordinator.group.group import Group
from moldau.coordinator.group.messages import MemberIdentity, Sync
from moldau.coordinator.group.rebalance import Rebalance
from moldau.coordinator.group.records import GroupRecord
from moldau.coordinator.group.state import GroupState
from moldau.coordinator.timers import Timers
from moldau.errors import ErrorCode
from moldau.runtime.clock import Moment
from unit.coordinator.group.samples import (
    NOW,
    group_of,
    joining,
    member,
    stable_machine,
    surroundings,
)


def rebalance_of(group: Group, around: Surroundings) -> Rebalance:
    return Rebalance(group, Attendance("g", around))


def test_a_rebalance_that_is_under_way_is_not_begun_again() -> None:
    around = surroundings()
    group = group_of(member("a"))
    rebalance = rebalance_of(group, around)
    rebalance.begin(now=NOW)
    rebalance.begin(now=Moment(NOW.monotonic_ms + 1, 0))
    assert around.timers.next_deadline_ms() == NOW.monotonic_ms


def test_a_group_that_lost_its_members_is_stored_as_empty() -> None:
    around = surroundings()
    group = stable_machine(around).group
    rebalance = rebalance_of(group, around)
    rebalance.begin(now=NOW)
    decision = rebalance.expire(now=NOW)
    assert group.state is GroupState.EMPTY
    (record,) = decision.records
    assert isinstance(record, GroupRecord)
    assert record.value is not None
    assert (record.value.generation, record.value.members) == (2, [])
    assert rebalance.expire(now=NOW).records == ()
    assert around.timers.next_deadline_ms() is None


def test_an_assignment_is_refused_only_while_it_is_waited_for() -> None:
    around = surroundings()
    group = stable_machine(around).group
    rebalance = rebalance_of(group, around)
    rebalance.refuse_assignment(ErrorCode.COORDINATOR_NOT_AVAILABLE, now=NOW)
    assert group.state is GroupState.STABLE
    group.state = GroupState.COMPLETING_REBALANCE
    parked = group.members["a"].sync = PendingReply()
    rebalance.refuse_assignment(ErrorCode.COORDINATOR_NOT_AVAILABLE, now=NOW)
    assert parked.reply is not None
    assert parked.reply.error is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert group.state.value == "PreparingRebalance"


def test_static_members_alone_are_waited_for_again() -> None:
    around = surroundings()
    group = group_of(member("a", instance_id="i"))
    group.members["a"].join = None
    group.state = GroupState.STABLE
    rebalance = rebalance_of(group, around)
    rebalance.begin(now=NOW)
    rebalance.expire(now=Moment(NOW.monotonic_ms + 20_000, 0))
    assert group.state is GroupState.PREPARING_REBALANCE
    assert around.timers.next_deadline_ms() == NOW.monotonic_ms + 40_000


def test_who_gets_its_assignment_has_a_session_from_then_on() -> None:
    around = surroundings()
    machine = stable_machine(around)
    machine.join(joining("b"), now=NOW)
    machine.join(joining("a", member_id="a"), now=NOW)
    later = Moment(NOW.monotonic_ms + 5000, NOW.wall_ms)
    (record,) = machine.sync(Sync(MemberIdentity("a", 2), assignments={}), now=later).records
    assert isinstance(record, GroupRecord)
    assert record.value is not None
    machine.rebalance.apply(record.value, now=later)
    due = around.timers.take_due(now_ms=NOW.monotonic_ms + 10_000)
    assert list(due) == [TimerKey("g", "b")], "which has not asked for its own"


def test_an_empty_group_has_nobody_to_wait_for() -> None:
    group = Group("g", wall_ms=0)
    assert rebalance_of(group, surroundings()).complete_if_all_are_here(now=NOW).records == ()
    assert group.generation == 0


def test_operators_read_of_each_step_in_kafkas_words(caplog: pytest.LogCaptureFixture) -> None:
    around = surroundings()
    with caplog.at_level(logging.INFO):
        machine = stable_machine(around)
        machine.expire(TimerKey("g", "a"), now=NOW)
    assert caplog.messages == [
        "Preparing to rebalance group g in state PreparingRebalance with old generation 0",
        "Stabilized group g generation 1 with 1 members",
        (
            "Assignment received from leader a for group g for generation 1. "
            "The group has 1 members, 0 of which are static."
        ),
        "Member a in group g has failed, removing it from the group",
        "Preparing to rebalance group g in state PreparingRebalance with old generation 1",
        "Group g with generation 2 is now empty",
    ]


@pytest.mark.parametrize(
    ("delay_ms", "newcomers", "ends"),
    [(3_000, 0, [3_000]), (3_000, 1, [3_000, 6_000]), (15_000, 9, [15_000, 20_000])],
    ids=["nobody comes", "one comes", "many come, and members wait for 20 seconds"],
)
def test_a_first_rebalance_waits_longer_while_members_come(
    delay_ms: int, newcomers: int, ends: list[int]
) -> None:
    config = GroupConfig(group_initial_rebalance_delay_ms=delay_ms)
    around = Surroundings(config, Timers(), [])
    group = group_of(member("a"))
    rebalance = rebalance_of(group, around)
    rebalance.begin(now=NOW)
    found: list[int] = []
    while group.state is GroupState.PREPARING_REBALANCE:
        if len(found) < newcomers:
            rebalance.note_newcomer()
        deadline_ms = around.timers.next_deadline_ms()
        assert deadline_ms is not None
        found.append(deadline_ms - NOW.monotonic_ms)
        rebalance.expire(now=Moment(deadline_ms, 0))
    assert found == ends


def test_who_never_asks_for_its_assignment_is_out() -> None:
    around = surroundings()
    machine = stable_machine(around)
    machine.join(joining("b"), now=NOW)
    machine.join(joining("a", member_id="a"), now=NOW)
    machine.sync(Sync(MemberIdentity("b", 2)), now=NOW)
    assert list(machine.group.expected_syncs) == ["a"]
    machine.rebalance.expire(now=Moment(NOW.monotonic_ms + 20_000, 0))
    assert list(machine.group.members) == ["b"]
    assert machine.group.state is GroupState.PREPARING_REBALANCE


def test_a_group_that_is_read_back_gives_out_nothing(caplog: pytest.LogCaptureFixture) -> None:
    value = stable_machine(surroundings()).group.stored({"a": b"all"})
    around = surroundings()
    group = Group("g", wall_ms=0)
    with caplog.at_level(logging.INFO):
        rebalance_of(group, around).apply(value, now=NOW)
    assert (group.state, group.generation) == (GroupState.STABLE, 1)
    assert caplog.messages == []
    assert around.timers.next_deadline_ms() is None
