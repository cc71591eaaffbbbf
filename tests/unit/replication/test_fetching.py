"""All the partitions that a broker follows, each at the fetcher of its leader."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from moldau.config.broker.replication import ReplicationConfig
from moldau.config.topic import TopicConfig
from moldau.log.opening import create
from moldau.log.shared import Shared
from moldau.log.volume import Folder, Volume
from moldau.model import TopicPartition
from moldau.replication.fetch_loop import Reply, Terms
from moldau.replication.fetching import Fetching
from moldau.replication.partition import NO_LEADER, Partition, PartitionState
from moldau.replication.throttle import Rate, Throttle
from moldau.runtime.waiters import Waiters
from moldau.testing.disk import MemoryDisk
from unit.broker.world import SettableClock


class Silence:
    """A leader that never answers."""

    def __init__(self, is_gone: bool) -> None:
        self.is_gone = is_gone
        self.is_asked = False
        self.is_closed = False
        self._hung_up = asyncio.Event()

    async def call(self, request: object, version: int, reply: Reply | None = None) -> object:
        self.is_asked = True
        if self.is_gone:
            raise ConnectionRefusedError
        await self._hung_up.wait()
        raise ConnectionError("hung up")

    def close(self) -> None:
        self.is_closed = True
        self._hung_up.set()


class Brokers:
    """The leaders, and the partitions followed there."""

    def __init__(self, fetchers: int = 1) -> None:
        self.fetchers = fetchers
        self.channels: dict[int, list[Silence]] = {}
        self.gone: set[int] = set()
        self.volume = Volume(MemoryDisk(), "/logs")
        self.volume.disk.make_directory("/logs")
        terms = Terms(
            replica_id=9,
            protocol="3.9",
            open_channel=self._open,
            config=lambda: ReplicationConfig(num_replica_fetchers=self.fetchers),
            clock=SettableClock(),
            throttle=Throttle(9, lambda _topic: (), lambda: 0, Rate()),
        )
        self.fetching = Fetching(terms, Waiters())

    def _open(self, leader: int) -> Silence:
        channel = Silence(leader in self.gone)
        self.channels.setdefault(leader, []).append(channel)
        return channel

    def partition(self, number: int, leader: int) -> Partition:
        name = TopicPartition("t", number)
        log = create(Folder(self.volume, name), TopicConfig(), Shared(), now_ms=0)
        made = Partition(name, log, local_id=9, lag_max_ms=1_000)
        move(made, leader)
        return made

    async def until_asked(self, leader: int, count: int) -> None:
        async with asyncio.timeout(10):
            while sum(one.is_asked for one in self.channels.get(leader, ())) < count:
                await asyncio.sleep(0)


def move(partition: Partition, leader: int) -> None:
    epoch = partition.state.leader_epoch + 1
    partition.follow(PartitionState(1, leader, epoch, (leader,), 0, (leader, 9)))


@asynccontextmanager
async def running(fetching: Fetching) -> AsyncIterator[None]:
    task = asyncio.ensure_future(fetching.run())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_each_leader_has_a_connection_of_its_own() -> None:
    brokers = Brokers()
    async with running(brokers.fetching):
        brokers.fetching.follow([brokers.partition(0, 1), brokers.partition(1, 2)])
        await brokers.until_asked(1, 1)
        await brokers.until_asked(2, 1)
    assert brokers.channels[1][0].is_closed


async def test_more_fetchers_share_the_partitions_of_a_leader() -> None:
    brokers = Brokers(fetchers=2)
    async with running(brokers.fetching):
        brokers.fetching.follow([brokers.partition(number, 1) for number in range(4)])
        await brokers.until_asked(1, 2)
        assert len(brokers.fetching) == 4
        assert len(brokers.channels[1]) == 2


async def test_partitions_are_divided_anew_when_there_are_more_fetchers_or_less() -> None:
    brokers = Brokers()
    async with running(brokers.fetching):
        brokers.fetching.follow([brokers.partition(number, 1) for number in range(4)])
        await brokers.until_asked(1, 1)
        brokers.fetching.divide()
        brokers.fetchers = 2
        brokers.fetching.divide()
        await brokers.until_asked(1, 2)
        assert len(brokers.channels[1]) == 2
        brokers.fetchers = 1
        brokers.fetching.divide()
        assert len(brokers.fetching) == 4
        async with asyncio.timeout(10):
            while not brokers.channels[1][1].is_closed:
                await asyncio.sleep(0)


async def test_a_partition_that_moves_leaves_the_others_where_they_are() -> None:
    brokers = Brokers()
    moving, staying = brokers.partition(0, 1), brokers.partition(1, 1)
    async with running(brokers.fetching):
        brokers.fetching.follow([moving, staying])
        await brokers.until_asked(1, 1)
        move(moving, 2)
        brokers.fetching.follow([moving])
        await brokers.until_asked(2, 1)
        assert not brokers.channels[1][0].is_closed


async def test_the_last_partition_takes_the_connection_with_it() -> None:
    brokers = Brokers()
    partition = brokers.partition(0, 1)
    async with running(brokers.fetching):
        brokers.fetching.follow([partition])
        await brokers.until_asked(1, 1)
        brokers.fetching.stop([partition.topic_partition, TopicPartition("x", 0)])
        assert len(brokers.fetching) == 0
        async with asyncio.timeout(10):
            while not brokers.channels[1][0].is_closed:
                await asyncio.sleep(0)


async def test_a_partition_without_a_leader_is_not_followed() -> None:
    brokers = Brokers()
    partition = brokers.partition(0, 1)
    brokers.fetching.follow([partition])
    move(partition, NO_LEADER)
    brokers.fetching.follow([partition])
    assert len(brokers.fetching) == 0


@pytest.mark.parametrize("is_early", [True, False])
async def test_partitions_may_come_before_the_service_runs(is_early: bool) -> None:
    brokers = Brokers()
    if is_early:
        brokers.fetching.follow([brokers.partition(0, 1)])
    async with running(brokers.fetching):
        await asyncio.sleep(0)
        if not is_early:
            brokers.fetching.follow([brokers.partition(0, 1)])
        await brokers.until_asked(1, 1)


async def test_a_broker_that_is_about_to_stop_follows_nothing_more() -> None:
    brokers = Brokers()
    brokers.fetching.follow([brokers.partition(0, 1)])
    brokers.fetching.end()
    brokers.fetching.follow([brokers.partition(1, 1)])
    assert len(brokers.fetching) == 0


async def test_leaders_that_refuse_are_in_doubt_and_no_others() -> None:
    brokers = Brokers()
    async with running(brokers.fetching):
        moving = brokers.partition(0, 1)
        brokers.fetching.follow([moving, brokers.partition(1, 2)])
        for leader in (1, 2):
            await brokers.until_asked(leader, 1)
        for loop in brokers.fetching._loops.values():
            loop._has_answered = True
        assert brokers.fetching.leaders_in_doubt() == frozenset()
        brokers.gone.add(1)
        brokers.channels[1][0].close()
        async with asyncio.timeout(10):
            while brokers.fetching.leaders_in_doubt() != {1}:
                await asyncio.sleep(0)
        # That they are followed no more comes before others are named to clients.
        move(moving, 2)
        brokers.fetching.follow([moving])
        assert brokers.fetching.leaders_in_doubt() == {1}
        brokers.fetching.follow([brokers.partition(2, 1)])
        assert brokers.fetching.leaders_in_doubt() == frozenset()
