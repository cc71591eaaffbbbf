"""The dispatcher tries the fast path first, and a test that comes between turns it off."""

import pytest

from moldau.broker.fast.shortcuts import FETCH, OFFSET_COMMIT, PRODUCE
from moldau.errors import ErrorCode
from moldau.replication.partition import PartitionState
from unit.broker.group_client import SETTINGS, commit_errors, commit_request, find_coordinator
from unit.broker.sample_requests import (
    as_follower,
    fetch,
    fetch_partition,
    fetched,
    in_session,
    offsets_in,
    produce,
    produced,
)
from unit.broker.ways import Way
from unit.broker.world import World, batch_of, broker_world

FAST_ONLY = pytest.mark.parametrize("way", [Way.FAST, Way.UNCOMPILED])


async def commit(world: World, version: int) -> None:
    request = commit_request(("t", 0, 5))
    request.topics[0].partitions[0].committed_metadata = None
    assert commit_errors(await world.ask(request, version)) == [ErrorCode.NONE]


@pytest.mark.parametrize("way", Way)
async def test_plain_requests_are_answered_in_the_way_of_the_world(way: Way) -> None:
    # Handler tests in several ways would show nothing if all of them took the same.
    async with broker_world(SETTINGS, way=way) as world:
        await world.create_topic("t")
        await find_coordinator(world)
        for version in (5, 8, 9, 11):
            await world.ask(produce(batch_of(b"a"), acks=-1), version)
        for version in (10, 11, 12):
            data = fetched(await world.ask(fetch(fetch_partition()), version))[0]
            assert offsets_in(data) == [0, 1, 2, 3]
        for version in (7, 8, 9):
            await commit(world, version)
        expected = {} if way is Way.HANDLER else {PRODUCE: 4, FETCH: 3, OFFSET_COMMIT: 3}
        assert dict(world.fast_paths.answered) == expected


@FAST_ONLY
async def test_plain_requests_of_followers_take_the_fast_path(way: Way) -> None:
    async with broker_world(way=way) as world:
        await world.create_topic("t")
        partition = world.partition("t")
        partition.lead(PartitionState(1, 0, 1, (0, 1), 0, (0, 1)), now_ms=world.clock.now_ms())
        world.append("t", b"a")
        begun = as_follower(in_session(fetch(fetch_partition(epoch=1)), 0, 0), 1, 12)
        first = await world.ask(begun, 12)
        # The first one of a session that is known makes it ready for the fast path.
        await world.ask(as_follower(in_session(fetch(), first.session_id, 1), 1, 12), 12)
        before = world.fast_paths.answered[FETCH]
        moved = in_session(fetch(fetch_partition(offset=1, epoch=1)), first.session_id, 2)
        await world.ask(as_follower(moved, 1, 12), 12)
        assert world.fast_paths.answered[FETCH] == before + 1
        assert partition.log.high_watermark == 1


async def test_plain_requests_go_past_the_handler_and_are_counted() -> None:
    async with broker_world() as world:
        await world.create_topic("t")
        for offset in range(3):
            answer = produced(await world.ask(produce(batch_of(b"a")), 9))
            assert answer.base_offset == offset
        text = world.broker.metrics.text()
        assert 'requests_total{request="Produce",version="9"} 3' in text
        assert 'totaltimems_count{request="Produce"} 3' in text
        assert world.broker.traffic.all.messages_in.value == 3


async def test_a_wrapped_handler_sees_every_request() -> None:
    seen = []
    async with broker_world() as world:
        await world.create_topic("t")
        await world.ask(produce(batch_of(b"a")), 9)

        def wrapper(handle):  # type: ignore[no-untyped-def]
            def handled(request, context, broker):  # type: ignore[no-untyped-def]
                seen.append(request)
                return handle(request, context, broker)

            return handled

        world.dispatcher.wrap(PRODUCE, wrapper)
        await world.ask(produce(batch_of(b"a")), 9)
    assert len(seen) == 1
