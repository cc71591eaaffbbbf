"""The operation behind Fetch: how it waits, and what it leaves when it is answered or given up.

What it reads and answers is in handlers/test_fetch.py, on all ways to it.
"""

import asyncio
from collections.abc import AsyncIterator
from types import ModuleType
from typing import Any

import pytest

from moldau.broker.context import Context
from moldau.broker.requests import fetch as source
from moldau.broker.requests.fetch import PARTITIONS_AT_ONCE_MAX
from moldau.broker.requests.fetch_request import (
    CONSUMER,
    FINAL_EPOCH,
    ParsedFetch,
    PartitionKey,
    Wanted,
)
from moldau.errors import ErrorCode
from moldau.replication.partition import PartitionState
from moldau.replication.read_replica import RACK_AWARE
from moldau.runtime import native
from moldau.runtime.turns import Turns
from unit.broker.world import CLIENT, World, batch_of, broker_world

compiled = native.kernel("moldau.broker.requests._fetch", "moldau.broker.requests.fetch")
FORMS = pytest.mark.parametrize("module", [source, compiled], ids=["source", "compiled"])
FOLLOWER = 1
DEBUGGER = -2
COUNT = 4


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world() as world:
        await world.create_topic("t", COUNT)
        for number in range(COUNT):
            state = PartitionState(1, 0, 1, (0, FOLLOWER), 0, (0, FOLLOWER))
            world.partition("t", number).lead(state, now_ms=world.clock.now_ms())
        yield world


def request(
    offsets: dict[int, int],
    *,
    replica_id: int = CONSUMER,
    session: tuple[int, int] = (0, FINAL_EPOCH),
    version: int = 12,
    **rest: Any,
) -> ParsedFetch:
    """A request for partitions of `t` by their numbers."""
    wanted = {
        PartitionKey("t", number): Wanted(-1, offset, -1, 0, 1_000_000)
        for number, offset in offsets.items()
    }
    made = ParsedFetch(
        client=CLIENT,
        client_id="test",
        version=version,
        replica_id=replica_id,
        max_wait_ms=60_000,
        min_bytes=1,
        max_bytes=1_000_000,
        isolation_level=0,
        session_id=session[0],
        session_epoch=session[1],
        wanted=wanted,
    )
    return made._replace(**rest)


def append(world: World, number: int = 0, *, is_committed: bool) -> None:
    partition = world.partition("t", number)
    if is_committed:
        world.append("t", b"a", number=number)
        partition.log.high_watermark = partition.log.log_end_offset
        world.broker.waiters.wake(partition.topic_partition)
    else:
        partition.append(batch_of(b"a"), acks=1, now_ms=world.clock.now_ms())
        world.broker.waiters.wake_uncommitted(partition.topic_partition)


def waiting(module: ModuleType, world: World, made: ParsedFetch) -> tuple[Any, list[bool]]:
    """An operation that waits, and what it found each time that it was to look."""
    operation = module.FetchOperation(world.broker, made)
    assert not operation.start()
    looks: list[bool] = []
    operation.watch(lambda: looks.append(operation.look()))
    return operation, looks


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


@FORMS
async def test_several_events_at_once_are_one_look(module: ModuleType, world: World) -> None:
    operation, looks = waiting(module, world, request({0: 0, 1: 0}))
    append(world, 0, is_committed=True)
    append(world, 1, is_committed=True)
    assert looks == []
    await settle()
    assert looks == [True]
    operation.cancel()
    assert [read.size > 0 for read in operation.outcomes()] == [True, True]
    assert world.broker.waiters.counts["Fetch"] == 0


@FORMS
async def test_consumers_do_not_look_at_what_is_not_committed(
    module: ModuleType, world: World
) -> None:
    operation, looks = waiting(module, world, request({0: 0}))
    append(world, is_committed=False)
    await settle()
    assert looks == []
    operation.cancel()


@FORMS
@pytest.mark.parametrize("replica_id", [FOLLOWER, DEBUGGER])
async def test_followers_and_debuggers_wait_for_what_is_not_committed(
    module: ModuleType, world: World, replica_id: int
) -> None:
    operation, looks = waiting(module, world, request({0: 0, 1: 0}, replica_id=replica_id))
    append(world, 1, is_committed=False)
    await settle()
    assert looks == [True]
    operation.cancel()
    append(world, 1, is_committed=False)
    await settle()
    assert looks == [True], "it is over"
    assert world.broker.waiters.counts["Fetch"] == 0


@FORMS
async def test_a_look_without_news_lets_it_wait_on(module: ModuleType, world: World) -> None:
    operation, looks = waiting(module, world, request({0: 0}))
    for _ in range(2):
        world.broker.waiters.wake(world.partition("t").topic_partition)
        await settle()
    assert looks == [False, False]
    append(world, is_committed=True)
    await settle()
    assert looks == [False, False, True]
    operation.cancel()


@FORMS
async def test_when_the_time_is_up_the_wait_is_over(module: ModuleType, world: World) -> None:
    made = request({0: 0}, max_wait_ms=1)
    operation = module.FetchOperation(world.broker, made)
    assert not operation.start()
    looked: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
    operation.watch(lambda: looked.set_result(operation.look()))
    assert await looked
    operation.cancel()
    (read,) = operation.outcomes()
    assert (read.error_code, read.size) == (ErrorCode.NONE, 0)


@FORMS
async def test_one_that_is_given_up_is_not_called_again(module: ModuleType, world: World) -> None:
    operation, looks = waiting(module, world, request({0: 0}))
    append(world, is_committed=True)
    operation.cancel()
    operation.cancel()
    await settle()
    assert looks == []
    assert world.broker.waiters.counts["Fetch"] == 0


