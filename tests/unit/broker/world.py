"""A whole broker in memory, without sockets: disk, tree and clock are test doubles of ports.

    async with broker_world() as world:
        await world.create_topic("t")
        response = await world.ask(ListOffsetsRequest(...), version=5)

Requests go through the dispatcher as encoded frames, and come back decoded. Those that have a fast
path are answered by it from the first on, unless the world is made with another `Way`.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from moldau.broker.broker import Broker
from moldau.broker.context import Client
from moldau.broker.dispatch import Answer, Dispatcher
from moldau.broker.fast.shortcuts import make_dispatcher
from moldau.broker.main import Ports, assembled, serving
from moldau.broker.membership.joining import make_membership, make_peers, until_known
from moldau.broker.membership.listening import registration_of
from moldau.config.broker.startup import read_startup
from moldau.config.topic_listing import ListedTopic
from moldau.coordination.memory import MemoryEnsemble, MemoryTree
from moldau.coordination.sessions import Sessions
from moldau.coordination.tree import Tree
from moldau.model import TopicPartition
from moldau.net.answer import Later, Parked, Part, Promised
from moldau.protocol.apis import API_BY_KEY
from moldau.protocol.codec import decode, encode
from moldau.protocol.declaration import facts_of
from moldau.protocol.headers import (
    RequestHeader,
    decode_response_header,
    encode_request_header,
)
from moldau.records.batch import write_batch
from moldau.records.record import Record
from moldau.replication.partition import Partition
from moldau.runtime.file_range import FileRange
from moldau.runtime.waiters import Waiters
from moldau.testing.disk import MemoryDisk
from unit.broker.ways import FastPaths, Way, sources, warm_up

CLIENT = Client("PLAINTEXT", "10.0.0.9", "10.0.0.1", 9092)
CORRELATION_ID = 77
START_MS = 1_700_000_000_000
default_way = Way.FAST
"""How worlds answer that are not made with a way of their own; see `handlers/conftest.py`."""


class SettableClock:
    """A clock that stands still until a test moves it."""

    def __init__(self, now_ms: int = START_MS) -> None:
        self.time_ms = now_ms

    def now_ms(self) -> int:
        return self.time_ms

    def monotonic_ms(self) -> int:
        return self.time_ms

    def monotonic_ns(self) -> int:
        return self.time_ms * 1_000_000


class CountingRandom:
    """Randomness that a test can foretell: numbers go round, ids count up."""

    def __init__(self) -> None:
        self._drawn = 0

    def below(self, limit: int) -> int:
        self._drawn += 1
        return self._drawn % limit

    def uuid(self) -> bytes:
        self._drawn += 1
        return self._drawn.to_bytes(16, "big")


@dataclass(slots=True)
class World:
    """A running broker and everything around it."""

    broker: Broker
    dispatcher: Dispatcher
    tree: MemoryTree
    disk: MemoryDisk
    clock: SettableClock
    fast_paths: FastPaths

    async def ask(
        self, request: object, version: int, *, client: Client = CLIENT, client_id: str = "test"
    ) -> Any:
        """Send a request in a frame; returns the response decoded, None if there is none."""
        api_key = facts_of(type(request)).api_key
        assert api_key is not None
        frame = frame_of(request, version, client_id=client_id)
        parts = await self.respond(client, frame)
        return None if parts is None else response_of(parts, api_key, version)

    async def respond(self, client: Client, frame: bytes | bytearray) -> Any:
        """The parts of the answer to a frame."""
        return await settled(self.begin(client, frame))

    def begin(self, client: Client, frame: bytes | bytearray) -> Answer:
        """What the dispatcher returns for a frame: the answer, or what comes to it."""
        warm_up(self.dispatcher, frame)
        return self.dispatcher.respond(client, memoryview(frame))

    async def park(
        self, request: object, version: int, *, client: Client = CLIENT
    ) -> "asyncio.Task[Any]":
        """Send a request that has to wait; returns once it does."""
        parked = len(self.broker.waiters)
        asking = asyncio.create_task(self.ask(request, version, client=client))
        while len(self.broker.waiters) <= parked:
            assert not asking.done(), "it was answered at once"
            await asyncio.sleep(0)
        return asking

    async def create_topic(
        self, name: str, partition_count: int = 1, overrides: Mapping[str, str] | None = None
    ) -> bytes:
        """Create a topic and wait until this broker leads it; returns its id."""
        broker = self.broker
        replicas = dict.fromkeys(range(partition_count), (broker.id,))
        topic_id = await broker.topics.create(name, replicas, overrides or {})
        assert await broker.topics.until_led(name, partition_count, timeout_s=60)
        return topic_id

    def partition(self, topic: str, number: int = 0) -> Partition:
        return self.broker.replicas.leader(TopicPartition(topic, number))

    def append(self, topic: str, *values: bytes, number: int = 0) -> None:
        """Put records into a log as the leader does, past the handlers."""
        partition = self.partition(topic, number)
        partition.append(batch_of(*values), acks=1, now_ms=self.clock.now_ms())
        self.broker.waiters.wake(partition.topic_partition)


@dataclass(slots=True)
class Setting:
    """What outlives a broker, so that a test can start another one on it."""

    disk: MemoryDisk = field(default_factory=MemoryDisk)
    clock: SettableClock = field(default_factory=SettableClock)
    random: CountingRandom = field(default_factory=CountingRandom)
    listed_topics: dict[str, ListedTopic] = field(default_factory=dict)
    """What `--topic-configs` says."""
    ensemble: MemoryEnsemble = field(init=False)

    def __post_init__(self) -> None:
        self.ensemble = MemoryEnsemble(self.clock)


@asynccontextmanager
async def broker_world(
    settings: Mapping[str, str] | None = None,
    setting: Setting | None = None,
    way: Way | None = None,
) -> AsyncIterator[World]:
    """A broker that is registered and has been elected controller."""
    setting = setting or Setting()
    startup = read_startup({"log.dirs": "/logs", **(settings or {})})
    startup = replace(startup, listed_topics=setting.listed_topics)
    ports = Ports(clock=setting.clock, disk=setting.disk, random=setting.random)
    way = way or default_way
    async with AsyncExitStack() as stack:
        stack.enter_context(sources(way))
        tree = setting.ensemble.connect()

        async def session() -> Tree:
            return tree

        patience_s = startup.config.general.request_timeout_ms / 1000
        sessions = Sessions(session, patience_s=patience_s)
        await sessions.open()
        stack.push_async_callback(sessions.close)
        broker = await stack.enter_async_context(assembled(startup, ports, sessions))
        fast_paths = FastPaths(broker, way)
        dispatcher = make_dispatcher(broker, fast_paths.shortcuts)
        node = registration_of(startup, {}, now_ms=setting.clock.now_ms())
        peers = make_peers(broker, startup, dispatcher)
        membership = make_membership(broker, startup, sessions, node, peers)
        await stack.enter_async_context(serving(broker, ports, membership, peers, peers))
        await until_known(broker)
        yield World(broker, dispatcher, tree, setting.disk, setting.clock, fast_paths)


async def settled(answer: Answer) -> Any:
    """The parts that a connection gets in the end."""
    if isinstance(answer, Parked):
        answer = await unparked(answer)
    if isinstance(answer, Promised):
        return await kept(answer)
    if isinstance(answer, Coroutine):
        answer = await answer
    return await answer.rest if isinstance(answer, Later) else answer


async def unparked(parked: Parked) -> Any:
    """What a connection gets from a parked request in the end."""
    over = asyncio.get_running_loop().create_future()
    parked.unpark = lambda: over.set_result(None)
    try:
        await over
    finally:
        parked.cancel()
    answer = parked.answer()
    return parked.otherwise() if answer is None else answer


async def kept(promised: Promised) -> list[Part]:
    """What a connection gets from a promise in the end."""
    if promised.outcome is None:
        over = asyncio.get_running_loop().create_future()
        promised.notify = over.set_result
        try:
            await over
        finally:
            promised.cancel()
    assert isinstance(promised.outcome, list), promised.outcome
    return promised.outcome


async def until(waiters: Waiters, satisfied: Callable[[], bool], key: object) -> None:
    """Wait for something that other tasks of this loop bring about."""
    for _ in range(10_000):
        if await waiters.until(satisfied, keys=[key], timeout_s=0.001):
            return
    raise AssertionError("it did not happen")


def frame_of(request: object, version: int, *, client_id: str | None = "test") -> bytearray:
    """The request as it stands in a connection's buffer, which can be written to."""
    api_key = facts_of(type(request)).api_key
    assert api_key is not None
    header = RequestHeader(api_key, version, CORRELATION_ID, client_id)
    return bytearray(encode_request_header(header) + encode(request, version))


def response_of(parts: list[Part], api_key: int, version: int) -> Any:
    """The response in a framed answer; its frame and header must be right."""
    answer = bytes_of(parts)
    assert int.from_bytes(answer[:4], "big") == len(answer) - 4
    correlation_id, position = decode_response_header(answer, api_key, version, 4)
    assert correlation_id == CORRELATION_ID
    response: Any
    response, end = decode(API_BY_KEY[api_key].response, version, answer, position)
    assert end == len(answer)
    return response


def bytes_of(parts: list[Part]) -> bytes:
    """An answer in one piece, with the ranges of files in it."""
    return b"".join(part.read() if isinstance(part, FileRange) else part for part in parts)


def batch_of(*values: bytes, timestamp: int = START_MS) -> bytearray:
    """A batch as a producer sends it."""
    return write_batch(
        [Record(offset, timestamp, None, value, ()) for offset, value in enumerate(values)]
    )
