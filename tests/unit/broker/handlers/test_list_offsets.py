"""ListOffsets: ends, times and their refusals, in every version."""

from collections.abc import AsyncIterator

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from moldau.replication.partition import PartitionState
from unit.broker.world import START_MS, World, batch_of, broker_world

LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED = -1, -2, -3, -4, -5
NEWEST = 9


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world() as world:
        await world.create_topic("t", 2)
        for timestamp in (START_MS, START_MS + 20, START_MS + 10):
            batch = batch_of(b"a", timestamp=timestamp)
            world.partition("t").append(batch, acks=1, now_ms=START_MS)
        yield world


def request(*timestamps: int, number: int = 0, epoch: int = -1) -> ListOffsetsRequest:
    partitions = [
        ListOffsetsPartition(
            partition_index=number, timestamp=timestamp, current_leader_epoch=epoch
        )
        for timestamp in timestamps
    ]
    topic = ListOffsetsTopic(name="t", partitions=partitions)
    return ListOffsetsRequest(replica_id=-1, topics=[topic])


async def ask(
    world: World, timestamp: int, version: int = NEWEST, *, number: int = 0, epoch: int = -1
) -> ListOffsetsPartitionResponse:
    response = await world.ask(request(timestamp, number=number, epoch=epoch), version)
    (topic,) = response.topics
    (partition,) = topic.partitions
    found: ListOffsetsPartitionResponse = partition
    return found


@pytest.mark.parametrize("version", range(1, 10))
async def test_every_version_finds_ends_and_times(world: World, version: int) -> None:
    epoch = 0 if version >= 4 else -1
    for timestamp, offset, found_timestamp in (
        (LATEST, 3, -1),
        (EARLIEST, 0, -1),
        (START_MS + 1, 1, START_MS + 20),
        (START_MS, 0, START_MS),
    ):
        found = await ask(world, timestamp, version)
        assert (found.error_code, found.offset) == (ErrorCode.NONE, offset)
        assert (found.timestamp, found.leader_epoch) == (found_timestamp, epoch)


async def test_a_time_after_the_last_record_is_nowhere(world: World) -> None:
    found = await ask(world, START_MS + 21)
    assert (found.error_code, found.offset, found.timestamp) == (ErrorCode.NONE, -1, -1)


@pytest.mark.parametrize(
    ("timestamp", "since", "offset"),
    [(MAX_TIMESTAMP, 7, 1), (EARLIEST_LOCAL, 8, 0), (LATEST_TIERED, 9, -1)],
)
async def test_special_times_are_served_from_their_version_on(
    world: World, timestamp: int, since: int, offset: int
) -> None:
    assert (await ask(world, timestamp, since)).offset == offset
    refused = await ask(world, timestamp, since - 1)
    assert (refused.error_code, refused.offset) == (ErrorCode.UNSUPPORTED_VERSION, -1)


async def test_a_negative_time_that_means_nothing_is_refused(world: World) -> None:
    assert (await ask(world, -6)).error_code == ErrorCode.UNSUPPORTED_VERSION


async def test_a_partition_asked_for_twice_is_refused(world: World) -> None:
    response = await world.ask(request(LATEST, EARLIEST), 5)
    codes = [one.error_code for one in response.topics[0].partitions]
    assert codes == [ErrorCode.INVALID_REQUEST] * 2


async def test_version_0_answers_with_the_starts_of_segments(world: World) -> None:
    partition = world.partition("t")
    partition.log.roll(now_ms=START_MS + 50)
    world.append("t", b"x")
    asked = request(LATEST)
    asked.topics[0].partitions[0].max_num_offsets = 10
    found = (await world.ask(asked, 0)).topics[0].partitions[0]
    assert (found.error_code, found.old_style_offsets) == (ErrorCode.NONE, [4, 3, 0])
    asked.topics[0].partitions[0].max_num_offsets = 1
    assert (await world.ask(asked, 0)).topics[0].partitions[0].old_style_offsets == [4]
    for number, timestamp, offsets in ((0, EARLIEST, [0]), (1, LATEST, [0]), (9, LATEST, [])):
        found = (await world.ask(request(timestamp, number=number), 0)).topics[0].partitions[0]
        assert found.old_style_offsets == offsets


async def test_unknown_partitions_and_other_epochs_are_refused(world: World) -> None:
    found = await ask(world, LATEST, number=9)
    assert found.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert (await ask(world, LATEST, epoch=4)).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH


async def test_a_new_leader_does_not_tell_the_end_before_it_knows(world: World) -> None:
    world.partition("t").lead(PartitionState(1, 0, 1, (0, 1), 0, (0, 1)), now_ms=START_MS)
    world.append("t", b"x")
    world.partition("t").lead(PartitionState(1, 0, 2, (0, 1), 0, (0, 1)), now_ms=START_MS)
    assert (await ask(world, LATEST, 5)).error_code == ErrorCode.OFFSET_NOT_AVAILABLE
    assert (await ask(world, LATEST, 4)).error_code == ErrorCode.LEADER_NOT_AVAILABLE
    assert (await ask(world, START_MS + 999)).error_code == ErrorCode.OFFSET_NOT_AVAILABLE
    assert (await ask(world, EARLIEST)).offset == 0
    assert (await ask(world, START_MS + 1)).offset == 1


@pytest.mark.parametrize("version", range(10))
async def test_an_unforeseen_failure_is_told_for_every_partition(
    world: World, version: int
) -> None:
    world.broker.replicas = None  # type: ignore[assignment]
    assert (await ask(world, LATEST, version)).error_code == ErrorCode.UNKNOWN_SERVER_ERROR
