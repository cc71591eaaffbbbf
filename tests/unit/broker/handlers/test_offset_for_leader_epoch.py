"""OffsetForLeaderEpoch: where epochs ended, in every version."""

from collections.abc import AsyncIterator

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from moldau.replication.partition import PartitionState
from unit.broker.world import START_MS, World, broker_world


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world() as world:
        await world.create_topic("t")
        world.append("t", b"a", b"b")
        world.partition("t").lead(PartitionState(1, 0, 3, (0,), 0, (0,)), now_ms=START_MS)
        world.append("t", b"c")
        yield world


async def ask(
    world: World, epoch: int, version: int, *, number: int = 0, current: int = -1
) -> EpochEndOffset:
    asked = OffsetForLeaderPartition(
        partition=number, leader_epoch=epoch, current_leader_epoch=current
    )
    topic = OffsetForLeaderTopic(topic="t", partitions=[asked])
    response = await world.ask(OffsetForLeaderEpochRequest(topics=[topic]), version)
    end: EpochEndOffset = response.topics[0].partitions[0]
    return end


@pytest.mark.parametrize("version", range(5))
async def test_every_version_tells_where_an_epoch_ended(world: World, version: int) -> None:
    for epoch, known, end_offset in ((0, 0, 2), (2, 0, 2), (3, 3, 3), (9, -1, -1)):
        end = await ask(world, epoch, version)
        assert (end.error_code, end.end_offset) == (ErrorCode.NONE, end_offset)
        assert end.leader_epoch == (known if version >= 1 else -1)


async def test_a_client_that_knows_another_leader_is_refused(world: World) -> None:
    assert (await ask(world, 0, 4, current=1)).error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert (await ask(world, 0, 4, current=8)).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    refused = await ask(world, 0, 4, number=7)
    assert refused.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert (refused.leader_epoch, refused.end_offset) == (-1, -1)


async def test_an_unforeseen_failure_is_told_for_every_partition(world: World) -> None:
    world.broker.replicas = None  # type: ignore[assignment]
    for version in range(5):
        assert (await ask(world, 0, version)).error_code == ErrorCode.UNKNOWN_SERVER_ERROR
