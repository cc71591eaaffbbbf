"""A follower's fetch session, seen from its leader: only what has changed is looked at."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.protocol.messages.fetch import FetchPartition, FetchResponse
from moldau.replication.partition import Partition, PartitionState
from moldau.replication.replicas import Replicas
from unit.broker.sample_requests import (
    as_follower,
    fetch,
    fetch_partition,
    fetched,
    in_session,
    offsets_in,
)
from unit.broker.ways import Way
from unit.broker.world import World, broker_world

FOLLOWER = 1
VERSION = 12
LAG_MS = 30_000


@pytest.fixture(params=Way)
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    async with broker_world(way=request.param) as world:
        await world.create_topic("t", 4)
        for number in range(4):
            both = PartitionState(1, 0, 1, (0, FOLLOWER), 0, (0, FOLLOWER))
            world.partition("t", number).lead(both, now_ms=world.clock.now_ms())
        yield world


def request(epoch: int, session_id: int, *moved: tuple[int, int], **rest: Any) -> Any:
    """A request of the follower's session: partitions and their offsets."""
    forgotten = rest.pop("forgotten", [])
    partitions = [fetch_partition(number, offset=offset) for number, offset in moved]
    made = in_session(fetch(*partitions, **rest), session_id, epoch, forgotten=forgotten)
    return as_follower(made, FOLLOWER, VERSION)


async def begin(world: World) -> int:
    """A session with all partitions, after its first incremental request."""
    everything = request(0, 0, *((number, 0) for number in range(4)))
    session_id: int = (await world.ask(everything, VERSION)).session_id
    await world.ask(request(1, session_id), VERSION)
    return session_id


async def test_a_topic_that_was_not_known_at_first_is_known_later(world: World) -> None:
    metadata = world.broker.metadata
    image = metadata.image
    world.append("t", b"a")

    async def ask(session_id: int, epoch: int, *partitions: FetchPartition) -> FetchResponse:
        asked = fetch(*partitions, topic=image.topics["t"].topic_id)
        response: FetchResponse = await world.ask(
            as_follower(in_session(asked, session_id, epoch), FOLLOWER, 13), 13
        )
        return response

    metadata.image = replace(image, names_by_id={})
    session_id = (await ask(0, 0, fetch_partition())).session_id
    refused = fetched(await ask(session_id, 1))[0]
    metadata.image = image
    found = fetched(await ask(session_id, 2))[0]
    assert refused.error_code == ErrorCode.UNKNOWN_TOPIC_ID
    assert offsets_in(found) == [0]


async def test_only_partitions_with_news_are_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = await begin(world)
    world.append("t", b"a", number=2)
    seen: list[TopicPartition] = []
    leader = Replicas.leader

    def seeing(replicas: Replicas, name: TopicPartition, epoch: int = -1) -> Partition:
        seen.append(name)
        return leader(replicas, name, epoch)

    monkeypatch.setattr(Replicas, "leader", seeing)
    response = await world.ask(request(2, session_id), VERSION)
    assert list(fetched(response)) == [2]
    assert seen == [("t", 2)]
    assert fetched(await world.ask(request(3, session_id, (2, 1)), VERSION))[2].high_watermark == 1
    assert seen == [("t", 2)] * 2


async def test_a_waiting_follower_is_woken_by_an_append(world: World) -> None:
    session_id = await begin(world)
    waiting = await world.park(request(2, session_id, max_wait_ms=60_000), VERSION)
    world.append("t", b"a", number=3)
    assert offsets_in(fetched(await waiting)[3]) == [0]


async def test_a_waiting_follower_gets_an_empty_answer_when_the_time_is_up(world: World) -> None:
    session_id = await begin(world)
    response = await world.ask(request(2, session_id, max_wait_ms=1), VERSION)
    assert fetched(response) == {}


async def test_what_the_follower_did_not_take_is_sent_again(world: World) -> None:
    session_id = await begin(world)
    world.append("t", b"a", number=0)
    for epoch in (2, 3):
        response = await world.ask(request(epoch, session_id), VERSION)
        assert offsets_in(fetched(response)[0]) == [0]


async def test_what_does_not_fit_comes_with_the_next_answer(world: World) -> None:
    session_id = await begin(world)
    world.append("t", b"a", number=0)
    world.append("t", b"b", number=1)
    first = await world.ask(request(2, session_id, max_bytes=1), VERSION)
    assert list(fetched(first)) == [0]
    second = await world.ask(request(3, session_id, (0, 1), max_bytes=1), VERSION)
    assert offsets_in(fetched(second)[1]) == [0]


async def test_forgotten_partitions_are_looked_at_no_more(world: World) -> None:
    session_id = await begin(world)
    await world.ask(request(2, session_id, forgotten=[1]), VERSION)
    world.append("t", b"a", number=1)
    assert fetched(await world.ask(request(3, session_id), VERSION)) == {}
    assert TopicPartition("t", 1) not in world.broker.waiters._watches
    assert TopicPartition("t", 2) in world.broker.waiters._watches


async def test_of_a_partition_that_its_session_does_not_name_nothing_is_known(
    world: World,
) -> None:
    session_id = await begin(world)
    await world.ask(request(2, session_id, forgotten=[1]), VERSION)
    world.clock.time_ms += LAG_MS + 1
    await world.ask(request(3, session_id), VERSION)
    for number in range(2):
        world.append("t", b"a", number=number)
    await look(world)
    in_sync = [world.partition("t", number).state.isr for number in range(2)]
    assert in_sync == [(0, FOLLOWER), (0,)]


