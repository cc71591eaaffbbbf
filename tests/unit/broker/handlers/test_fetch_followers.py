"""Fetch by other brokers: who may, what it tells the leader, where logs part."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.fetch import PartitionData
from moldau.replication.partition import PartitionState
from unit.broker.sample_requests import (
    as_follower,
    fetch,
    fetch_partition,
    fetched,
    offsets_in,
)
from unit.broker.world import World, broker_world


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world() as world:
        await world.create_topic("t", 3)
        yield world


def lead(world: World, *, isr: tuple[int, ...], epoch: int = 1) -> None:
    state = PartitionState(1, 0, epoch, isr, 0, (0, 1, 2))
    world.partition("t").lead(state, now_ms=world.clock.now_ms())


async def test_a_follower_that_is_not_assigned_is_refused(world: World) -> None:
    for epoch, code in (
        (-1, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (0, ErrorCode.UNKNOWN_LEADER_EPOCH),
    ):
        request = as_follower(fetch(fetch_partition(epoch=epoch)), 8, 12)
        assert fetched(await world.ask(request, 12))[0].error_code == code


async def test_followers_move_the_high_watermark(world: World) -> None:
    lead(world, isr=(0, 1))
    world.append("t", b"a", b"b")
    waiting = await world.park(fetch(fetch_partition(), max_wait_ms=60_000), 12)
    await world.ask(as_follower(fetch(fetch_partition(offset=2)), 1, 12), 12)
    assert world.partition("t").log.high_watermark == 2
    assert offsets_in(fetched(await waiting)[0]) == [0]


async def test_followers_get_what_must_be_synced_first_after_that(world: World) -> None:
    lead(world, isr=(0, 1))
    log = world.partition("t").log
    log.config = replace(log.config, flush_messages=1)
    world.append("t", b"a")
    request = as_follower(fetch(fetch_partition()), 1, 12)
    assert offsets_in(fetched(await world.ask(request, 12))[0]) == []
    log.recovery_point = 1
    assert offsets_in(fetched(await world.ask(request, 12))[0]) == [0]


async def test_the_lag_of_followers_is_measured_by_one_clock(world: World) -> None:
    lead(world, isr=(0, 1))
    world.append("t", b"a")
    await world.ask(as_follower(fetch(fetch_partition(offset=1)), 1, 12), 12)
    world.clock.time_ms += 20_000
    assert world.partition("t").propose_isr(now_ms=world.clock.now_ms()) is None
    world.append("t", b"b")
    world.clock.time_ms += 31_000
    change = world.partition("t").propose_isr(now_ms=world.clock.now_ms())
    assert change is not None
    assert change.isr == (0,)


async def test_a_follower_whose_log_parts_from_ours_is_told_where(world: World) -> None:
    lead(world, isr=(0, 1), epoch=2)
    world.append("t", b"a", b"b")
    lead(world, isr=(0, 1), epoch=5)
    world.append("t", b"c")

    async def ask(offset: int, last_epoch: int) -> PartitionData:
        part = fetch_partition(offset=offset, epoch=5, last_fetched_epoch=last_epoch)
        request = as_follower(fetch(part, max_wait_ms=60_000), 1, 12)
        return fetched(await world.ask(request, 12))[0]

    for offset, last_epoch, end in ((3, 2, (2, 2)), (3, 4, (2, 2))):
        data = await ask(offset, last_epoch)
        diverging = data.diverging_epoch
        assert diverging is not None
        assert (diverging.epoch, diverging.end_offset) == end
        assert data.error_code == ErrorCode.NONE
    assert world.partition("t").followers[1].log_end_offset == -1
    data = await ask(2, 2)
    assert offsets_in(data) == [2]
    data = await ask(2, 9)
    assert data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
