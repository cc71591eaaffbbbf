"""OffsetFetch in all versions."""

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from unit.broker.group_client import SETTINGS, commit_request, find_coordinator
from unit.broker.world import broker_world


def single() -> OffsetFetchRequest:
    return OffsetFetchRequest(
        group_id="g", topics=[OffsetFetchRequestTopic(name="t", partition_indexes=[0, 1])]
    )


@pytest.mark.parametrize("version", range(1, 8))
async def test_one_group_is_asked_for(version: int) -> None:
    async with broker_world(SETTINGS) as world:
        await world.create_topic("t", 2)
        await find_coordinator(world)
        await world.ask(commit_request(("t", 0, 5)), 2)
        (topic,) = (await world.ask(single(), version)).topics
        assert [
            (each.partition_index, each.committed_offset, each.metadata, each.error_code)
            for each in topic.partitions
        ] == [(0, 5, "note", 0), (1, -1, "", 0)]


@pytest.mark.parametrize("version", range(2, 8))
async def test_without_topics_all_are_told(version: int) -> None:
    async with broker_world(SETTINGS) as world:
        await world.create_topic("t", 2)
        await find_coordinator(world)
        await world.ask(commit_request(("t", 1, 5)), 2)
        (topic,) = (await world.ask(OffsetFetchRequest(group_id="g", topics=None), version)).topics
        assert [each.partition_index for each in topic.partitions] == [1]


@pytest.mark.parametrize("version", [8, 9])
async def test_several_groups_are_asked_for(version: int) -> None:
    async with broker_world(SETTINGS) as world:
        await world.create_topic("t", 2)
        await find_coordinator(world)
        await world.ask(commit_request(("t", 1, 5)), 2)
        topics = [OffsetFetchRequestTopics(name="t", partition_indexes=[0])]
        request = OffsetFetchRequest(
            groups=[
                OffsetFetchRequestGroup(group_id="g", topics=None),
                OffsetFetchRequestGroup(group_id="h", topics=topics),
            ]
        )
        one, other = (await world.ask(request, version)).groups
        assert one.topics[0].partitions[0].committed_offset == 5
        assert other.topics[0].partitions[0].committed_offset == -1
        assert (one.error_code, other.error_code) == (ErrorCode.NONE, ErrorCode.NONE)


@pytest.mark.parametrize("version", range(1, 10))
async def test_the_wrong_broker_says_so(version: int) -> None:
    async with broker_world(SETTINGS) as world:
        elsewhere = ErrorCode.NOT_COORDINATOR
        if version >= 8:
            group = OffsetFetchRequestGroup(group_id="g", topics=None)
            response = await world.ask(OffsetFetchRequest(groups=[group]), version)
            assert response.groups[0].error_code == elsewhere
            return
        response = await world.ask(single(), version)
        if version >= 2:
            assert (response.error_code, response.topics) == (elsewhere, [])
        else:
            assert [each.error_code for each in response.topics[0].partitions] == [elsewhere] * 2


async def test_version_0_asks_the_tree() -> None:
    async with broker_world(SETTINGS) as world:
        await world.create_topic("t", 2)
        await world.ask(commit_request(("t", 0, 5)), 0)
        request = single()
        assert request.topics is not None
        request.topics[0].partition_indexes = [0, 1, 2]
        (topic,) = (await world.ask(request, 0)).topics
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert [(each.committed_offset, each.error_code) for each in topic.partitions] == [
            (5, ErrorCode.NONE),
            (-1, unknown),
            (-1, unknown),
        ]
