"""The short way of Fetch gives the handler's answers, or none; it waits as the handler does."""

import asyncio
from collections.abc import AsyncIterator
from types import ModuleType
from typing import Any

import pytest

from moldau.broker.fast import fetch as source
from moldau.broker.fast.fetch_frame import VERSION_MAX, VERSION_MIN
from moldau.broker.metrics.request_times import RequestTimes
from moldau.errors import ErrorCode
from moldau.log.producer_state import Origin
from moldau.protocol.messages.fetch import FetchRequest
from moldau.records.batch import TRANSACTIONAL, Producer, write_batch
from moldau.records.control import EndMarker, write_end_marker
from moldau.records.record import Record
from moldau.replication.partition import PartitionState
from moldau.runtime import native
from moldau.runtime.metrics import Counter, Metrics
from unit.broker.requests import as_follower, fetch, fetch_partition, fetched, offsets_in
from unit.broker.world import CLIENT, START_MS, World, broker_world, bytes_of, frame_of

compiled = native.kernel("moldau.broker.fast._fetch", "moldau.broker.fast.fetch")
FORMS = pytest.mark.parametrize("module", [source, compiled], ids=["source", "compiled"])
VERSIONS = range(VERSION_MIN, VERSION_MAX + 1)
FETCH = 1


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world() as world:
        await world.create_topic("t", 3)
        await world.create_topic("u", 1)
        yield world


def way_of(world: World, module: ModuleType) -> Any:
    counters = {version: Counter() for version in range(18)}
    return module.FetchExpress(world.broker, RequestTimes(Metrics(), "Fetch"), counters)


def topic_of(world: World, version: int, name: str = "t") -> str | bytes:
    return world.broker.metadata.image.topics[name].topic_id if version >= 13 else name


async def handlers_answer(world: World, frame: bytes | bytearray) -> bytes:
    world.dispatcher.wrap(FETCH, lambda handle: handle)
    return bytes_of(await world.respond(CLIENT, frame))


def abort_a_transaction(world: World) -> None:
    log, producer = world.partition("t").log, Producer(7, 0, 0)
    records = [Record(0, START_MS, None, b"x")]
    batch = write_batch(records, attributes=TRANSACTIONAL, producer=producer)
    log.append_as_leader(batch, leader_epoch=0, now_ms=START_MS)
    marker = write_end_marker(
        EndMarker(is_commit=False, coordinator_epoch=0),
        producer_id=7,
        producer_epoch=0,
        timestamp_ms=START_MS,
    )
    log.append_as_leader(marker, leader_epoch=0, now_ms=START_MS, origin=Origin.COORDINATOR)
    log.high_watermark = log.log_end_offset


@FORMS
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("isolation", [0, 1])
async def test_answers_are_the_handlers(
    world: World, module: ModuleType, version: int, isolation: int
) -> None:
    world.append("t", b"a", b"b")
    abort_a_transaction(world)
    world.append("t", b"c" * 50_000, number=1)
    way = way_of(world, module)
    for partitions in (
        [fetch_partition()],
        [fetch_partition(offset=2)],
        [fetch_partition(0, 1), fetch_partition(1), fetch_partition(2)],
        [fetch_partition(1, max_bytes=10), fetch_partition(0, max_bytes=10)],
        [fetch_partition(2), fetch_partition(1), fetch_partition(0, 4, epoch=0)],
    ):
        request = fetch(*partitions, topic=topic_of(world, version))
        request.isolation_level = isolation
        frame = frame_of(request, version)
        answer = way.respond(CLIENT, memoryview(frame))
        assert bytes_of(answer) == await handlers_answer(world, frame)


@FORMS
@pytest.mark.parametrize("version", VERSIONS)
async def test_several_topics_share_what_may_be_sent(
    world: World, module: ModuleType, version: int
) -> None:
    world.append("t", b"a" * 1000)
    world.append("u", b"b" * 1000)
    request = fetch(fetch_partition(0), topic=topic_of(world, version))
    other = fetch(fetch_partition(0), topic=topic_of(world, version, "u"))
    request.topics += other.topics
    for max_bytes in (1, 1_500, 1_000_000):
        request.max_bytes = max_bytes
        frame = frame_of(request, version)
        answer = way_of(world, module).respond(CLIENT, memoryview(frame))
        assert bytes_of(answer) == await handlers_answer(world, frame)


