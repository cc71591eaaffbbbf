"""What is said when nothing is said."""

from moldau.coordinator.group.messages import (
    NOBODY,
    Committed,
    FetchedOffset,
    JoinReply,
    MemberIdentity,
    Overview,
    Sync,
)
from moldau.errors import ErrorCode
from unit.coordinator.group.samples import joining


def test_a_partition_without_an_offset_is_no_error() -> None:
    assert FetchedOffset() == (ErrorCode.NONE, -1, -1, "")


def test_a_refusal_to_join_names_no_generation() -> None:
    reply = JoinReply(ErrorCode.UNKNOWN_MEMBER_ID, "a")
    assert (reply.generation, reply.leader_id, reply.members) == (-1, "", ())
    assert not reply.skip_assignment


def test_nobody_is_in_a_generation_and_may_be_of_either_protocol() -> None:
    assert NOBODY == ("", -1, None, True)


def test_followers_bring_no_assignments() -> None:
    assert Sync(MemberIdentity("a", 1)).assignments == {}


def test_groups_are_classic() -> None:
    assert Overview("g", "consumer", "Stable").group_type == "classic"


def test_clients_that_say_nothing_of_it_cannot_skip_an_assignment() -> None:
    assert not joining("a").can_skip_assignment
    assert not joining("a").must_know_id


def test_an_offset_has_no_epoch_and_no_times_unless_they_are_said() -> None:
    assert Committed(5) == (5, -1, "", -1, -1, -1)
