"""One seed, from the first broker's start to the verdict."""

import asyncio
import time
from dataclasses import dataclass
from functools import partial

from moldau.testing.world.machine import Machine, Program
from moldau.testing.world.world import World, collect
from simulation import securing
from simulation.administering import Admin
from simulation.client import TOPIC, Client
from simulation.cluster import SESSION_TIMEOUT_S, SimulatedBroker
from simulation.faults import Faults
from simulation.grouping import Committer, Member, group_offset
from simulation.history import History
from simulation.invariants import violations
from simulation.own_clients import in_world
from simulation.parts import COMPACTION, LOGINS, PARTS, Cast, Work, Works, drawn
from simulation.reading import Reader, read_all
from simulation.replicas import note_replicas, observe, unsettled
from simulation.shapes import ONE_BROKER, Shape
from simulation.tables import CLEANER
from simulation.transacting import TransactionalProducer
from simulation.writing import IdempotentProducer

FAULTS_S = 62.0
# With less than that a seed teaches too little.
SECONDS_MIN = 60
FAULTS_MIN = 5
RECORDS_MIN = 1_000
_START_S = 2.0
_LOOK_S = 0.5
_END_S = 120.0
"""Within so long after the last fault everything must have come to an end."""


@dataclass(slots=True)
class Verdict:
    """What came of a seed."""

    seed: int
    violations: list[str]
    parts: list[str]
    faults: list[str]
    acknowledged_count: int
    simulated_s: float
    event_count: int
    trace: int
    cpu_s: float

    @property
    def is_worth_something(self) -> bool:
        """Whether enough has happened in it."""
        return (
            self.simulated_s >= SECONDS_MIN
            and len(self.faults) >= FAULTS_MIN
            and self.acknowledged_count >= RECORDS_MIN
        )


def play(seed: int, shape: Shape = ONE_BROKER) -> Verdict:
    """Let a world run its course, and judge it."""
    return play_with_history(seed, shape)[0]


def play_with_history(seed: int, shape: Shape) -> tuple[Verdict, History]:
    """Likewise, and say what all clients saw."""
    played = _play(seed, shape)
    collect()
    return played


def _play(seed: int, shape: Shape) -> tuple[Verdict, History]:
    began_s = time.process_time()
    with World(seed) as world, in_world(world):
        scenario = Scenario(world, shape)
        world.run(scenario.run())
        history = scenario.history
        history.surprises += world.loop.problems
        verdict = Verdict(
            seed=seed,
            violations=violations(history),
            parts=scenario.parts,
            faults=scenario.faults.happened,
            acknowledged_count=history.acknowledged_count,
            simulated_s=world.loop.time(),
            event_count=world.loop.event_count,
            trace=world.loop.trace,
            cpu_s=time.process_time() - began_s,
        )
        return verdict, history


class Scenario:
    """Brokers, clients and faults, and the order in which they come and go."""

    def __init__(self, world: World, shape: Shape) -> None:
        self.history = History()
        self._world = world
        world.ensemble.observe = partial(observe, history=self.history)
        self._shape = shape
        settings = {
            "offsets.topic.replication.factor": str(shape.replication_factor),
            "transaction.state.log.replication.factor": str(shape.replication_factor),
            "transaction.state.log.min.isr": str(shape.in_sync_min),
            **shape.settings,
        }
        self.parts = drawn(shape, world.chance("parts"), world.chance("seldom parts"))
        if LOGINS in self.parts:
            settings |= securing.SETTINGS
        if COMPACTION in self.parts:
            settings |= CLEANER
        self.brokers = [
            SimulatedBroker(world, broker_id, settings)
            for broker_id in range(1, shape.broker_count + 1)
        ]
        self._works = self._make_works()
        cast = Cast(self._client, shape, self.history)
        for part in self.parts:
            self._works |= PARTS[part](cast)
        self.faults = Faults(world, self.brokers, list(self._works), without=shape.without)

    async def run(self) -> None:
        """Start, break things under load, mend them, and look at what is left."""
        loop = asyncio.get_running_loop()
        if LOGINS in self.parts:
            await securing.write_rules(await self._world.ensemble.open(timeout_s=SESSION_TIMEOUT_S))
        for broker in self.brokers:
            broker.start()
        supervisors = [loop.create_task(broker.supervise()) for broker in self.brokers]
        async with asyncio.timeout(_END_S):
            await Admin(self._client("admin")).create(TOPIC, self._shape)
        until_s = loop.time() + FAULTS_S
        works = [
            self._world.machine(name).start(_program(work, until_s))
            for name, work in self._works.items()
        ]
        await self.faults.run(until_s - _START_S)
        await self.faults.heal()
        try:
            async with asyncio.timeout(_END_S):
                await asyncio.gather(*works)
                await self._settle()
                await self._look_at_the_end()
                self.history.is_complete = True
        except TimeoutError:
            late = [name for name, work in zip(self._works, works, strict=True) if work.cancelled()]
            reason = unsettled(self._world, self.brokers) or ", ".join(late) or "reading everything"
            surprise = f"no end within {_END_S} s after the last fault: {reason}"
            self.history.surprises.append(surprise)
        for supervisor in supervisors:
            supervisor.cancel()

    def _client(self, name: str) -> Client:
        addresses = {broker.id: broker.address for broker in self.brokers}
        client = Client(name, addresses, self._world.chance(name))
        if LOGINS in self.parts:
            client.login = (securing.CLIENT, securing.PASSWORD)
        return client

    def _make_works(self) -> Works:
        works: Works = {}
        count, history = self._shape.partition_count, self.history
        for partition in range(count):
            name = f"producer-{partition}"
            works[name] = IdempotentProducer(
                self._client(name), partition, history, records_min=RECORDS_MIN
            ).run
            for is_committed_only in (False, True):
                name = f"reader-{partition}-{'committed' if is_committed_only else 'all'}"
                reader = Reader(
                    self._client(name), partition, history, is_committed_only=is_committed_only
                )
                works[name] = reader.run
        for index in range(2):
            name = f"transactional-{index}"
            works[name] = TransactionalProducer(self._client(name), count, history).run
            name = f"member-{index}"
            works[name] = Member(self._client(name), count, history).run
        works["committer"] = Committer(self._client("committer"), history).run
        return works

    async def _settle(self) -> None:
        """Wait until every replica is in sync and every broker knows it."""
        # What is waited for is in many places, none of which tells of changes.
        while unsettled(self._world, self.brokers):
            await asyncio.sleep(_LOOK_S)

    async def _look_at_the_end(self) -> None:
        is_compacting = COMPACTION in self.parts
        note_replicas(self._world, self.brokers, self.history, is_compacting=is_compacting)
        client = self._client("auditor")
        for partition in range(self._shape.partition_count):
            everything = await read_all(client, partition, is_committed_only=False)
            self.history.final[partition] = everything
            committed = await read_all(client, partition, is_committed_only=True)
            self.history.final_committed[partition] = committed
        groups = {commit.group: None for commit in self.history.commits}
        groups |= {f"transactional-{index}-offsets": None for index in range(2)}
        for group in groups:
            self.history.final_group_offsets[group] = await group_offset(client, group)


def _program(work: Work, until_s: float) -> Program:
    async def run(_machine: Machine) -> None:
        await work(until_s)

    return run
