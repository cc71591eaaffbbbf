"""DeleteGroups answers for each group."""

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.delete_groups import DeleteGroupsRequest
from unit.broker.group_client import SETTINGS, commit_request, find_coordinator, joined
from unit.broker.world import Setting, broker_world


@pytest.mark.parametrize("version", range(3))
async def test_groups_with_members_stay(version: int) -> None:
    async with broker_world(SETTINGS) as world:
        await joined(world)
        request = DeleteGroupsRequest(groups_names=["g", "other", "g"])
        results = (await world.ask(request, version)).results
        assert [(each.group_id, each.error_code) for each in results] == [
            ("g", ErrorCode.NON_EMPTY_GROUP),
            ("other", ErrorCode.GROUP_ID_NOT_FOUND),
        ]


async def test_a_deleted_group_stays_deleted() -> None:
    setting = Setting()
    async with broker_world(SETTINGS, setting) as world:
        await world.create_topic("t")
        await find_coordinator(world)
        await world.ask(commit_request(("t", 0, 5)), 2)
        (result,) = (await world.ask(DeleteGroupsRequest(groups_names=["g"]), 0)).results
        assert result.error_code == ErrorCode.NONE
    async with broker_world(SETTINGS, setting) as world:
        await find_coordinator(world)
        assert world.broker.groups.overviews() == (ErrorCode.NONE, [])


async def test_the_wrong_broker_says_so() -> None:
    async with broker_world(SETTINGS) as world:
        (result,) = (await world.ask(DeleteGroupsRequest(groups_names=["g"]), 0)).results
        assert result.error_code == ErrorCode.NOT_COORDINATOR
