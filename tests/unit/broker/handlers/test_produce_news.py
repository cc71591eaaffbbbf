"""Produce: who waits for records hears of them."""

from collections.abc import AsyncIterator

import pytest

from moldau.replication.partition import PartitionState
from unit.broker.sample_requests import (
    as_follower,
    fetch,
    fetch_partition,
    fetched,
    offsets_in,
    produce,
)
from unit.broker.world import World, batch_of, broker_world


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world() as world:
        await world.create_topic("t")
        yield world


@pytest.mark.parametrize("acks", [0, 1, -1])
async def test_a_waiting_consumer_is_woken(world: World, acks: int) -> None:
    reading = await world.park(fetch(fetch_partition(), max_wait_ms=60_000), 12)
    await world.ask(produce(batch_of(b"a"), acks=acks), 9)
    assert offsets_in(fetched(await reading)[0]) == [0]


async def test_a_waiting_follower_is_woken_before_the_records_are_committed(world: World) -> None:
    partition = world.partition("t")
    partition.lead(PartitionState(1, 0, 1, (0, 1), 0, (0, 1)), now_ms=world.clock.now_ms())
    request = fetch(fetch_partition(epoch=1), max_wait_ms=60_000)
    reading = await world.park(as_follower(request, 1, 12), 12)
    await world.ask(produce(batch_of(b"a")), 9)
    assert offsets_in(fetched(await reading)[0]) == [0]
    assert partition.log.high_watermark == 0