def with_change(**changes: object) -> FetchRequest:
    request = fetch(fetch_partition())
    for name, value in changes.items():
        setattr(request, name, value)
    return request


@FORMS
@pytest.mark.parametrize(
    "request_",
    [
        with_change(min_bytes=2),
        with_change(session_epoch=0),
        with_change(session_id=3, session_epoch=1),
        with_change(rack_id="r"),
        with_change(isolation_level=2),
        with_change(topics=[]),
        as_follower(fetch(fetch_partition()), 1, 12),
        fetch(fetch_partition(), topic="nowhere"),
        fetch(fetch_partition(9)),
        fetch(fetch_partition(0), fetch_partition(0)),
        fetch(fetch_partition(offset=5)),
        fetch(fetch_partition(offset=-1)),
        fetch(fetch_partition(epoch=7)),
        fetch(fetch_partition(last_fetched_epoch=0)),
        fetch(*map(fetch_partition, range(65))),
    ],
)
async def test_what_is_not_plain_is_left_alone(
    world: World, module: ModuleType, request_: FetchRequest
) -> None:
    frame = memoryview(frame_of(request_, 12))
    assert way_of(world, module).respond(CLIENT, frame) is None
    assert world.broker.waiters.counts["Fetch"] == 0


@FORMS
async def test_who_does_not_lead_is_left_alone(world: World, module: ModuleType) -> None:
    world.partition("t").follow(PartitionState(1, 1, 2, (0, 1), 0, (0, 1)))
    frame = memoryview(frame_of(fetch(fetch_partition()), 11))
    assert way_of(world, module).respond(CLIENT, frame) is None


# Waiting, through the dispatcher


def waiting(*partitions: Any, max_wait_ms: int = 600_000) -> FetchRequest:
    request = fetch(*partitions)
    request.max_wait_ms, request.min_bytes = max_wait_ms, 1
    return request


async def test_a_record_ends_the_wait(world: World) -> None:
    asking = await world.park(waiting(fetch_partition(0), fetch_partition(1)), 11)
    assert world.broker.waiters.counts["Fetch"] == 1
    world.append("t", b"a", number=1)
    answers = fetched(await asking)
    assert offsets_in(answers[1]) == [0]
    assert answers[0].records == b""
    assert world.broker.waiters.counts["Fetch"] == 0
    text = world.broker.metrics.text()
    assert 'requests_total{request="Fetch",version="11"} 1' in text
    assert 'remotetimems_count{request="Fetch"} 1' in text


async def test_the_wait_ends_with_its_time(world: World) -> None:
    asking = await world.park(waiting(fetch_partition(), max_wait_ms=1), 12)
    answer = fetched(await asking)[0]
    assert (answer.error_code, answer.records) == (ErrorCode.NONE, b"")
    assert world.broker.waiters.counts["Fetch"] == 0


async def test_a_wake_without_news_does_not_end_the_wait(world: World) -> None:
    asking = await world.park(waiting(fetch_partition()), 11)
    for _ in range(3):
        world.broker.waiters.wake(world.partition("t").topic_partition)
        await asyncio.sleep(0)
        assert not asking.done()
    world.append("t", b"a")
    assert offsets_in(fetched(await asking)[0]) == [0]


async def test_who_stops_leading_tells_those_who_wait(world: World) -> None:
    asking = await world.park(waiting(fetch_partition()), 10)
    partition = world.partition("t")
    partition.follow(PartitionState(1, 1, 2, (0, 1), 0, (0, 1)))
    world.broker.waiters.wake(partition.topic_partition)
    assert fetched(await asking)[0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert 'requests_total{request="Fetch",version="10"} 1' in world.broker.metrics.text()


async def test_who_hangs_up_waits_no_more(world: World) -> None:
    asking = await world.park(waiting(fetch_partition()), 11)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    assert world.broker.waiters.counts["Fetch"] == 0
    world.append("t", b"a")
