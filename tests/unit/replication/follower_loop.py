"""A follower of a real broker: its fetch loop, and what it is given to work with."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from moldau.config.broker.replication import ReplicationConfig
from moldau.config.topic import TopicConfig
from moldau.log.log import Log
from moldau.replication.fetch_loop import FetchLoop, Terms
from moldau.replication.throttle import Rate, Throttle
from moldau.runtime.metrics import Counter
from moldau.runtime.waiters import Waiters
from unit.broker.world import SettableClock, World
from unit.replication.leader_world import FOLLOWER, LEADER, WorldChannel
from unit.replication.replica_set import Member


@dataclass
class Follower:
    """A follower of a world's broker."""

    world: World
    protocol: str = "3.9"
    is_known: bool = True
    backoff_ms: int = 10
    failure: type[OSError] | None = None
    """What its next connections end with."""
    member: Member = field(init=False)
    channels: list[WorldChannel] = field(default_factory=list)
    loop: FetchLoop = field(init=False)
    can_sync: asyncio.Event = field(default_factory=asyncio.Event)
    waiters: Waiters = field(default_factory=Waiters)
    clock: SettableClock = field(default_factory=SettableClock)
    bytes_in: Counter = field(default_factory=Counter)
    listed: tuple[str, ...] = ()
    limit: int = 0
    throttle: Throttle = field(init=False)

    def __post_init__(self) -> None:
        self.can_sync.set()
        self.member = Member(FOLLOWER, TopicConfig(), truncates_by_fetch=False)
        self.throttle = Throttle(FOLLOWER, lambda _topic: self.listed, lambda: self.limit, Rate())
        terms = Terms(
            replica_id=FOLLOWER,
            protocol=self.protocol,
            open_channel=self._open,
            config=lambda: ReplicationConfig(
                replica_fetch_wait_max_ms=60_000, replica_fetch_backoff_ms=self.backoff_ms
            ),
            clock=self.clock,
            throttle=self.throttle,
            make_durable=self._make_durable,
            bytes_in=self.bytes_in,
        )
        self.loop = FetchLoop(LEADER, terms, self.waiters)

    def _open(self, leader: int) -> WorldChannel | None:
        assert leader == LEADER
        if not self.is_known:
            return None
        self.channels.append(WorldChannel(self.world, self.failure))
        return self.channels[-1]

    async def _make_durable(self, log: Log) -> None:
        assert log is self.member.log
        await self.can_sync.wait()

    def asked(self, kind: type) -> list[object]:
        return [one for each in self.channels for one in each.requests if isinstance(one, kind)]

    async def until(self, satisfied: Callable[[], bool]) -> None:
        """Run the loop until something is true."""
        running = asyncio.ensure_future(self.loop.run())
        try:
            async with asyncio.timeout(10):
                while not satisfied():
                    assert not running.done(), running.exception()
                    await asyncio.sleep(0)
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running


async def until_parked(follower: Follower, channel_count: int = 1) -> None:
    """Wait until a request on the latest connection waits for news."""
    while not (len(follower.channels) == channel_count and follower.loop._is_parked):
        await asyncio.sleep(0)
