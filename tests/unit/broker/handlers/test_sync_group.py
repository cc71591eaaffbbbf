"""SyncGroup in all versions."""

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.sync_group import SyncGroupRequest
from unit.broker.group_client import SETTINGS, joined
from unit.broker.world import broker_world


@pytest.mark.parametrize("version", range(6))
async def test_a_member_hears_its_assignment(version: int) -> None:
    async with broker_world(SETTINGS) as world:
        request = SyncGroupRequest(
            group_id="g", generation_id=1, member_id=await joined(world), assignments=[]
        )
        if version >= 5:
            request.protocol_type, request.protocol_name = "consumer", "range"
        reply = await world.ask(request, version)
        assert (reply.error_code, reply.assignment) == (ErrorCode.NONE, b"all")
        assert reply.protocol_name == ("range" if version >= 5 else None)


async def test_since_version_5_the_protocol_must_be_named() -> None:
    async with broker_world(SETTINGS) as world:
        request = SyncGroupRequest(
            group_id="g", generation_id=1, member_id=await joined(world), assignments=[]
        )
        reply = await world.ask(request, 5)
        assert reply.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        request.protocol_type, request.protocol_name = "consumer", "other"
        reply = await world.ask(request, 5)
        assert (reply.error_code, reply.assignment) == (ErrorCode.INCONSISTENT_GROUP_PROTOCOL, b"")


async def test_the_wrong_broker_says_so() -> None:
    async with broker_world(SETTINGS) as world:
        request = SyncGroupRequest(group_id="g", generation_id=1, member_id="a", assignments=[])
        assert (await world.ask(request, 0)).error_code == ErrorCode.NOT_COORDINATOR