async def test_a_follower_that_has_caught_up_joins_at_once(world: World) -> None:
    alone = PartitionState(1, 0, 1, (0,), 0, (0, FOLLOWER))
    world.partition("t").lead(alone, now_ms=world.clock.now_ms())
    await world.ask(as_follower(fetch(fetch_partition()), FOLLOWER, VERSION), VERSION)
    for _ in range(20):
        await asyncio.sleep(0)
    assert world.partition("t").state.isr == (0, FOLLOWER)


async def test_an_offset_moves_the_high_watermark_and_wakes_others(world: World) -> None:
    session_id = await begin(world)
    world.append("t", b"a", number=0)
    await world.ask(request(2, session_id), VERSION)
    waiting = await world.park(fetch(fetch_partition(0), max_wait_ms=60_000), VERSION)
    await world.ask(request(3, session_id, (0, 1)), VERSION)
    assert offsets_in(fetched(await waiting)[0]) == [0]


async def test_a_partition_that_is_led_elsewhere_is_an_error(world: World) -> None:
    session_id = await begin(world)
    waiting = await world.park(request(2, session_id, max_wait_ms=60_000), VERSION)
    partition = world.partition("t", 1)
    partition.follow(PartitionState(1, FOLLOWER, 2, (FOLLOWER,), 0, (0, FOLLOWER)))
    world.broker.waiters.wake(TopicPartition("t", 1))
    found = fetched(await waiting)[1]
    assert found.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


async def test_an_idle_follower_is_in_sync_until_it_has_asked_for_too_long(world: World) -> None:
    session_id = await begin(world)
    world.clock.time_ms += 10 * LAG_MS
    await world.ask(request(2, session_id), VERSION)
    world.append("t", b"a", number=0)
    await look(world)
    assert world.partition("t").state.isr == (0, FOLLOWER), "it asked only now"
    world.clock.time_ms += LAG_MS
    await look(world)
    assert world.partition("t").state.isr == (0, FOLLOWER)
    world.clock.time_ms += 1
    await look(world)
    assert world.partition("t").state.isr == (0,)


async def test_news_do_not_make_a_follower_late_that_was_idle_until_now(world: World) -> None:
    session_id = await begin(world)
    world.clock.time_ms += 10 * LAG_MS
    await world.ask(request(2, session_id), VERSION)
    world.append("t", b"a", number=0)
    await world.ask(request(3, session_id), VERSION)
    await look(world)
    assert world.partition("t").state.isr == (0, FOLLOWER)


async def test_a_follower_that_asks_but_does_not_get_on_falls_behind(world: World) -> None:
    session_id = await begin(world)
    world.append("t", b"a", number=0)
    for epoch in range(2, 5):
        await world.ask(request(epoch, session_id), VERSION)
        world.clock.time_ms += LAG_MS // 2 + 1
    await look(world)
    assert world.partition("t").state.isr == (0,)


async def test_while_it_waits_for_more_it_is_behind(world: World) -> None:
    session_id = await begin(world)
    world.clock.time_ms += LAG_MS - 1
    world.append("t", b"a", number=0)
    waiting = await world.park(
        request(2, session_id, max_wait_ms=60_000, min_bytes=10_000), VERSION
    )
    world.clock.time_ms += 2
    await look(world)
    assert world.partition("t").state.isr == (0,), "it did not have what there was when it asked"
    waiting.cancel()


async def test_a_partition_that_it_does_not_name_tells_nothing_under_a_new_state(
    world: World,
) -> None:
    session_id = await begin(world)
    partition = world.partition("t")
    alone = PartitionState(1, 0, 1, (0,), 0, (0, FOLLOWER))
    partition.lead(alone, now_ms=world.clock.now_ms())
    world.append("t", b"a")
    assert list(fetched(await world.ask(request(2, session_id), VERSION))) == [0]
    assert partition.followers[FOLLOWER].log_end_offset == -1
    await world.ask(request(3, session_id, (0, 1)), VERSION)
    assert partition.followers[FOLLOWER].log_end_offset == 1


async def test_a_session_that_another_broker_goes_on_with_begins_anew(world: World) -> None:
    state = PartitionState(1, 0, 1, (0, FOLLOWER, 2), 0, (0, FOLLOWER, 2))
    for number in range(4):
        world.partition("t", number).lead(state, now_ms=world.clock.now_ms())
    session_id = await begin(world)
    other = as_follower(in_session(fetch(fetch_partition(1)), session_id, 2), 2, VERSION)
    await world.ask(other, VERSION)
    assert [one.replica_id for one in world.broker.follower_sessions] == [2]
    assert world.partition("t", 1).followers[2].log_end_offset == 0
    watches = world.broker.waiters._watches
    assert [len(watches[TopicPartition("t", number)]) for number in range(4)] == [1] * 4
    world.append("t", b"a", number=3)
    assert list(fetched(await world.ask(request(3, session_id), VERSION))) == [3]


async def test_sessions_that_have_ended_are_watched_no_more(world: World) -> None:
    await begin(world)
    await begin(world)
    world.broker.fetch_sessions._sessions.clear()
    await begin(world)
    assert len(list(world.broker.follower_sessions)) == 1


async def look(world: World) -> None:
    """Have the in-sync sets looked at, and let changes be written."""
    await world.broker.in_sync.look_at_all()
    for _ in range(20):
        await asyncio.sleep(0)
