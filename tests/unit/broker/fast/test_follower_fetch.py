"""The short way of followers' fetches gives the handler's answers, or none, and leaves the same."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

import pytest

from moldau.broker.fast import follower_fetch as source
from moldau.broker.metrics.request_times import RequestTimes
from moldau.errors import ErrorCode
from moldau.net.answer import Parked
from moldau.replication.partition import PartitionState
from moldau.runtime import native
from moldau.runtime.metrics import Counter, Metrics
from unit.broker.requests import as_follower, fetch, fetch_partition, fetched, in_session
from unit.broker.world import CLIENT, World, broker_world, bytes_of, frame_of, response_of

compiled = native.kernel("moldau.broker.fast._follower_fetch", "moldau.broker.fast.follower_fetch")
FORMS = pytest.mark.parametrize("module", [source, compiled], ids=["source", "compiled"])
VERSIONS = pytest.mark.parametrize("version", range(12, 18))
FETCH = 1
FOLLOWER = 1
COUNT = 3


def lead(world: World, number: int, epoch: int = 1) -> None:
    state = PartitionState(1, 0, epoch, (0, FOLLOWER), 0, (0, FOLLOWER))
    world.partition("t", number).lead(state, now_ms=world.clock.now_ms())


@asynccontextmanager
async def leading_world() -> AsyncIterator[World]:
    async with broker_world() as world:
        await world.create_topic("t", COUNT)
        for number in range(COUNT):
            lead(world, number)
        yield world


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with leading_world() as world:
        yield world


@pytest.fixture
async def twin() -> AsyncIterator[World]:
    """The same, where the handler answers everything."""
    async with leading_world() as world:
        world.dispatcher.wrap(FETCH, lambda handle: handle)
        yield world


def frame(world: World, version: int, session: tuple[int, int], *moved: Any, **rest: Any) -> Any:
    """A request with partitions and their offsets, and what else is known of them."""
    topic = world.broker.metadata.image.topics["t"].topic_id if version >= 13 else "t"
    partitions = [
        fetch_partition(number, offset, epoch=epoch, last_fetched_epoch=last_epoch)
        for number, offset, epoch, last_epoch in moved
    ]
    made = in_session(fetch(*partitions, topic=topic, **rest), *session)
    return frame_of(as_follower(made, FOLLOWER, version), version)


async def begin(world: World, version: int) -> int:
    """A session with all partitions, after its first incremental request."""
    everything = [(number, 0, 1, -1) for number in range(COUNT)]
    parts = await world.respond(CLIENT, frame(world, version, (0, 0), *everything))
    session_id: int = response_of(parts, FETCH, version).session_id
    await world.respond(CLIENT, frame(world, version, (session_id, 1)))
    return session_id


def way_of(world: World, module: ModuleType) -> Any:
    counters = {version: Counter() for version in range(18)}
    return module.FollowerExpress(world.broker, RequestTimes(Metrics(), "Fetch"), counters)


def known_of(world: World) -> list[Any]:
    """What a leader knows of its follower."""
    return [
        (world.partition("t", number).log.high_watermark, world.partition("t", number).followers)
        for number in range(COUNT)
    ]


def sent_by(world: World) -> list[float]:
    """What the counters say of all that was sent."""
    traffic = world.broker.traffic
    of_topic = [counter.value for counter in (*traffic.all, *traffic.of("t"))]
    return [traffic.replication_bytes_out.value, *of_topic]


@FORMS
@VERSIONS
async def test_answers_and_what_they_leave_are_the_handlers(
    world: World, twin: World, module: ModuleType, version: int
) -> None:
    session_id = await begin(world, version)
    assert await begin(twin, version) == session_id
    way, draw, has = way_of(world, module), random.Random(version), [0] * COUNT
    short = 0
    for epoch in range(2, 150):
        for each in (world, twin):
            each.clock.time_ms += 10
        if draw.random() < 0.7:
            number, value = draw.randrange(COUNT), bytes(draw.choice((10, 10, 40_000)))
            world.append("t", value, number=number)
            twin.append("t", value, number=number)
        moved = []
        for number in range(COUNT):
            if draw.random() < 0.6:
                has[number] = world.partition("t", number).log.log_end_offset
                odd = draw.random() < 0.05
                moved.append((number, has[number] + odd, 1 + (draw.random() < 0.05), 1))
        asked = frame(world, version, (session_id, epoch), *moved, max_bytes=draw.choice((1, 9999)))
        answer = way.respond(CLIENT, memoryview(asked))
        assert not isinstance(answer, Parked)
        if answer is None:
            answer = await world.respond(CLIENT, asked)
        else:
            short += 1
        assert bytes_of(answer) == bytes_of(await twin.respond(CLIENT, asked))
        assert known_of(world) == known_of(twin)
    assert short > 75
    assert sent_by(world) == sent_by(twin)
    assert sent_by(world)[0] > 40_000


async def parked(
    world: World, module: ModuleType, session_id: int, epoch: int = 2
) -> tuple[Any, list[Any]]:
    """A request of the session that waits, and what the connection is told of it."""
    asked = frame(world, 17, (session_id, epoch), max_wait_ms=60_000)
    waiting = way_of(world, module).respond(CLIENT, memoryview(asked))
    assert isinstance(waiting, Parked)
    told: list[Any] = []
    waiting.unpark = lambda: told.append(waiting.answer())
    waiting.otherwise = lambda: world.dispatcher.respond(CLIENT, memoryview(asked))
    return waiting, told


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


@FORMS
async def test_records_end_the_wait(world: World, module: ModuleType) -> None:
    _, told = await parked(world, module, await begin(world, 17))
    assert world.broker.waiters.counts["Fetch"] == 1
    world.append("t", b"a", number=1)
    world.append("t", b"b", number=2)
    await settle()
    (answer,) = told
    assert list(fetched(response_of(answer, FETCH, 17))) == [1, 2]
    assert world.broker.waiters.counts["Fetch"] == 0


@FORMS
async def test_a_moved_high_watermark_does_not(world: World, module: ModuleType) -> None:
    waiting, told = await parked(world, module, await begin(world, 17))
    partition = world.partition("t")
    partition.log.high_watermark = 7
    world.broker.waiters.wake_committed(partition.topic_partition)
    await settle()
    assert told == []
    waiting.time_out()
    (answer,) = told
    assert fetched(response_of(answer, FETCH, 17))[0].high_watermark == 7, "but it is told then"
    assert world.broker.waiters.counts["Fetch"] == 0


@FORMS
async def test_one_who_has_gone_waits_no_more(world: World, module: ModuleType) -> None:
    waiting, told = await parked(world, module, await begin(world, 17))
    waiting.cancel()
    world.append("t", b"a")
    await settle()
    assert told == []
    assert world.broker.waiters.counts["Fetch"] == 0


@FORMS
async def test_nothing_is_the_answer_when_the_time_is_up(world: World, module: ModuleType) -> None:
    waiting, told = await parked(world, module, await begin(world, 17))
    waiting.time_out()
    waiting.time_out()
    (answer,) = told
    assert fetched(response_of(answer, FETCH, 17)) == {}


def lose_leadership(world: World) -> None:
    state = PartitionState(1, FOLLOWER, 2, (FOLLOWER,), 0, (0, FOLLOWER))
    world.partition("t", 1).follow(state)


def lead_anew(world: World) -> None:
    lead(world, 1, epoch=2)


@FORMS
@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lose_leadership, ErrorCode.FENCED_LEADER_EPOCH),
        (lead_anew, ErrorCode.FENCED_LEADER_EPOCH),
    ],
)
async def test_after_the_wait_the_handler_tells_of_errors(
    world: World, module: ModuleType, change: Callable[[World], None], code: ErrorCode
) -> None:
    session_id = await begin(world, 17)
    waiting, told = await parked(world, module, session_id)
    name = world.partition("t", 1).topic_partition
    change(world)
    world.broker.waiters.wake(name)
    await settle()
    assert told == [None]
    answer = waiting.otherwise()
    assert fetched(response_of(answer, FETCH, 17))[1].error_code == code
    next_ = await world.respond(CLIENT, frame(world, 17, (session_id, 3)))
    assert response_of(next_, FETCH, 17).error_code == ErrorCode.NONE


@FORMS
async def test_what_is_not_plain_changes_nothing(world: World, module: ModuleType) -> None:
    session_id = await begin(world, 17)
    way, before = way_of(world, module), known_of(world)
    world.append("t", b"a")
    for asked in (
        frame(world, 17, (session_id, 1)),
        frame(world, 17, (session_id + 1, 2)),
        frame(world, 17, (session_id, 2), (7, 0, 1, -1)),
        frame(world, 17, (session_id, 2), (0, 5, 1, -1)),
        frame(world, 17, (session_id, 2), (0, 0, 2, -1)),
        frame(world, 17, (session_id, 2), (0, 1, 1, 0)),
        frame(world, 16, (session_id, 2), (0, 1, 1, 7), min_bytes=100),
    ):
        assert way.respond(CLIENT, memoryview(asked)) is None
        assert known_of(world) == before
    answer = way.respond(CLIENT, memoryview(frame(world, 17, (session_id, 2), (0, 1, 1, 1))))
    assert list(fetched(response_of(answer, FETCH, 17))) == [0]
    assert world.partition("t").log.high_watermark == 1


@FORMS
async def test_a_request_that_is_given_up_does_not_take_the_next_one_with_it(
    world: World, module: ModuleType
) -> None:
    session_id = await begin(world, 17)
    first, told_first = await parked(world, module, session_id)
    _, told = await parked(world, module, session_id, 3)
    first.cancel()
    world.append("t", b"a")
    await settle()
    assert told_first == []
    assert len(told) == 1
    assert world.broker.waiters.counts["Fetch"] == 0
