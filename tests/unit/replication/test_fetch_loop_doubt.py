"""A leader that hangs up is called again at once, and is in doubt until it answers."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from moldau.protocol.messages.fetch import FetchRequest
from moldau.replication import fetch_loop
from unit.broker.world import World, broker_world
from unit.replication.follower_loop import Follower, until_parked
from unit.replication.leader_world import LEADER, follow, lead


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world() as made:
        await made.create_topic("t")
        yield made


def doubted(follower: Follower) -> int | None:
    return follower.loop.leader_in_doubt


async def lose_leader(
    follower: Follower, failure: type[OSError], *, is_silent: bool = False
) -> None:
    """The leader answers, and then hangs up, or does not answer any more."""
    while follower.member.log.log_end_offset == 0:
        await asyncio.sleep(0)
    await until_parked(follower)
    assert doubted(follower) is None
    follower.failure = failure
    channel = follower.channels[-1]
    channel.failure = failure if is_silent else None
    channel.close()


def last_wait_ms(follower: Follower) -> int:
    request = follower.asked(FetchRequest)[-1]
    assert isinstance(request, FetchRequest)
    return request.max_wait_ms


async def test_a_leader_that_hangs_up_and_then_refuses_is_in_doubt_for_a_second(
    world: World,
) -> None:
    follower = Follower(world)
    lead(world)
    world.append("t", b"a")
    follower.loop.follow(follow(follower.member))

    async def life() -> None:
        await lose_leader(follower, ConnectionRefusedError)
        while doubted(follower) is None:
            await asyncio.sleep(0)
        assert doubted(follower) == LEADER
        follower.clock.time_ms += 999
        assert doubted(follower) == LEADER
        follower.clock.time_ms += 1
        assert doubted(follower) is None
        while len(follower.channels) < 5:
            await asyncio.sleep(0)
        assert doubted(follower) is None, "the controller has had its time"

    living = asyncio.ensure_future(life())
    await follower.until(living.done)
    living.result()


async def test_a_leader_that_hangs_up_is_called_again_at_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch_loop, "FIRST_BACKOFF_MS", 60_000)
    follower = Follower(world, backoff_ms=60_000)
    lead(world)
    world.append("t", b"a")
    follower.loop.follow(follow(follower.member))
    losing = asyncio.ensure_future(lose_leader(follower, ConnectionResetError))
    await follower.until(lambda: len(follower.channels) == 2)
    await losing


async def test_a_leader_that_answers_again_is_in_doubt_no_more(world: World) -> None:
    follower = Follower(world)
    lead(world)
    world.append("t", b"a")
    follower.loop.follow(follow(follower.member))

    async def life() -> None:
        await lose_leader(follower, ConnectionRefusedError)
        while doubted(follower) is None:
            await asyncio.sleep(0)
        follower.failure = None
        # It has nothing new to say, and says so without the wait that followers are used to.
        while doubted(follower) is not None:
            await asyncio.sleep(0)
        await until_parked(follower, channel_count=len(follower.channels))
        assert last_wait_ms(follower) == 60_000

    living = asyncio.ensure_future(life())
    await follower.until(living.done)
    living.result()


async def test_a_leader_that_does_not_answer_in_time_is_not_in_doubt(world: World) -> None:
    follower = Follower(world)
    lead(world)
    world.append("t", b"a")
    follower.loop.follow(follow(follower.member))

    async def life() -> None:
        await lose_leader(follower, TimeoutError, is_silent=True)
        while len(follower.channels) < 4:
            await asyncio.sleep(0)
            assert doubted(follower) is None

    living = asyncio.ensure_future(life())
    await follower.until(living.done)
    living.result()


async def test_a_leader_that_has_never_answered_is_not_in_doubt(world: World) -> None:
    follower = Follower(world, failure=ConnectionRefusedError)
    lead(world)
    follower.loop.follow(follow(follower.member))

    def has_called() -> bool:
        assert doubted(follower) is None
        return len(follower.channels) == 3

    await follower.until(has_called)
