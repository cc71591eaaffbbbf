"""Parts that a seed may have beside its usual clients."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from moldau.model import TopicPartition
from simulation.administering import Admin
from simulation.client import LOOSE, TOPIC, Client
from simulation.cluster import INTERNAL_PARTITIONS
from simulation.history import History
from simulation.own_clients import OwnConsumer, OwnProducer
from simulation.reading import Reader
from simulation.reconciling import ReconciledMember
from simulation.securing import INTRUDER, PASSWORD, Intruder, change_rules
from simulation.shapes import Shape
from simulation.tables import TableWriter
from simulation.topics import TopicLives
from simulation.writing import IdempotentProducer

Work = Callable[[float], Awaitable[None]]
Works = dict[str, Work]

FLUSH_MESSAGES = "flush.messages"
_NEVER = str(2**63 - 1)
_TUNING_S = 6.0
_MOVING_S = 8.0
_GIVEN_UP = 0.15
_LIMITING_S = 8.0
# Clients of a seed write and read some thousands of bytes a second.
_BYTE_RATES = (1_000.0, 4_000.0, 50_000.0)


@dataclass(frozen=True, slots=True)
class Cast:
    """What a part is made of."""

    client: Callable[[str], Client]
    shape: Shape
    history: History


def mixed_syncing(cast: Cast) -> Works:
    """Some records are synced before they are acknowledged, and others are not.

    Brokers treat the two in different ways, from the reading of a request on.
    """
    if cast.shape.is_everything_synced:
        return {
            "loose-producer": lambda until_s: _write_loosely(cast, until_s),
            "loose-reader": lambda until_s: _read_loosely(cast, until_s),
        }
    return {"tuner": lambda until_s: _tune(Admin(cast.client("tuner")), until_s)}


async def _tune(admin: Admin, until_s: float) -> None:
    """Let the records of all clients be synced at once, then again when it suits."""
    loop, chance = asyncio.get_running_loop(), admin.client.chance
    while loop.time() < until_s:
        await asyncio.sleep(_TUNING_S * chance.random())
        await admin.set(TOPIC, FLUSH_MESSAGES, chance.choice(["1", None]))
    admin.client.close()


async def _write_loosely(cast: Cast, until_s: float) -> None:
    """Write what a power loss may take: only that replicas agree is asked of it."""
    client = cast.client("loose-producer")
    client.topic = LOOSE
    await Admin(client).create(LOOSE, cast.shape, {FLUSH_MESSAGES: _NEVER})
    await IdempotentProducer(client, 0, History()).run(until_s)


async def _read_loosely(cast: Cast, until_s: float) -> None:
    client = cast.client("loose-reader")
    client.topic = LOOSE
    await Reader(client, 0, History(), is_committed_only=False).run(until_s)


def lives_of_topics(cast: Cast) -> Works:
    """Topics are made, grow, and are deleted."""
    name = "topics"
    return {name: TopicLives(cast.client(name), cast.shape, cast.history).run}


def moves(cast: Cast) -> Works:
    """Partitions are moved between brokers, those of the coordinators as well."""
    if cast.shape.broker_count == 1:
        return {}
    return {"mover": lambda until_s: _move(cast, until_s)}


async def _move(cast: Cast, until_s: float) -> None:
    admin = Admin(cast.client("mover"))
    loop, chance, shape = asyncio.get_running_loop(), admin.client.chance, cast.shape
    brokers = range(1, shape.broker_count + 1)
    while loop.time() < until_s:
        await asyncio.sleep(_MOVING_S * chance.random())
        topic = chance.choice([TOPIC, TOPIC, "__consumer_offsets", "__transaction_state"])
        count = shape.partition_count if topic == TOPIC else INTERNAL_PARTITIONS
        replicas = chance.sample(brokers, chance.randint(shape.in_sync_min, 3))
        is_given_up = chance.random() < _GIVEN_UP
        partition = TopicPartition(topic, chance.randrange(count))
        await admin.move(partition, None if is_given_up else replicas)
    admin.client.close()


COMPACTION = "compaction"


def compaction(cast: Cast) -> Works:
    """Logs are compacted, a topic's and those of the coordinators."""
    name = "table-writer"
    return {name: TableWriter(cast.client(name), cast.shape, cast.history).run}


def reconciliation(cast: Cast) -> Works:
    """Members of a group whose coordinator assigns the partitions."""
    names = [f"reconciled-{index}" for index in range(3)]
    return {name: ReconciledMember(cast.client(name), cast.history).run for name in names}


def own_clients(cast: Cast) -> Works:
    """A producer and consumers of Moldau's own."""
    history, count = cast.history, cast.shape.partition_count
    works: Works = {}
    name = "own-producer"
    works[name] = OwnProducer(cast.client(name), history, count - 1).run
    for kind in ("all", "committed"):
        name = f"own-consumer-{kind}"
        is_committed = kind == "committed"
        works[name] = OwnConsumer(
            cast.client(name), history, count, is_committed_only=is_committed
        ).run
    return works


def quotas(cast: Cast) -> Works:
    """Clients are slowed down, each for itself, by quotas that come, change and go."""
    return {"quota-setter": lambda until_s: _limit(Admin(cast.client("quota-setter")), until_s)}


async def _limit(admin: Admin, until_s: float) -> None:
    loop, chance = asyncio.get_running_loop(), admin.client.chance
    while loop.time() < until_s:
        await asyncio.sleep(_LIMITING_S * chance.random())
        for quota in ("producer_byte_rate", "consumer_byte_rate"):
            await admin.limit_all(quota, chance.choice([*_BYTE_RATES, None]))
    for quota in ("producer_byte_rate", "consumer_byte_rate"):
        await admin.limit_all(quota, None)
    admin.client.close()


LOGINS = "logins and rules"


def logins(cast: Cast) -> Works:
    """Everyone logs in, and somebody who may do nothing tries to."""
    client = cast.client(INTRUDER)
    client.login = (INTRUDER, PASSWORD)
    intruder = Intruder(client, cast.history, cast.shape.partition_count)
    rules = cast.client("rule-setter")
    return {INTRUDER: intruder.run, "rule-setter": lambda until_s: change_rules(rules, until_s)}


PARTS: dict[str, Callable[[Cast], Works]] = {
    "mixed syncing": mixed_syncing,
    "lives of topics": lives_of_topics,
    "moves": moves,
    COMPACTION: compaction,
    "reconciliation": reconciliation,
    "own clients": own_clients,
    "quotas": quotas,
    LOGINS: logins,
}
_ALWAYS = ("mixed syncing",)
# Drawn apart, in one of so many seeds: all clients of such a seed do something else.
_SELDOM = {LOGINS: 8}


def drawn(shape: Shape, chance: random.Random, seldom: random.Random) -> list[str]:
    """Which parts a seed has: those of its shape, or about half of all."""
    if shape.parts is not None:
        return list(shape.parts)
    usual = [name for name in PARTS if name not in _SELDOM]
    parts = [name for name in usual if chance.random() < 0.5 or name in _ALWAYS]
    return parts + [name for name, one_of in _SELDOM.items() if seldom.randrange(one_of) == 0]
