"""Which replica a consumer is sent to; the choice itself is in replication/test_read_replica.py."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from moldau.broker.requests.fetch_request import PartitionKey, Wanted
from moldau.broker.requests.nearest_replica import NearestReplica
from moldau.broker.requests.reads import PartitionRead
from moldau.metadata.image import ClusterImage
from moldau.replication.partition import PartitionState
from unit.broker.world import CLIENT, World, broker_world


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world({"broker.rack": "here"}) as world:
        await world.create_topic("t")
        state = PartitionState(1, 0, 1, (0, 1), 0, (0, 1))
        partition = world.partition("t")
        partition.lead(state, now_ms=world.clock.now_ms())
        partition.note_fetch(1, 0, log_start_offset=0, now_ms=world.clock.now_ms())
        yield world


def two_racks(world: World) -> ClusterImage:
    image = world.broker.metadata.image
    other = image.brokers[0]._replace(id=1, rack="there")
    return replace(image, brokers={**image.brokers, 1: other})


def referred(world: World, rack: str, listener: str = CLIENT.listener) -> int:
    read = PartitionRead(PartitionKey("t", 0), None, Wanted(-1, 0, -1, -1, 9))
    read.partition = world.broker.replicas.find(("t", 0))
    NearestReplica(two_racks(world), listener, rack).refer(read)
    return read.preferred_replica


async def test_a_consumer_is_sent_to_its_rack(world: World) -> None:
    assert referred(world, "there") == 1
    assert referred(world, "here") == -1
    assert referred(world, "elsewhere") == -1


async def test_nobody_is_sent_where_its_listener_is_not(world: World) -> None:
    assert referred(world, "there", "OTHER") == -1


async def test_only_the_leader_sends_elsewhere(world: World) -> None:
    world.partition("t").follow(PartitionState(1, 1, 2, (0, 1), 0, (0, 1)))
    assert referred(world, "there") == -1
