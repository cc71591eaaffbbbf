"""ConsumerGroupHeartbeat in all versions."""

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from unit.broker.consumer_group_client import heartbeat, joining, serving
from unit.broker.group_client import SETTINGS
from unit.broker.world import broker_world


@pytest.mark.parametrize("version", range(2))
async def test_a_member_gets_its_partitions(version: int) -> None:
    async with broker_world(SETTINGS) as world:
        await serving(world, "t", 2)
        response = await world.ask(joining("m"), version)
        assert (response.error_code, response.member_id) == (ErrorCode.NONE, "m")
        assert (response.member_epoch, response.heartbeat_interval_ms) == (1, 5000)
        (topic,) = response.assignment.topic_partitions
        assert topic.partitions == [0, 1]
        assert topic.topic_id == world.broker.metadata.image.topics["t"].topic_id
        response = await world.ask(heartbeat("m", 1), version)
        assert (response.error_code, response.assignment) == (ErrorCode.NONE, None)
        owned = heartbeat("m", 1, {topic.topic_id: [0]})
        assert (await world.ask(owned, version)).error_code == ErrorCode.NONE
        assert (await world.ask(heartbeat("m", -1), version)).member_epoch == -1


async def test_since_version_1_members_make_their_ids() -> None:
    async with broker_world(SETTINGS) as world:
        await serving(world, "t", 1)
        request = joining("")
        assert len((await world.ask(request, 0)).member_id) == 22
        refused = await world.ask(request, 1)
        assert refused.error_code == ErrorCode.INVALID_REQUEST
        assert refused.error_message == "MemberId can't be empty."


async def test_since_version_1_topics_may_be_given_by_pattern() -> None:
    async with broker_world(SETTINGS) as world:
        await serving(world, "topic", 3)
        request = joining("m", None, regex="to.*")
        response = await world.ask(request, 1)
        assert response.assignment.topic_partitions[0].partitions == [0, 1, 2]
        request.subscribed_topic_regex = "("
        refused = await world.ask(request, 1)
        assert refused.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION


async def test_topics_that_come_are_matched_at_the_next_heartbeat() -> None:
    async with broker_world(SETTINGS) as world:
        await serving(world, "topic", 1)
        await world.ask(joining("m", None, regex="to.*"), 1)
        await world.create_topic("other")
        await world.create_topic("tomato")
        response = await world.ask(heartbeat("m", 1), 1)
        assert response.member_epoch == 2
        names = world.broker.metadata.image.names_by_id
        assigned = [names[each.topic_id] for each in response.assignment.topic_partitions]
        assert sorted(assigned) == ["tomato", "topic"]


async def test_patterns_that_take_forever_are_refused() -> None:
    async with broker_world(SETTINGS) as world:
        await serving(world, "a" * 200, 1)
        for regex in ("(){1000}{1000}{1000}", "((){1000}){1000}", "(.*.){400}"):
            refused = await world.ask(joining("m", None, regex=regex), 1)
            assert refused.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION


async def test_a_group_has_a_name() -> None:
    async with broker_world(SETTINGS) as world:
        request = joining("m")
        request.group_id = ""
        assert (await world.ask(request, 1)).error_code == ErrorCode.INVALID_REQUEST


async def test_who_does_not_coordinate_says_so() -> None:
    async with broker_world(SETTINGS) as world:
        response = await world.ask(joining("m"), 1)
        assert response.error_code == ErrorCode.NOT_COORDINATOR


async def test_the_protocol_can_be_switched_off() -> None:
    settings = {**SETTINGS, "group.coordinator.rebalance.protocols": "classic"}
    async with broker_world(settings) as world:
        response = await world.ask(joining("m"), 1)
        assert response.error_code == ErrorCode.UNSUPPORTED_VERSION


async def test_offsets_are_told_to_members_in_their_epoch() -> None:
    async with broker_world(SETTINGS) as world:
        await serving(world, "t", 1)
        await world.ask(joining("m"), 1)
        for epoch, error in ((1, ErrorCode.NONE), (0, ErrorCode.STALE_MEMBER_EPOCH)):
            group = OffsetFetchRequestGroup(
                group_id="g", member_id="m", member_epoch=epoch, topics=[]
            )
            response = await world.ask(OffsetFetchRequest(groups=[group]), 9)
            assert response.groups[0].error_code == error
