"""The fast path of Fetch: the handler's answers byte by byte, and what it leaves to the handler."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import astuple
from typing import Any

import pytest

from moldau.broker.fast.shortcuts import FETCH
from moldau.broker.requests.fetch import PARTITIONS_AT_ONCE_MAX
from moldau.errors import ErrorCode
from moldau.metadata.image import ClusterImage
from moldau.net.answer import Parked
from moldau.replication.partition import PartitionState
from moldau.replication.read_replica import RACK_AWARE
from unit.broker.sample_requests import (
    as_follower,
    fetch,
    fetch_partition,
    fetched,
    in_session,
    offsets_in,
    records_of,
)
from unit.broker.ways import Way
from unit.broker.world import CLIENT, World, broker_world, bytes_of, frame_of, response_of

COUNT = 3
FOLLOWER = 1
VERSIONS = range(10, 18)
FAST_WAYS = pytest.mark.parametrize("way", [Way.FAST, Way.UNCOMPILED])


def lead(world: World, number: int = 0, *, epoch: int = 1) -> None:
    state = PartitionState(1, 0, epoch, (0, FOLLOWER), 0, (0, FOLLOWER))
    world.partition("t", number).lead(state, now_ms=world.clock.now_ms())


@asynccontextmanager
async def world_of(
    way: Way, settings: dict[str, str] | None = None, *, leaves: int = 0
) -> AsyncIterator[World]:
    """A broker whose fast path has to leave so many of the requests to the handler."""
    async with broker_world(settings, way=way) as world:
        await world.create_topic("t", COUNT)
        await world.create_topic("u")
        yield world
        if way is not Way.HANDLER:
            assert world.fast_paths.left[FETCH] == leaves
            assert world.fast_paths.answered[FETCH] > 0 or leaves


def topic_of(world: World, version: int, name: str = "t") -> str | bytes:
    return world.broker.metadata.image.topics[name].topic_id if version >= 13 else name


# Answers


class Pair:
    """Two brokers that are alike: one answers on the fast path, the other by its handler."""

    def __init__(self, fast: World, handler: World, version: int) -> None:
        self.worlds = fast, handler
        self.version = version

    def append(self, value: bytes, number: int) -> None:
        for world in self.worlds:
            world.append("t", value, number=number)

    async def ask(self, request: Any) -> Any:
        """The answer of both, which is the same and leaves the same."""
        frame = frame_of(request, self.version)
        fast, handled = [bytes_of(await world.respond(CLIENT, frame)) for world in self.worlds]
        assert fast == handled
        assert known_of(self.worlds[0]) == known_of(self.worlds[1])
        return response_of([fast], FETCH, self.version)


def known_of(world: World) -> list[Any]:
    """What a leader knows of its followers, and has counted."""
    partitions = [world.partition("t", number) for number in range(COUNT)]
    traffic = world.broker.traffic
    return [
        *((one.log.high_watermark, one.followers) for one in partitions),
        *(each.value for one in (traffic.all, *map(traffic.of, "tu")) for each in astuple(one)),
        traffic.replication_bytes_out.value,
    ]


@asynccontextmanager
async def pair_of(way: Way, version: int) -> AsyncIterator[Pair]:
    async with world_of(way) as fast, world_of(Way.HANDLER) as handler:
        yield Pair(fast, handler, version)


@FAST_WAYS
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("isolation", [0, 1])
async def test_consumers_get_the_handlers_answers(way: Way, version: int, isolation: int) -> None:
    async with pair_of(way, version) as pair:
        pair.append(b"a", 0)
        pair.append(b"c" * 50_000, 1)
        topic = topic_of(pair.worlds[0], version)
        for partitions in (
            [fetch_partition()],
            [fetch_partition(offset=1)],
            [fetch_partition(0, 1), fetch_partition(1), fetch_partition(2)],
            [fetch_partition(1, max_bytes=10), fetch_partition(0, max_bytes=10)],
            [fetch_partition(2), fetch_partition(9), fetch_partition(0, 4), fetch_partition(1)],
            [fetch_partition(0, epoch=7), fetch_partition(1, -1)],
            [fetch_partition(0), fetch_partition(0, 1)],
        ):
            for max_bytes in (1, 50_100, 1_000_000):
                await pair.ask(
                    fetch(*partitions, topic=topic, max_bytes=max_bytes, isolation=isolation)
                )
        other = fetch(fetch_partition(), topic=topic_of(pair.worlds[0], version, "u"))
        several = fetch(fetch_partition(1), topic=topic)
        several.topics += other.topics + fetch(fetch_partition(0), topic=topic).topics
        assert len((await pair.ask(several)).responses) == 2 + 1


@FAST_WAYS
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("replica_id", [-1, FOLLOWER])
async def test_sessions_get_the_handlers_answers(way: Way, version: int, replica_id: int) -> None:
    draw, has = random.Random(version), [0] * COUNT
    async with pair_of(way, version) as pair:
        fast = pair.worlds[0]
        for world in pair.worlds:
            for number in range(COUNT):
                lead(world, number)

        async def ask(session: tuple[int, int], *partitions: Any, **rest: Any) -> Any:
            made = fetch(*partitions, topic=topic_of(fast, version), **rest)
            return await pair.ask(as_follower(in_session(made, *session), replica_id, version))

        session_id = (await ask((0, 0), *map(fetch_partition, range(COUNT)))).session_id
        assert session_id
        for epoch in range(1, 120):
            for world in pair.worlds:
                world.clock.time_ms += 10
            if draw.random() < 0.7:
                pair.append(bytes(draw.choice((10, 10, 40_000))), draw.randrange(COUNT))
            moved = []
            for number in range(COUNT):
                if draw.random() < 0.6:
                    has[number] = fast.partition("t", number).log.log_end_offset
                    offset = has[number] + (draw.random() < 0.05)
                    leader_epoch = 1 + (draw.random() < 0.05)
                    last = draw.choice((-1, 0, 1)) if version >= 12 else -1
                    moved.append(
                        fetch_partition(number, offset, epoch=leader_epoch, last_fetched_epoch=last)
                    )
            await ask((session_id, epoch), *moved, max_bytes=draw.choice((1, 9999)))
        assert fast.broker.traffic.all.failed_fetch_requests.value > 5


# Rules that the first request of an API would not show


@FAST_WAYS
async def test_the_id_of_an_earlier_topic_is_refused(way: Way) -> None:
    async with world_of(way) as world:
        image = world.broker.metadata.image
        names = {**image.names_by_id, b"old topic's id..": "t"}
        world.broker.metadata.image = ClusterImage(0, image.brokers, image.topics, names)
        request = fetch(fetch_partition(), topic=b"old topic's id..")
        for version in (13, 16):
            data = fetched(await world.ask(request, version))[0]
            assert data.error_code == ErrorCode.INCONSISTENT_TOPIC_ID


@FAST_WAYS
async def test_a_directory_that_is_offline_is_an_error(way: Way) -> None:
    async with world_of(way) as world:
        world.append("t", b"a")
        world.partition("t").log.folder.volume.fail(OSError("gone"))
        for offset in (0, 1):
            request = fetch(fetch_partition(offset=offset), max_wait_ms=60_000)
            data = fetched(await world.ask(request, 12))[0]
            assert data.error_code == ErrorCode.KAFKA_STORAGE_ERROR


@FAST_WAYS
async def test_the_brokers_own_limit_holds(way: Way) -> None:
    async with world_of(way, {"fetch.max.bytes": "1500"}) as world:
        for number in range(2):
            world.append("t", bytes(1_000), number=number)
        answers = fetched(await world.ask(fetch(*map(fetch_partition, range(2))), 12))
        assert [len(records_of(one)) > 0 for one in answers.values()] == [True, False]


@FAST_WAYS
@pytest.mark.parametrize("version", VERSIONS)
async def test_of_a_partition_named_twice_the_last_word_counts(way: Way, version: int) -> None:
    async with world_of(way) as world:
        for _ in range(3):
            world.append("t", b"a")
        twice = fetch(fetch_partition(0, 0), fetch_partition(0, 2), topic=topic_of(world, version))
        (topic,) = (await world.ask(twice, version)).responses
        (data,) = topic.partitions
        assert offsets_in(data) == [2]


@FAST_WAYS
async def test_a_leader_is_hinted_at_and_so_is_where_logs_part(way: Way) -> None:
    async with world_of(way) as world:
        lead(world, epoch=3)
        world.append("t", b"a")
        behind = fetch_partition(epoch=1)
        response = await world.ask(fetch(behind, topic=topic_of(world, 16)), 16)
        assert fetched(response)[0].current_leader is not None
        assert [node.host for node in response.node_endpoints] == ["10.0.0.1"]
        parted = fetch_partition(offset=9, epoch=3, last_fetched_epoch=3)
        data = fetched(await world.ask(as_follower(fetch(parted), FOLLOWER, 12), 12))[0]
        assert data.diverging_epoch is not None
        assert data.diverging_epoch.end_offset == 1


@FAST_WAYS
async def test_consumers_with_a_rack_are_served(way: Way) -> None:
    settings = {"replica.selector.class": RACK_AWARE, "broker.rack": "here"}
    async with world_of(way, settings) as world:
        world.append("t", b"a")
        request = fetch(fetch_partition())
        request.rack_id = "here"
        assert offsets_in(fetched(await world.ask(request, 12))[0]) == [0]


# Waiting


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def parked(world: World, request: Any, version: int = 12) -> tuple[Any, list[Any]]:
    """A request that waits, and a list of the answers that its connection asks for."""
    waiting = world.begin(CLIENT, frame_of(request, version))
    assert isinstance(waiting, Parked)
    answers: list[Any] = []
    waiting.unpark = lambda: answers.append(response_of(waiting.answer() or [], FETCH, version))
    return waiting, answers


@FAST_WAYS
async def test_records_end_the_wait_once_there_are_enough(way: Way) -> None:
    async with world_of(way) as world:
        partitions = fetch_partition(0), fetch_partition(1)
        _, answers = parked(world, fetch(*partitions, max_wait_ms=60_000, min_bytes=100))
        assert world.broker.waiters.counts["Fetch"] == 1
        world.append("t", b"a", number=1)
        await settle()
        assert answers == []
        world.append("t", bytes(50), number=0)
        await settle()
        (answer,) = answers
        assert [offsets_in(one) for one in fetched(answer).values()] == [[0], [0]]
        assert world.broker.waiters.counts["Fetch"] == 0
        text = world.broker.metrics.text()
        assert 'requests_total{request="Fetch",version="12"} 1' in text
        assert 'remotetimems_count{request="FetchConsumer"} 1' in text
        assert world.broker.traffic.all.fetch_requests.value == 2


@FAST_WAYS
async def test_a_session_of_a_consumer_waits_and_forgets(way: Way) -> None:
    async with world_of(way) as world:
        whole = in_session(fetch(*map(fetch_partition, range(COUNT))), 0, 0)
        session_id = (await world.ask(whole, 12)).session_id
        later = in_session(fetch(max_wait_ms=60_000), session_id, 1, forgotten=[0])
        _, answers = parked(world, later)
        world.append("t", b"a", number=0)
        await settle()
        assert answers == []
        world.append("t", b"a", number=1)
        await settle()
        assert list(fetched(answers[0])) == [1]
        assert answers[0].session_id == session_id


@FAST_WAYS
@pytest.mark.parametrize("replica_id", [-1, FOLLOWER])
async def test_an_error_ends_the_wait(way: Way, replica_id: int) -> None:
    async with world_of(way) as world:
        lead(world)
        request = as_follower(fetch(fetch_partition(epoch=1), max_wait_ms=60_000), replica_id, 12)
        _, answers = parked(world, request)
        lead(world, epoch=2)
        world.broker.waiters.wake(world.partition("t").topic_partition)
        await settle()
        assert fetched(answers[0])[0].error_code == ErrorCode.FENCED_LEADER_EPOCH


@FAST_WAYS
async def test_who_has_gone_waits_no_more(way: Way) -> None:
    async with world_of(way) as world:
        waiting, answers = parked(world, fetch(fetch_partition(), max_wait_ms=60_000))
        world.broker.waiters.wake(world.partition("t").topic_partition)
        waiting.cancel()
        waiting.cancel()
        world.append("t", b"a")
        await settle()
        assert answers == []
        assert world.broker.waiters.counts["Fetch"] == 0


@FAST_WAYS
async def test_a_failure_while_it_waits_ends_the_connection(way: Way) -> None:
    async with world_of(way) as world:
        request = frame_of(fetch(fetch_partition(), max_wait_ms=60_000), 12)
        waiting = world.begin(CLIENT, request)
        assert isinstance(waiting, Parked)
        over = asyncio.Event()
        waiting.unpark = over.set
        broker, name = world.broker, world.partition("t").topic_partition
        replicas, broker.replicas = broker.replicas, None  # type: ignore[assignment]
        broker.waiters.wake(name)
        await over.wait()
        with pytest.raises(AttributeError):
            waiting.answer()
        broker.replicas = replicas
        assert broker.waiters.counts["Fetch"] == 0


# What is left to the handler


async def refuse_session(world: World) -> Any:
    response = await world.ask(in_session(fetch(fetch_partition()), 12345, 1), 12)
    assert response.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert fetched(response)[0].error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


async def ask_old_version(world: World) -> Any:
    assert offsets_in(fetched(await world.ask(fetch(fetch_partition()), 9))[0]) == [0]


async def ask_for_many(world: World) -> Any:
    many = fetch(*map(fetch_partition, range(PARTITIONS_AT_ONCE_MAX + 1)))
    assert len(fetched(await world.ask(many, 12))) == PARTITIONS_AT_ONCE_MAX + 1


@FAST_WAYS
@pytest.mark.parametrize("ask", [refuse_session, ask_old_version, ask_for_many])
async def test_the_handler_answers_the_rest_once(way: Way, ask: Callable[[World], Any]) -> None:
    async with world_of(way, leaves=1) as world:
        world.append("t", b"a")
        await ask(world)


@FAST_WAYS
async def test_times_are_those_of_the_sender(way: Way) -> None:
    async with world_of(way) as world:
        lead(world)
        await world.ask(fetch(fetch_partition()), 12)
        await world.ask(as_follower(fetch(fetch_partition()), FOLLOWER, 12), 12)
        text = world.broker.metrics.text()
        assert 'totaltimems_count{request="FetchConsumer"} 1' in text
        assert 'totaltimems_count{request="FetchFollower"} 1' in text
