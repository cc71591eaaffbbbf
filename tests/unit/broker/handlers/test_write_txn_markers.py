"""WriteTxnMarkers: control batches from coordinators."""

from collections.abc import AsyncIterator

import pytest

from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from moldau.replication.partition import PartitionState
from unit.broker.transaction_client import SETTINGS, T0, Client, begin
from unit.broker.world import World, broker_world

T1 = TopicPartition("t", 1)
OFFSETS = TopicPartition("__consumer_offsets", 0)


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with broker_world(SETTINGS) as world:
        await begin(world)
        client = Client(world)
        await client.init()
        yield client


def marker_of(
    client: Client, *partitions: TopicPartition, is_commit: bool = True, **fields: int
) -> WritableTxnMarker:
    return WritableTxnMarker(
        producer_id=client.identity.producer_id,
        producer_epoch=fields.get("epoch", client.identity.epoch),
        transaction_result=is_commit,
        topics=[
            WritableTxnMarkerTopic(name=each.topic, partition_indexes=[each.partition])
            for each in partitions
        ],
        coordinator_epoch=fields.get("coordinator_epoch", 0),
    )


async def write(world: World, *markers: WritableTxnMarker, version: int = 1) -> list[ErrorCode]:
    response = await world.ask(WriteTxnMarkersRequest(markers=list(markers)), version)
    return [
        ErrorCode(each.error_code)
        for marker in response.markers
        for topic in marker.topics
        for each in topic.partitions
    ]


@pytest.mark.parametrize("version", range(2))
async def test_a_marker_ends_the_transaction_in_its_partitions(
    client: Client, version: int
) -> None:
    world = client.world
    await client.add(T0)
    await client.produce()
    marker = marker_of(client, T0, T1)
    assert await write(world, marker, version=version) == [ErrorCode.NONE, ErrorCode.NONE]
    log = world.partition("t").log
    assert (log.log_end_offset, log.last_stable_offset) == (2, 2)
    assert world.partition("t", 1).log.log_end_offset == 1, "a marker without records is legal"


async def test_markers_of_a_coordinator_that_was_replaced_are_refused(client: Client) -> None:
    world = client.world
    assert await write(world, marker_of(client, T0, coordinator_epoch=3)) == [ErrorCode.NONE]
    fenced = [ErrorCode.TRANSACTION_COORDINATOR_FENCED]
    assert await write(world, marker_of(client, T0, coordinator_epoch=2)) == fenced
    assert await write(world, marker_of(client, T0, coordinator_epoch=3)) == [ErrorCode.NONE]


async def test_markers_of_an_older_producer_epoch_are_refused(client: Client) -> None:
    world = client.world
    assert await write(world, marker_of(client, T0, epoch=4)) == [ErrorCode.NONE]
    old = [ErrorCode.INVALID_PRODUCER_EPOCH]
    assert await write(world, marker_of(client, T0, epoch=3)) == old


async def test_every_partition_is_answered_for_itself(client: Client) -> None:
    unknown = TopicPartition("u", 0)
    assert await write(client.world, marker_of(client, unknown, T0), marker_of(client, T1)) == [
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NONE,
        ErrorCode.NONE,
    ]


async def test_markers_for_groups_wait_until_the_groups_are_loaded(client: Client) -> None:
    world = client.world
    log = world.partition(OFFSETS.topic).log
    world.broker.groups.shards.resign(0)
    before = log.log_end_offset
    refused = [ErrorCode.NOT_LEADER_OR_FOLLOWER]
    assert await write(world, marker_of(client, OFFSETS)) == refused
    assert log.log_end_offset == before


async def test_a_marker_is_answered_for_when_it_is_replicated() -> None:
    async with broker_world({**SETTINGS, "request.timeout.ms": "10"}) as world:
        await begin(world)
        client = Client(world)
        await client.init()
        state = PartitionState(1, 0, 1, (0, 1), 0, (0, 1))
        partition = world.partition("t")
        partition.lead(state, now_ms=world.clock.now_ms())
        assert await write(world, marker_of(client, T0)) == [ErrorCode.REQUEST_TIMED_OUT]
        waiting = await world.park(WriteTxnMarkersRequest(markers=[marker_of(client, T0)]), 1)
        partition.note_fetch(1, 2, log_start_offset=0, now_ms=world.clock.now_ms())
        world.broker.waiters.wake(T0)
        (result,) = (await waiting).markers
        assert result.topics[0].partitions[0].error_code == ErrorCode.NONE
