"""OffsetDelete answers for each partition."""

from moldau.errors import ErrorCode
from moldau.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from unit.broker.group_client import SETTINGS, commit_request, find_coordinator
from unit.broker.world import broker_world

REQUEST = OffsetDeleteRequest(
    group_id="g",
    topics=[
        OffsetDeleteRequestTopic(
            name="t",
            partitions=[OffsetDeleteRequestPartition(partition_index=n) for n in (0, 1)],
        )
    ],
)


async def test_offsets_are_deleted() -> None:
    async with broker_world(SETTINGS) as world:
        await world.create_topic("t")
        await find_coordinator(world)
        await world.ask(commit_request(("t", 0, 5)), 2)
        response = await world.ask(REQUEST, 0)
        assert response.error_code == ErrorCode.NONE
        assert [each.error_code for each in response.topics[0].partitions] == [
            ErrorCode.NONE,
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ]
        assert await world.broker.groups.fetch("g", None, require_stable=False) == {}


async def test_a_group_that_is_not_there_has_none() -> None:
    async with broker_world(SETTINGS) as world:
        await find_coordinator(world)
        response = await world.ask(REQUEST, 0)
        assert (response.error_code, response.topics) == (ErrorCode.GROUP_ID_NOT_FOUND, [])
