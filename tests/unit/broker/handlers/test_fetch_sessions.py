"""Fetch in sessions: what is left out, and which requests are refused."""

from collections.abc import AsyncIterator

import pytest

from moldau.errors import ErrorCode
from unit.broker.sample_requests import fetch, fetch_partition, fetched, in_session, offsets_in
from unit.broker.world import World, broker_world


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world() as world:
        await world.create_topic("t", 3)
        yield world


def topic_of(world: World, version: int) -> str | bytes:
    """How topic `t` is called in this version."""
    return world.broker.metadata.image.topics["t"].topic_id if version >= 13 else "t"


async def test_a_session_tells_only_what_is_new(world: World) -> None:
    whole = in_session(fetch(*(fetch_partition(number) for number in range(3))), 0, 0)
    first = await world.ask(whole, 12)
    assert first.session_id > 0
    assert sorted(fetched(first)) == [0, 1, 2]
    world.append("t", b"a", number=1)
    second = await world.ask(in_session(fetch(), first.session_id, 1), 12)
    assert list(fetched(second)) == [1]
    moved = in_session(fetch(fetch_partition(1, offset=1)), first.session_id, 2, forgotten=[0])
    assert fetched(await world.ask(moved, 12)) == {}
    world.append("t", b"a", number=0)
    world.append("t", b"b", number=1)
    last = await world.ask(in_session(fetch(), first.session_id, 3), 12)
    assert list(fetched(last)) == [1]


async def test_a_wrong_session_or_epoch_is_refused_as_a_whole(world: World) -> None:
    first = await world.ask(in_session(fetch(fetch_partition()), 0, 0), 12)
    response = await world.ask(in_session(fetch(fetch_partition()), first.session_id, 5), 12)
    assert response.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
    for version in (7, 12, 13):
        request = in_session(fetch(fetch_partition(), topic=topic_of(world, version)), 12345, 1)
        response = await world.ask(request, version)
        assert response.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
        assert len(response.responses) == (0 if version >= 13 else 1)


async def test_a_waiting_session_is_woken(world: World) -> None:
    first = await world.ask(in_session(fetch(fetch_partition()), 0, 0), 12)
    waiting = in_session(fetch(max_wait_ms=60_000), first.session_id, 1)
    asking = await world.park(waiting, 12)
    world.append("t", b"a")
    assert offsets_in(fetched(await asking)[0]) == [0]
