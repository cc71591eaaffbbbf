"""LeaveGroup, alone and together."""

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from unit.broker.group_client import SETTINGS, joined
from unit.broker.world import broker_world


@pytest.mark.parametrize("version", range(3))
async def test_one_member_leaves(version: int) -> None:
    async with broker_world(SETTINGS) as world:
        request = LeaveGroupRequest(group_id="g", member_id=await joined(world))
        assert (await world.ask(request, version)).error_code == ErrorCode.NONE
        assert (await world.ask(request, version)).error_code == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("version", range(3, 6))
async def test_several_leave_and_each_is_answered(version: int) -> None:
    async with broker_world(SETTINGS) as world:
        await joined(world, 5, group_instance_id="one")
        members = [
            MemberIdentity(member_id="x"),
            MemberIdentity(member_id="", group_instance_id="one"),
        ]
        reply = await world.ask(LeaveGroupRequest(group_id="g", members=members), version)
        assert reply.error_code == ErrorCode.NONE
        assert [
            (each.member_id, each.group_instance_id, each.error_code) for each in reply.members
        ] == [("x", None, ErrorCode.UNKNOWN_MEMBER_ID), ("", "one", ErrorCode.NONE)]


async def test_the_wrong_broker_says_so() -> None:
    async with broker_world(SETTINGS) as world:
        reply = await world.ask(LeaveGroupRequest(group_id="g", members=[]), 3)
        assert reply.error_code == ErrorCode.NOT_COORDINATOR
