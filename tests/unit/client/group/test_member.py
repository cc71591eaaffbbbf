"""The order of members."""

from moldau.client.group.member import GroupParticipant


def test_members_with_a_name_of_their_own_come_first() -> None:
    members = [
        GroupParticipant("b", []),
        GroupParticipant("z", [], "i2"),
        GroupParticipant("a", []),
        GroupParticipant("y", [], "i1"),
    ]
    in_order = sorted(members, key=lambda member: member.order)
    assert [member.member_id for member in in_order] == ["y", "z", "a", "b"]
