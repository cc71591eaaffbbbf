"""JoinGroup in all versions."""

import pytest

from moldau.errors import ErrorCode
from unit.broker.group_client import SETTINGS, find_coordinator, join_request
from unit.broker.world import broker_world


@pytest.mark.parametrize("version", range(4))
async def test_a_newcomer_joins_at_once(version: int) -> None:
    async with broker_world(SETTINGS) as world:
        await find_coordinator(world)
        reply = await world.ask(join_request(), version)
        assert (reply.error_code, reply.generation_id) == (ErrorCode.NONE, 1)
        assert reply.member_id.startswith("test-")
        assert reply.leader == reply.member_id
        assert (reply.protocol_name, reply.members[0].metadata) == ("range", b"m")
        group = world.broker.groups.shards.of("g").machine.find("g")
        assert group is not None
        (member,) = group.group.members.values()
        assert member.rebalance_timeout_ms == (10_000 if version == 0 else 20_000)
        assert (member.client_id, member.client_host) == ("test", "/10.0.0.9")


@pytest.mark.parametrize("version", range(4, 10))
async def test_a_newcomer_hears_its_id_first(version: int) -> None:
    async with broker_world(SETTINGS) as world:
        await find_coordinator(world)
        reply = await world.ask(join_request(), version)
        assert reply.error_code == ErrorCode.MEMBER_ID_REQUIRED
        assert reply.protocol_name == ("" if version < 7 else None)
        reply = await world.ask(join_request(reply.member_id), version)
        assert (reply.error_code, reply.generation_id) == (ErrorCode.NONE, 1)
        assert reply.protocol_type == ("consumer" if version >= 7 else None)


async def test_a_static_member_is_named_after_its_instance() -> None:
    async with broker_world(SETTINGS) as world:
        await find_coordinator(world)
        reply = await world.ask(join_request(group_instance_id="one"), 5)
        assert reply.member_id.startswith("one-")
        assert reply.members[0].group_instance_id == "one"


@pytest.mark.parametrize("version", range(10))
async def test_before_the_coordinator_is_there_the_join_is_refused(version: int) -> None:
    async with broker_world(SETTINGS) as world:
        reply = await world.ask(join_request("me"), version)
        assert (reply.error_code, reply.member_id) == (ErrorCode.NOT_COORDINATOR, "me")
