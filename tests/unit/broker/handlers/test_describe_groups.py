"""DescribeGroups in all versions."""

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.describe_groups import DescribeGroupsRequest
from unit.broker.group_client import SETTINGS, joined
from unit.broker.world import broker_world


@pytest.mark.parametrize("version", range(6))
async def test_a_group_is_shown_with_its_members(version: int) -> None:
    async with broker_world(SETTINGS) as world:
        member_id = await joined(world)
        group, other = (
            await world.ask(DescribeGroupsRequest(groups=["g", "other"]), version)
        ).groups
        assert (group.group_state, group.protocol_type) == ("Stable", "consumer")
        assert group.protocol_data == "range"
        (member,) = group.members
        assert (member.member_id, member.client_host) == (member_id, "/10.0.0.9")
        assert (member.member_metadata, member.member_assignment) == (b"m", b"all")
        assert (other.error_code, other.group_state) == (ErrorCode.NONE, "Dead")


async def test_operations_are_told_when_asked_for() -> None:
    async with broker_world(SETTINGS) as world:
        await joined(world)
        request = DescribeGroupsRequest(groups=["g"], include_authorized_operations=True)
        (group,) = (await world.ask(request, 3)).groups
        assert group.authorized_operations == 328  # read, delete, describe


async def test_the_wrong_broker_says_so() -> None:
    async with broker_world(SETTINGS) as world:
        (group,) = (await world.ask(DescribeGroupsRequest(groups=["g"]), 0)).groups
        assert (group.error_code, group.group_state) == (ErrorCode.NOT_COORDINATOR, "")
