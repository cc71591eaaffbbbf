"""A broker that leads, and a channel to it that needs no socket."""

import asyncio
from typing import Any

from moldau.model import TopicPartition
from moldau.protocol.codec import decode, encode
from moldau.replication.fetch_loop import Reply
from moldau.replication.partition import Partition, PartitionState
from unit.broker.world import World
from unit.replication.replica_set import Member

LEADER = 0
FOLLOWER = 2
T0 = TopicPartition("t", 0)


class WorldChannel:
    """Calls the broker of a world; its line can be cut."""

    def __init__(self, world: World, failure: type[OSError] | None = None) -> None:
        """With a `failure` there is no connection, or it ends with that."""
        self.world = world
        self.failure = failure
        self.requests: list[Any] = []
        self.calls = 0
        self.is_cut = False
        self._calling: asyncio.Task[Any] | None = None

    async def call(self, request: object, version: int, reply: Reply | None = None) -> object:
        self.calls += 1
        while True:
            answer = await self._ask(request, version)
            frame = b"" if reply is None else encode(answer, version)
            body = None if reply is None else reply(memoryview(frame), 0)
            if body is None:
                return answer
            if not body:
                return None
            request, end = decode(type(request), version, body)
            assert end == len(body)

    async def _ask(self, request: object, version: int) -> object:
        self.requests.append(request)
        if self.failure is not None:
            raise self.failure
        if self.is_cut:
            raise ConnectionError("the line is cut")
        self._calling = asyncio.ensure_future(self.world.ask(request, version))
        try:
            return await self._calling
        except asyncio.CancelledError:
            if self.is_cut:
                raise self.failure or ConnectionError("the line was cut") from None
            self._calling.cancel()
            raise
        finally:
            self._calling = None

    def close(self) -> None:
        self.is_cut = True
        if self._calling is not None:
            self._calling.cancel()


def lead(world: World, epoch: int = 1, isr: tuple[int, ...] = (LEADER, FOLLOWER)) -> None:
    """Have the world's broker lead its topic, with a follower elsewhere."""
    both = (LEADER, FOLLOWER)
    state = PartitionState(1, LEADER, epoch, isr, 0, both)
    world.partition("t").lead(state, now_ms=world.clock.now_ms())


def follow(member: Member, epoch: int = 1) -> Partition:
    """The follower's replica of it."""
    both = (LEADER, FOLLOWER)
    partition = Partition(T0, member.log, local_id=FOLLOWER, lag_max_ms=10_000)
    partition.follow(PartitionState(1, LEADER, epoch, both, 0, both))
    return partition
