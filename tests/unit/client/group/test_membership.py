"""Who a member is, and what errors make of it."""

import pytest

from moldau.client.group.assignors import assignors_of
from moldau.client.group.member import GroupParticipant
from moldau.client.group.membership import NO_GENERATION, NO_MEMBER, Membership, Remedy
from moldau.errors import ErrorCode
from moldau.protocol.messages.join_group import JoinGroupResponse


def answer(leader: str = "me", *, skip_assignment: bool = False) -> JoinGroupResponse:
    return JoinGroupResponse(
        error_code=0,
        generation_id=4,
        protocol_name="range",
        leader=leader,
        skip_assignment=skip_assignment,
        member_id="me",
        members=[],
    )


@pytest.fixture
def membership() -> Membership:
    joined = Membership("g", assignors_of("range"))
    joined.joined(answer())
    return joined


def test_nobody_is_a_member_from_the_start() -> None:
    outside = Membership("g", assignors_of("range"))
    assert not outside.is_in_generation
    outside.take_member_id("me")
    assert outside.member_id == "me"
    assert not outside.is_in_generation


def test_joining_leads_into_a_generation(membership: Membership) -> None:
    assert membership.is_in_generation
    assert (membership.member_id, membership.generation) == ("me", 4)


def test_the_leader_deals_out_unless_told_not_to(membership: Membership) -> None:
    assert membership.joined(answer())
    assert not membership.joined(answer(leader="another"))
    assert not membership.joined(answer(skip_assignment=True))
    assert membership.deal_out([GroupParticipant("me", ["t"])], {"t": [0]}) == {"me": [("t", 0)]}


@pytest.mark.parametrize(
    ("code", "remedy", "member_id", "generation"),
    [
        (ErrorCode.REBALANCE_IN_PROGRESS, Remedy.REJOIN, "me", 4),
        (ErrorCode.ILLEGAL_GENERATION, Remedy.REJOIN, "me", NO_GENERATION),
        (ErrorCode.UNKNOWN_MEMBER_ID, Remedy.REJOIN, NO_MEMBER, NO_GENERATION),
        (ErrorCode.MEMBER_ID_REQUIRED, Remedy.REJOIN, "me", 4),
        (ErrorCode.NOT_COORDINATOR, Remedy.FIND_COORDINATOR, "me", 4),
        (ErrorCode.COORDINATOR_NOT_AVAILABLE, Remedy.FIND_COORDINATOR, "me", 4),
        (ErrorCode.NETWORK_EXCEPTION, Remedy.FIND_COORDINATOR, "me", 4),
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, Remedy.WAIT, "me", 4),
        (ErrorCode.GROUP_AUTHORIZATION_FAILED, Remedy.GIVE_UP, "me", 4),
        (ErrorCode.FENCED_INSTANCE_ID, Remedy.GIVE_UP, "me", 4),
    ],
)
def test_errors_take_away_what_is_no_longer_so(
    membership: Membership, code: ErrorCode, remedy: Remedy, member_id: str, generation: int
) -> None:
    assert membership.remedy(code) is remedy
    assert (membership.member_id, membership.generation) == (member_id, generation)


def test_whoever_leaves_is_nobody_again(membership: Membership) -> None:
    membership.leave()
    assert (membership.member_id, membership.generation) == (NO_MEMBER, NO_GENERATION)


def test_the_last_generation_is_remembered(membership: Membership) -> None:
    membership.remedy(ErrorCode.ILLEGAL_GENERATION)
    assert (membership.generation, membership.last_generation) == (NO_GENERATION, 4)
