"""How a member comes to its target."""

from dataclasses import replace

import pytest

from moldau.coordinator.group.consumer.assignment import Assignment
from moldau.coordinator.group.consumer.member import ConsumerMember, MemberState
from moldau.coordinator.group.consumer.reconciliation import Target, reconciled
from moldau.errors import ErrorCode, KafkaError
from unit.coordinator.group.consumer.samples import T, U

MEMBER = ConsumerMember(member_id="a", epoch=1, previous_epoch=0, assigned={T: (0, 1)})


def step(
    member: ConsumerMember,
    target: Assignment,
    owned: Assignment | None = None,
    taken: tuple[tuple[bytes, int], ...] = (),
    epoch: int = 2,
) -> ConsumerMember:
    return reconciled(
        member,
        Target(epoch, target),
        owned=owned,
        is_free=lambda topic_id, number: (topic_id, number) not in taken,
    )


def test_who_is_there_stays_there() -> None:
    assert step(MEMBER, {U: (0,)}, epoch=1) is MEMBER


def test_what_is_free_is_given_at_once() -> None:
    member = step(MEMBER, {T: (0, 1, 2)})
    assert (member.epoch, member.state) == (2, MemberState.STABLE)
    assert member.assigned == {T: (0, 1, 2)}


def test_what_others_have_is_waited_for() -> None:
    member = step(MEMBER, {T: (0, 1, 2, 3)}, taken=((T, 3),))
    assert (member.epoch, member.state) == (2, MemberState.UNRELEASED)
    assert member.assigned == {T: (0, 1, 2)}
    assert step(member, {T: (0, 1, 2, 3)}, taken=((T, 3),)).assigned == {T: (0, 1, 2)}
    member = step(member, {T: (0, 1, 2, 3)})
    assert (member.epoch, member.state) == (2, MemberState.STABLE)
    assert member.assigned == {T: (0, 1, 2, 3)}


def test_partitions_are_given_up_before_the_epoch_is_reached() -> None:
    member = step(MEMBER, {T: (1, 2)}, owned={T: (0, 1)})
    assert (member.epoch, member.state) == (1, MemberState.UNREVOKED)
    assert (member.assigned, member.revoking) == ({T: (1,)}, {T: (0,)})
    for owned in (None, {T: (0,)}):
        assert step(member, {T: (1, 2)}, owned=owned) is member, "it may still have it"
    member = step(member, {T: (1, 2)}, owned={T: (1,)})
    assert (member.epoch, member.state) == (2, MemberState.STABLE)
    assert (member.assigned, member.revoking) == ({T: (1, 2)}, {})


def test_who_does_not_have_it_need_not_give_it_up() -> None:
    member = step(MEMBER, {T: (1,)}, owned={})
    assert (member.epoch, member.state, member.assigned) == (2, MemberState.STABLE, {T: (1,)})


def test_a_target_that_moves_meanwhile_asks_for_more_revocations() -> None:
    member = step(MEMBER, {T: (1,)}, owned={T: (0, 1)})
    member = step(member, {}, owned={T: (1,)}, epoch=5)
    assert (member.epoch, member.state) == (2, MemberState.UNREVOKED)
    assert (member.assigned, member.revoking) == ({}, {T: (1,)})


def test_a_state_that_is_not_known_ends_when_all_is_given_up() -> None:
    member = replace(MEMBER, state=MemberState.UNKNOWN, revoking={T: (5,)})
    with pytest.raises(KafkaError) as caught:
        step(member, {T: (0,)})
    assert caught.value.code is ErrorCode.FENCED_MEMBER_EPOCH
    member = step(member, {T: (0,)}, owned={T: (0,)}, epoch=9)
    assert (member.epoch, member.state, member.assigned) == (9, MemberState.STABLE, {T: (0,)})
