"""A member that moves."""

from moldau.coordinator.group.consumer.member import ConsumerMember, MemberState
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
