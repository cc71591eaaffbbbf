"""A simulated cluster of many brokers: what creation, fail-over and idleness cost all of them.

The brokers are the real ones, on a virtual loop in one process; what is measured is the
processor time of that process. It includes the simulated network, disks and tree, and leaves
out the collection of garbage, which simulations switch off.
"""

import asyncio
import time
from collections.abc import Callable
from typing import NamedTuple

from moldau.errors import ErrorCode
from moldau.protocol.messages.create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from moldau.testing.world.world import World, collect
from simulation.client import Client
from simulation.cluster import SimulatedBroker

PHASES = ("creation", "10 s idle", "broker fails", "controller fails", "broker is back")
_REPLICAS = 3
_PARTITIONS_PER_TOPIC = 100
_IDLE_S = 10.0
_LOOK_S = 0.5
_PATIENCE_S = 120.0
_VERSION = 5


class Size(NamedTuple):
    """A cluster."""

    brokers: int
    partitions: int


def simulate(size: Size) -> dict[str, float]:
    """Processor seconds of each phase."""
    spent = _simulate(size)
    collect()
    return spent


def _simulate(size: Size) -> dict[str, float]:
    with World(seed=0) as world:
        cluster = _Cluster(world, size)
        world.run(cluster.run())
        return cluster.spent


class _Cluster:
    def __init__(self, world: World, size: Size) -> None:
        self.spent: dict[str, float] = {}
        self._size = size
        self._brokers = [SimulatedBroker(world, 1 + index, {}) for index in range(size.brokers)]
        addresses = {broker.id: broker.address for broker in self._brokers}
        self._client = Client("admin", addresses, world.chance("admin"))
        self._looking_s = 0.0

    async def run(self) -> None:
        """All phases, one after the other."""
        for broker in self._brokers:
            broker.start()
        await self._until(self._is_complete)
        began = self._cpu_s()
        for start in range(0, self._size.partitions, _PARTITIONS_PER_TOPIC):
            await self._create(f"topic-{start}")
        await self._until(self._is_led)
        began = self._note(PHASES[0], began)
        await asyncio.sleep(_IDLE_S)
        began = self._note(PHASES[1], began)
        controller = self._controller()
        victim = next(broker for broker in self._brokers if broker is not controller)
        for phase, broker in ((PHASES[2], victim), (PHASES[3], controller)):
            broker.is_wanted = False
            broker.machine.kill()
            await self._until(self._is_led)
            began = self._note(phase, began)
        victim.start()
        await self._until(self._is_complete)
        self._note(PHASES[4], began)

    async def _create(self, name: str) -> None:
        topic = CreatableTopic(
            name=name,
            num_partitions=_PARTITIONS_PER_TOPIC,
            replication_factor=_REPLICAS,
            assignments=[],
            configs=[],
        )
        request = CreateTopicsRequest(topics=[topic], timeout_ms=30_000)
        controller = self._controller().id
        answer = await self._client.ask(controller, request, CreateTopicsResponse, _VERSION)
        code = ErrorCode(answer.topics[0].error_code)
        assert code is ErrorCode.NONE, code

    def _controller(self) -> SimulatedBroker:
        return next(
            one
            for one in self._brokers
            if one.running and one.running.broker.controller.is_controller
        )

    def _live(self) -> list[SimulatedBroker]:
        return [broker for broker in self._brokers if broker.machine.is_up]

    def _is_complete(self) -> bool:
        """Whether every broker knows of every other, and of the partitions that it has."""
        ids = {broker.id for broker in self._live()}
        return all(
            broker.running is not None and ids == set(broker.running.broker.metadata.image.brokers)
            for broker in self._live()
        )

    def _is_led(self) -> bool:
        """Whether every broker knows living leaders of all partitions."""
        live = {broker.id for broker in self._live()}
        count = -(-self._size.partitions // _PARTITIONS_PER_TOPIC) * _PARTITIONS_PER_TOPIC
        for broker in self._live():
            assert broker.running is not None
            topics = broker.running.broker.metadata.image.topics.values()
            leaders = [one.leader for topic in topics for one in topic.partitions.values()]
            if len(leaders) < count or not live.issuperset(leaders):
                return False
        return True

    async def _until(self, is_reached: Callable[[], bool]) -> None:
        """Wait; looking is not part of what is measured."""
        async with asyncio.timeout(_PATIENCE_S):
            while True:
                began = time.process_time()
                is_over = is_reached()
                self._looking_s += time.process_time() - began
                if is_over:
                    return
                await asyncio.sleep(_LOOK_S)

    def _cpu_s(self) -> float:
        return time.process_time() - self._looking_s

    def _note(self, phase: str, began: float) -> float:
        now = self._cpu_s()
        self.spent[phase] = now - began
        return now
