"""DeleteRecords: a partition begins later than it did."""

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from unit.broker.world import World

NEWEST = 2


async def delete(
    world: World, offset: int, *, topic: str = "t", number: int = 0, version: int = NEWEST
) -> tuple[int, int]:
    partition = DeleteRecordsPartition(partition_index=number, offset=offset)
    request = DeleteRecordsRequest(
        topics=[DeleteRecordsTopic(name=topic, partitions=[partition])], timeout_ms=1000
    )
    response = await world.ask(request, version)
    result: DeleteRecordsPartitionResult = response.topics[0].partitions[0]
    return result.error_code, result.low_watermark


@pytest.mark.parametrize("version", range(NEWEST + 1))
async def test_records_before_an_offset_are_deleted(world: World, version: int) -> None:
    await world.create_topic("t")
    world.append("t", b"a", b"b", b"c")
    assert await delete(world, 2, version=version) == (ErrorCode.NONE, 2)
    assert world.partition("t").log.log_start_offset == 2


async def test_minus_one_stands_for_the_high_watermark(world: World) -> None:
    await world.create_topic("t")
    world.append("t", b"a", b"b", b"c")
    assert await delete(world, -1) == (ErrorCode.NONE, 3)


async def test_what_is_deleted_already_stays_so(world: World) -> None:
    await world.create_topic("t")
    world.append("t", b"a", b"b", b"c")
    await delete(world, 2)
    assert await delete(world, 1) == (ErrorCode.NONE, 2)


@pytest.mark.parametrize("offset", [4, -2])
async def test_an_offset_that_is_not_there_is_out_of_range(world: World, offset: int) -> None:
    await world.create_topic("t")
    world.append("t", b"a", b"b", b"c")
    assert await delete(world, offset) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)


async def test_partitions_that_are_not_there_are_unknown(world: World) -> None:
    await world.create_topic("t")
    unknown = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)
    assert await delete(world, 0, number=7) == unknown
    assert await delete(world, 0, topic="none") == unknown


async def test_a_compacted_topic_keeps_its_records(world: World) -> None:
    await world.create_topic("t", 1, {"cleanup.policy": "compact"})
    assert await delete(world, 0) == (ErrorCode.POLICY_VIOLATION, -1)


async def test_internal_topics_keep_their_records(world: World) -> None:
    await world.create_topic("__consumer_offsets")
    refused = (ErrorCode.INVALID_TOPIC_EXCEPTION, -1)
    assert await delete(world, 0, topic="__consumer_offsets") == refused


async def test_a_replica_that_does_not_follow_in_time_is_waited_for_in_vain(world: World) -> None:
    await world.create_topic("t")
    world.append("t", b"a")
    partition = world.partition("t")
    image = world.broker.metadata.image
    other = image.brokers[0]._replace(id=1)
    image.brokers[1] = other  # type: ignore[index]
    state = partition.state._replace(leader_epoch=1, replicas=(0, 1))
    partition.lead(state, now_ms=world.clock.now_ms())
    assert await delete(world, 1) == (ErrorCode.REQUEST_TIMED_OUT, -1)
