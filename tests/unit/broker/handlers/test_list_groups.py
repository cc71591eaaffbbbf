"""ListGroups filters by state and type."""

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.list_groups import ListGroupsRequest
from unit.broker.group_client import SETTINGS, joined
from unit.broker.world import broker_world


@pytest.mark.parametrize("version", range(6))
async def test_all_groups_are_listed(version: int) -> None:
    async with broker_world(SETTINGS) as world:
        await joined(world)
        response = await world.ask(ListGroupsRequest(), version)
        assert response.error_code == ErrorCode.NONE
        (group,) = response.groups
        assert (group.group_id, group.protocol_type) == ("g", "consumer")
        assert group.group_state == ("Stable" if version >= 4 else "")
        assert group.group_type == ("classic" if version >= 5 else "")


@pytest.mark.parametrize(
    ("states", "types", "count"),
    [
        (["stable"], [], 1),
        (["Empty"], [], 0),
        (["Empty", "Stable"], ["Classic"], 1),
        ([], ["consumer"], 0),
    ],
)
async def test_filters_are_kept(states: list[str], types: list[str], count: int) -> None:
    async with broker_world(SETTINGS) as world:
        await joined(world)
        request = ListGroupsRequest(states_filter=states, types_filter=types)
        assert len((await world.ask(request, 5)).groups) == count
