"""Heartbeat in all versions."""

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.heartbeat import HeartbeatRequest
from unit.broker.group_client import SETTINGS, joined
from unit.broker.world import broker_world


@pytest.mark.parametrize("version", range(5))
async def test_a_member_is_alive(version: int) -> None:
    async with broker_world(SETTINGS) as world:
        request = HeartbeatRequest(group_id="g", generation_id=1, member_id="")
        assert (await world.ask(request, version)).error_code == ErrorCode.NOT_COORDINATOR
        request.member_id = await joined(world)
        assert (await world.ask(request, version)).error_code == ErrorCode.NONE
        request.generation_id = 7
        assert (await world.ask(request, version)).error_code == ErrorCode.ILLEGAL_GENERATION


async def test_the_instance_is_compared() -> None:
    async with broker_world(SETTINGS) as world:
        await joined(world, 5, group_instance_id="one")
        request = HeartbeatRequest(
            group_id="g", generation_id=1, member_id="x", group_instance_id="one"
        )
        assert (await world.ask(request, 3)).error_code == ErrorCode.FENCED_INSTANCE_ID
