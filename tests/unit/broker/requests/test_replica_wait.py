"""Produce waits for other replicas, whichever codec has read the request."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from moldau.broker.requests.replica_wait import ReplicaWait
from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.net.answer import Later, Promised
from moldau.records.batch import Producer, write_batch
from moldau.records.record import Record
from moldau.replication.partition import Partition, PartitionState
from unit.broker.sample_requests import produce, produced
from unit.broker.world import (
    CLIENT,
    START_MS,
    World,
    batch_of,
    broker_world,
    bytes_of,
    frame_of,
    kept,
    response_of,
)
from unit.net.test_connection import connect, listening

PRODUCE = 0
VERSIONS = (5, 8, 9, 10, 11)
LEADING = PartitionState(1, 0, 1, (0, 1, 2), 0, (0, 1, 2))
FOLLOWING = PartitionState(1, 1, 2, (1,), 0, (0, 1, 2))
WAITED_MS = 7


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world() as world:
        await prepare(world)
        yield world


async def prepare(world: World, version: int = 9) -> None:
    """Two partitions with two followers each; a version's first request is the handler's."""
    await world.create_topic("t", 2, {"min.insync.replicas": "2"})
    for number in range(2):
        world.partition("t", number).lead(LEADING, now_ms=START_MS)
    await world.ask(produce(batch_of(b"before")), version)


def acks_all(*values: bytes, number: int = 0, timeout_ms: int = 600_000) -> Any:
    return produce(batch_of(*values), acks=-1, number=number, timeout_ms=timeout_ms)


def promise(world: World, request: Any, version: int = 9) -> Promised:
    answer = world.begin(CLIENT, frame_of(request, version))
    assert isinstance(answer, Promised)
    return answer


def follow(world: World, *, number: int = 0) -> None:
    """Both followers have fetched all there is."""
    partition = world.partition("t", number)
    end_offset = partition.log.log_end_offset
    for replica in (1, 2):
        if partition.note_fetch(replica, end_offset, log_start_offset=0, now_ms=START_MS):
            world.broker.waiters.wake(partition.topic_partition)


def is_watched(world: World) -> bool:
    return TopicPartition("t", 0) in world.broker.waiters._watchers


# What may happen during a wait; the deadline in milliseconds


def commit(world: World) -> None:
    follow(world)


def lose_leadership(world: World) -> None:
    change(world, lambda partition: partition.follow(FOLLOWING))


def lose_followers(world: World) -> None:
    def happen(partition: Partition) -> None:
        partition.log.raise_high_watermark(partition.log.log_end_offset)
        partition.state = partition.state._replace(isr=(0,))

    change(world, happen)


def give_up_the_replica(world: World) -> None:
    change(world, lambda partition: partition.leave())


def change(world: World, happen: Callable[[Partition], object]) -> None:
    partition = world.partition("t")
    happen(partition)
    world.broker.waiters.wake(partition.topic_partition)


def nothing(_: World) -> None:
    pass


async def test_another_in_sync_set_alone_ends_no_wait(world: World) -> None:
    promised = promise(world, acks_all(b"a"))
    told: list[Promised] = []
    promised.notify = told.append

    def shrink(partition: Partition) -> None:
        partition.state = partition.state._replace(isr=(0, 1), partition_epoch=1)

    change(world, shrink)
    assert told == []
    follow(world)
    assert told == [promised]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("event", "timeout_ms", "error"),
    [
        (commit, 600_000, ErrorCode.NONE),
        (lose_leadership, 600_000, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (give_up_the_replica, 600_000, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (lose_followers, 600_000, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND),
        (nothing, 1, ErrorCode.REQUEST_TIMED_OUT),
    ],
)
async def test_both_ways_say_and_count_the_same(
    version: int, event: Callable[[World], None], timeout_ms: int, error: ErrorCode
) -> None:
    told = []
    for is_fast in (True, False):
        async with broker_world() as world:
            await prepare(world, version)
            if not is_fast:
                world.dispatcher.wrap(PRODUCE, lambda handle: handle)
            request = acks_all(b"a", b"b", timeout_ms=timeout_ms)
            frame = frame_of(request, version)
            begun = world.dispatcher.respond(CLIENT, memoryview(frame))
            assert isinstance(begun, Promised if is_fast else Later)
            waiting = asyncio.create_task(outcome_of(begun))
            await asyncio.sleep(0)
            assert world.broker.waiters.counts["Produce"] == 1
            world.clock.time_ms += WAITED_MS
            event(world)
            answer = bytes_of(await waiting)
            assert world.broker.waiters.counts["Produce"] == 0
            assert not is_watched(world)
            told.append((answer, counted(world)))
    assert told[0] == told[1]
    response = response_of([told[0][0]], PRODUCE, version)
    partition = produced(response)
    assert (partition.error_code, partition.base_offset) == (error, 1)
    if version >= 10 and error is ErrorCode.NOT_LEADER_OR_FOLLOWER:
        assert partition.current_leader is not None
        is_known = event is not lose_leadership  # by an address, too
        assert partition.current_leader.leader_id == (0 if is_known else FOLLOWING.leader)
        assert len(response.node_endpoints) == is_known


async def outcome_of(begun: Any) -> Any:
    return await (begun.rest if isinstance(begun, Later) else kept(begun))


def counted(world: World) -> list[str]:
    """The metrics of what came in, and how long it took."""
    lines = [
        line
        for line in world.broker.metrics.text().splitlines()
        if 'request="Produce"' in line or "brokertopicmetrics" in line or "purgatory" in line
    ]
    assert any("remotetimems" in line for line in lines)
    assert any("bytesin" in line for line in lines)
    return lines


async def test_a_wake_without_news_does_not_end_the_wait(world: World) -> None:
    promised = promise(world, acks_all(b"a"))
    waiting = asyncio.create_task(kept(promised))
    await asyncio.sleep(0)
    partition = world.partition("t")
    partition.note_fetch(1, 2, log_start_offset=0, now_ms=START_MS)
    world.broker.waiters.wake(partition.topic_partition)
    partition.state = partition.state._replace(partition_epoch=1)
    world.broker.waiters.wake(partition.topic_partition)
    assert promised.outcome is None
    follow(world)
    assert produced(response_of(await waiting, PRODUCE, 9)).error_code == ErrorCode.NONE


async def test_records_that_come_after_are_not_waited_for(world: World) -> None:
    first = promise(world, acks_all(b"a"))
    told: list[object] = []
    first.notify = told.append
    second = promise(world, acks_all(b"b"))
    second.notify = told.append
    partition = world.partition("t")
    for replica in (1, 2):
        partition.note_fetch(replica, 2, log_start_offset=0, now_ms=START_MS)
    world.broker.waiters.wake(partition.topic_partition)
    assert told == [first]
    assert world.broker.waiters.counts["Produce"] == 1
    follow(world)
    assert told == [first, second]
    assert world.broker.waiters.counts["Produce"] == 0


async def test_a_batch_that_is_sent_again_waits_for_the_first(world: World) -> None:
    def batch() -> bytearray:
        rows = [Record(n, START_MS - 9, None, b"v", ()) for n in range(2)]
        return write_batch(rows, producer=Producer(7, 0, 0))

    promises = [
        promise(world, produce(batch(), acks=-1, timeout_ms=600_000)),
        promise(world, acks_all(b"between")),
        promise(world, produce(batch(), acks=-1, timeout_ms=600_000)),
    ]
    told: list[object] = []
    for promised in promises:
        promised.notify = told.append
    partition = world.partition("t")
    assert partition.log.log_end_offset == 4
    for replica in (1, 2):
        partition.note_fetch(replica, 3, log_start_offset=0, now_ms=START_MS)
    world.broker.waiters.wake(partition.topic_partition)
    assert told == [promises[0], promises[2]]
    answers = [produced(response_of(await kept(one), PRODUCE, 9)) for one in promises[::2]]
    assert [answer.base_offset for answer in answers] == [1, 1]
    assert [answer.log_append_time_ms for answer in answers] == [-1, START_MS - 9]
    promises[1].cancel()


async def test_who_has_hung_up_is_not_told(world: World) -> None:
    promised = promise(world, acks_all(b"a"))
    for _ in range(2):
        promised.cancel()
        assert world.broker.waiters.counts["Produce"] == 0
        assert not is_watched(world)
    follow(world)
    assert promised.outcome is None


async def test_a_wait_that_is_over_leaves_no_timer_behind(world: World) -> None:
    wait = ReplicaWait([], world.broker.waiters, 60, lambda *_: None, lambda: None)
    timer = wait._timer
    wait.cancel()
    assert timer is not None
    assert timer.cancelled()


async def test_the_end_of_a_wait_is_told_once(world: World) -> None:
    told: list[str] = []
    wait = ReplicaWait([], world.broker.waiters, 60, lambda *_: None, lambda: told.append("over"))
    for _ in range(2):
        wait.note(None)
        assert told == ["over"]


async def test_an_answer_that_cannot_be_given_is_no_concern_of_who_wakes_it(world: World) -> None:
    promised = promise(world, acks_all(b"a"), 11)
    told: list[object] = []
    promised.notify = told.append
    del world.broker.metadata.image  # the hints need it
    lose_leadership(world)
    assert told == [promised]
    assert isinstance(promised.outcome, AttributeError)


@pytest.mark.parametrize("timeout_ms", [0, -1])
async def test_who_has_no_time_to_wait_is_told_so_at_once(world: World, timeout_ms: int) -> None:
    response = await world.ask(acks_all(b"a", timeout_ms=timeout_ms), 9)
    assert produced(response).error_code == ErrorCode.REQUEST_TIMED_OUT
    assert world.partition("t").log.log_end_offset == 2


async def test_all_partitions_are_waited_for_whatever_their_order(world: World) -> None:
    for first in (0, 1):
        request = acks_all(b"a", number=0)
        request.topic_data += acks_all(b"b", number=1).topic_data
        promised = promise(world, request)
        told: list[object] = []
        promised.notify = told.append
        follow(world, number=first)
        assert not told
        follow(world, number=1 - first)
        assert told == [promised]
        assert not is_watched(world)


async def test_one_partition_may_fail_where_the_other_is_committed(world: World) -> None:
    request = acks_all(b"a", number=0)
    request.topic_data += acks_all(b"b", number=1).topic_data
    promised = promise(world, request)
    waiting = asyncio.create_task(kept(promised))
    await asyncio.sleep(0)
    follow(world, number=1)
    lose_leadership(world)
    response = response_of(await waiting, PRODUCE, 9)
    codes = [topic.partition_responses[0].error_code for topic in response.responses]
    assert codes == [ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NONE]


# On a connection


def framed(request: Any, correlation_id: int) -> bytes:
    frame = frame_of(request, 9)
    frame[4:8] = correlation_id.to_bytes(4, "big")
    return len(frame).to_bytes(4, "big") + bytes(frame)


async def until(is_reached: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not is_reached():
            await asyncio.sleep(0)


async def test_answers_keep_the_order_of_their_requests(world: World) -> None:
    counts = world.broker.waiters.counts
    async with listening(lambda _, frame: world.dispatcher.respond(CLIENT, frame)) as listener:
        reader, writer = await connect(listener)
        requests = [acks_all(b"a", number=0), acks_all(b"b", number=1), produce(batch_of(b"c"))]
        writer.write(b"".join(framed(one, number) for number, one in enumerate(requests)))
        await until(lambda: counts["Produce"] == 2)
        follow(world, number=1)
        assert counts["Produce"] == 1
        follow(world, number=0)
        for number in range(3):
            size = int.from_bytes(await reader.readexactly(4), "big")
            answer = await reader.readexactly(size)
            assert int.from_bytes(answer[:4], "big") == number
        writer.close()


async def test_a_lost_connection_leaves_nobody_waiting(world: World) -> None:
    counts = world.broker.waiters.counts
    async with listening(lambda _, frame: world.dispatcher.respond(CLIENT, frame)) as listener:
        _, writer = await connect(listener)
        writer.write(framed(acks_all(b"a"), 1) + framed(acks_all(b"b"), 2))
        await until(lambda: counts["Produce"] == 2)
        writer.transport.abort()
        await until(lambda: counts["Produce"] == 0)
        assert not is_watched(world)
        follow(world)
