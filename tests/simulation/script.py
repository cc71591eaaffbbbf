"""A short story instead of a seed: brokers and clients that do what a test tells them."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.topics import PartitionStateNode
from moldau.model import TopicPartition
from moldau.records.batch import Producer
from moldau.testing.world.machine import Machine
from moldau.testing.world.world import World, collect
from simulation.administering import Admin
from simulation.client import TOPIC, Client
from simulation.cluster import SimulatedBroker
from simulation.history import History, Outcome, Transaction, Write
from simulation.reading import read_all
from simulation.shapes import Shape
from simulation.transacting import Identity, TransactionalProducer
from simulation.writing import batch_of, produce

Result = TypeVar("Result")
_PATIENCE_S = 120.0
_LOOK_S = 0.1


@dataclass(slots=True)
class Stage:
    """The brokers by their ids, and what clients of a test need."""

    world: World
    brokers: dict[int, SimulatedBroker]
    history: History = field(default_factory=History)

    def client(self, name: str = "client") -> Client:
        addresses = {number: broker.address for number, broker in self.brokers.items()}
        return Client(name, addresses, self.world.chance(name))

    def state(self, partition: int = 0) -> PartitionStateNode:
        """Who leads a partition, and who is in sync."""
        node = self.world.ensemble.nodes.get(
            topic_nodes.state_path(TopicPartition(TOPIC, partition))
        )
        return topic_nodes.decode_state(node.data)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something in the tree."""
        while not condition():
            await asyncio.sleep(_LOOK_S)

    async def visible(self, *, is_committed_only: bool = True) -> list[str]:
        """What can be read of the first partition from its beginning."""
        client = self.client("reader")
        found = await read_all(client, 0, is_committed_only=is_committed_only)
        client.close()
        return [value for _, value in found]


@dataclass(slots=True)
class Transactor:
    """A transactional producer whose every step is a test's; it writes to one partition."""

    stage: Stage
    name: str
    client: Client = field(init=False)
    identity: Identity = field(init=False)
    _producer: TransactionalProducer = field(init=False)
    _number: int = 0

    def __post_init__(self) -> None:
        self.client = self.stage.client(self.name)
        self._producer = TransactionalProducer(self.client, 1, self.stage.history)

    async def init(self) -> Identity:
        """Begin anew, as one whose transaction has come to an unknown end must."""
        self.identity = await self._producer.begin()
        return self.identity

    async def begin(self) -> None:
        """Make the partition part of the next transaction."""
        self._number += 1
        self.stage.history.transactions[self._transaction] = Transaction(self._transaction, False)
        identity = self.identity
        await self._producer.insist(lambda: self._producer.add_partitions(identity, [0]))

    async def write(self, index: int = 0, padding: str = "") -> str:
        """Write one record; returns its value. KafkaError if it is refused."""
        value = f"{self._transaction}{padding}/0#{index}"
        write = Write(self._transaction, 0, [value], self._transaction)
        self.stage.history.writes.append(write)
        sequence = self.identity.sequences.get(0, 0)
        fields = Producer(self.identity.producer_id, self.identity.epoch, sequence)
        batch = batch_of(self.client, [value], fields, is_transactional=True)
        self.identity.sequences[0] = sequence + 1
        write.base_offset = await self._producer.insist(
            lambda: produce(self.client, 0, batch, self.name), is_idempotent=True
        )
        write.outcome = Outcome.DONE
        return value

    async def end(self, *, is_commit: bool, identity: Identity | None = None) -> None:
        """Commit or abort, perhaps under the name that it had before."""
        wanted = identity or self.identity
        await self._producer.insist(lambda: self._producer.end(wanted, is_commit=is_commit))
        transaction = self.stage.history.transactions[self._transaction]
        transaction.is_commit, transaction.outcome = is_commit, Outcome.DONE

    @property
    def _transaction(self) -> str:
        return f"{self.name}@{self._number}"


def played(story: Callable[[Stage], Awaitable[Result]], shape: Shape) -> Result:
    """Let a story happen to brokers that have just started, within reason."""
    result = _played(story, shape)
    collect()
    return result


def _played(story: Callable[[Stage], Awaitable[Result]], shape: Shape) -> Result:
    with World(1) as world:
        return world.run(_play(story, world, shape))


async def _play(story: Callable[[Stage], Awaitable[Result]], world: World, shape: Shape) -> Result:
    settings = {
        "offsets.topic.replication.factor": str(shape.replication_factor),
        "transaction.state.log.replication.factor": str(shape.replication_factor),
        "transaction.state.log.min.isr": str(shape.in_sync_min),
        **shape.settings,
    }
    brokers = {
        number: SimulatedBroker(world, number, settings)
        for number in range(1, shape.broker_count + 1)
    }
    for broker in brokers.values():
        broker.start()
    stage = Stage(world, brokers)
    async with asyncio.timeout(_PATIENCE_S):
        await Admin(stage.client("admin")).create(TOPIC, shape)
        await stage.until(lambda: len(stage.state().isr) == shape.replication_factor)
        told: list[Result] = []

        async def tell(_machine: Machine) -> None:
            told.append(await story(stage))

        # On a machine of its own, so that its links can be cut.
        await world.machine("client").start(tell)
        return told[0]