@FORMS
@pytest.mark.parametrize(
    ("changes", "is_ready"),
    [
        ({"max_wait_ms": 0}, True),
        ({"max_wait_ms": -5}, True),
        ({"min_bytes": 0}, True),
        ({"min_bytes": 1}, False),
        ({"wanted": {}}, True),
    ],
)
async def test_who_waits(
    module: ModuleType, world: World, changes: dict[str, Any], is_ready: bool
) -> None:
    operation = module.FetchOperation(world.broker, request({0: 0}, **changes))
    assert operation.start() == is_ready


# Followers' sessions


async def begin(module: ModuleType, world: World) -> int:
    """A follower's session with all partitions."""
    everything = dict.fromkeys(range(COUNT), 0)
    operation = module.FetchOperation(
        world.broker, request(everything, replica_id=FOLLOWER, session=(0, 0), max_wait_ms=0)
    )
    assert operation.start()
    assert len(operation.outcomes()) == COUNT
    session_id: int = operation.session_id
    return session_id


@FORMS
async def test_a_follower_waits_for_any_partition_of_its_session(
    module: ModuleType, world: World
) -> None:
    session_id = await begin(module, world)
    first = module.FetchOperation(
        world.broker, request({}, replica_id=FOLLOWER, session=(session_id, 1), max_wait_ms=0)
    )
    assert first.start()
    first.outcomes()
    made = request({}, replica_id=FOLLOWER, session=(session_id, 2))
    operation, looks = waiting(module, world, made)
    append(world, 3, is_committed=False)
    await settle()
    assert looks == [True]
    operation.cancel()
    (read,) = operation.outcomes()
    assert read.key == ("t", 3)
    assert world.broker.traffic.replication_bytes_out.value == read.size > 0


@FORMS
async def test_one_that_is_given_up_does_not_take_the_next_one_with_it(
    module: ModuleType, world: World
) -> None:
    session_id = await begin(module, world)
    first, _ = waiting(module, world, request({}, replica_id=FOLLOWER, session=(session_id, 1)))
    second, looks = waiting(
        module, world, request({}, replica_id=FOLLOWER, session=(session_id, 2))
    )
    first.cancel()
    append(world, 0, is_committed=False)
    await settle()
    assert looks == [True]
    second.cancel()
    assert world.broker.waiters.counts["Fetch"] == 0


@FORMS
async def test_a_high_watermark_ends_the_wait_where_consumers_read_from_followers(
    module: ModuleType,
) -> None:
    async with broker_world({"replica.selector.class": RACK_AWARE}) as world:
        await world.create_topic("t", COUNT)
        state = PartitionState(1, 0, 1, (0, FOLLOWER, 2), 0, (0, FOLLOWER, 2))
        partition = world.partition("t")
        partition.lead(state, now_ms=world.clock.now_ms())
        append(world, is_committed=False)
        first = module.FetchOperation(world.broker, request({0: 1}, replica_id=FOLLOWER))
        assert first.start(), "it has not been sent a high watermark yet"
        assert [read.high_watermark for read in first.outcomes()] == [0]
        operation, looks = waiting(module, world, request({0: 1}, replica_id=FOLLOWER))
        module.FetchOperation(world.broker, request({0: 1}, replica_id=2)).start()
        await settle()
        assert partition.log.high_watermark == 1
        assert looks == [True]
        operation.cancel()
        (read,) = operation.outcomes()
        assert (read.high_watermark, read.size) == (1, 0)


# In turns


class FirstTurnEvent(Turns):
    """Lets something happen between the first turn and the second."""

    def __init__(self, happen: Any) -> None:
        super().__init__()
        self.happen = happen
        self.count = 0

    def each(self, items: Any, *, at_once: int = 8) -> Any:
        self.count += 1
        if self.count == 2:
            self.happen()
        return super().each(items, at_once=at_once)


@FORMS
async def test_what_happens_between_two_turns_is_not_missed(
    module: ModuleType, world: World
) -> None:
    def happen() -> None:
        append(world, is_committed=True)

    turns = FirstTurnEvent(happen)
    context = Context(12, "test", CLIENT, turns)
    operation = module.FetchOperation(world.broker, request({0: 0}))
    (read,) = await asyncio.wait_for(operation.run(context), timeout=30)
    assert read.size > 0
    assert world.broker.waiters.counts["Fetch"] == 0


@FORMS
async def test_in_turns_it_can_be_given_up_too(module: ModuleType, world: World) -> None:
    operation = module.FetchOperation(world.broker, request({0: 0}))
    running = asyncio.ensure_future(operation.run(Context(12, "test", CLIENT)))
    await settle()
    assert world.broker.waiters.counts["Fetch"] == 1
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert world.broker.waiters.counts["Fetch"] == 0


# What is long


@FORMS
async def test_what_is_long_is_seen_before_it_begins(module: ModuleType, world: World) -> None:
    broker = world.broker
    assert not module.is_long(broker, request(dict.fromkeys(range(PARTITIONS_AT_ONCE_MAX), 0)))
    many = dict.fromkeys(range(PARTITIONS_AT_ONCE_MAX + 1), 0)
    assert module.is_long(broker, request(many))
    for replica_id in (CONSUMER, FOLLOWER):
        first = module.FetchOperation(
            broker, request(many, replica_id=replica_id, session=(0, 0), max_wait_ms=0)
        )
        later = request({}, replica_id=replica_id, session=(first.session_id, 1), max_wait_ms=0)
        assert module.is_long(broker, later)
        module.FetchOperation(broker, later)
        # Of a follower's partitions only those are read that there is news of.
        assert module.is_long(broker, later) == (replica_id == CONSUMER)
