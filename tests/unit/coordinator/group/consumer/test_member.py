"""A member that moves."""

from moldau.coordinator.group.consumer.member import (
    JOINING,
    LEFT,
    LEFT_FOR_A_WHILE,
    ConsumerMember,
    MemberState,
)
from unit.coordinator.group.consumer.samples import T


def test_a_member_remembers_the_epoch_it_comes_from() -> None:
    member = ConsumerMember(member_id="a").at(3, MemberState.UNREVOKED, {T: (0,)}, {T: (1,)})
    assert (member.epoch, member.previous_epoch) == (3, 0)
    assert (member.assigned, member.revoking) == ({T: (0,)}, {T: (1,)})
    assert member.at(4, MemberState.STABLE, {}).previous_epoch == 3


def test_only_who_is_stable_has_reached_an_epoch() -> None:
    member = ConsumerMember(member_id="a", epoch=3)
    assert member.has_reached(3)
    assert not member.has_reached(4)
    assert not member.at(3, MemberState.UNRELEASED, {}).has_reached(3)


def test_states_and_epochs_have_apache_kafkas_numbers() -> None:
    assert list(map(int, MemberState)) == [0, 1, 2, 127]
    assert (JOINING, LEFT, LEFT_FOR_A_WHILE) == (0, -1, -2)


def test_who_has_only_subscribed_has_come_nowhere_yet() -> None:
    member = ConsumerMember(member_id="a")
    assert member.progress == (0, MemberState.STABLE, {}, {})
    assert (member.previous_epoch, member.rebalance_timeout_ms) == (-1, -1)
