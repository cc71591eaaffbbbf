"""DescribeLogDirs: which logs lie where, and how large they are."""

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResult,
)
from unit.broker.world import World, broker_world

NEWEST = 4


async def describe(
    world: World, partitions: dict[str, list[int]] | None = None, *, version: int = NEWEST
) -> list[DescribeLogDirsResult]:
    topics = None
    if partitions is not None:
        topics = [
            DescribableLogDirTopic(topic=name, partitions=one) for name, one in partitions.items()
        ]
    response = await world.ask(DescribeLogDirsRequest(topics=topics), version)
    assert response.error_code == ErrorCode.NONE
    results: list[DescribeLogDirsResult] = response.results
    return results


@pytest.mark.parametrize("version", range(NEWEST + 1))
async def test_a_log_is_as_large_as_its_batches(world: World, version: int) -> None:
    await world.create_topic("t")
    world.append("t", b"value")
    (result,) = await describe(world, version=version)
    assert (result.error_code, result.log_dir) == (ErrorCode.NONE, "/logs")
    (partition,) = result.topics[0].partitions
    assert partition.partition_size == world.partition("t").log.size > 0
    assert (partition.offset_lag, partition.is_future_key) == (0, False)
    has_sizes = version >= 4
    assert (result.total_bytes > 0, result.usable_bytes > 0) == (has_sizes, has_sizes)


async def test_only_the_partitions_that_are_asked_for_are_shown(world: World) -> None:
    await world.create_topic("t", 2)
    (result,) = await describe(world, {"t": [1], "none": [0]})
    assert [one.partition_index for one in result.topics[0].partitions] == [1]
    (result,) = await describe(world, {})
    assert result.topics == []


async def test_every_directory_is_shown_also_one_that_is_offline() -> None:
    async with broker_world({"log.dirs": "/a,/b"}) as world:
        world.broker.logs.directories[1].volume.fail(OSError("broken"))
        first, second = await describe(world)
        assert (first.log_dir, first.error_code) == ("/a", ErrorCode.NONE)
        assert (second.log_dir, second.error_code) == ("/b", ErrorCode.KAFKA_STORAGE_ERROR)
