"""Our consumer in one group with consumers of others: it understands what they say, and they it."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.coordinator.assignors.sticky.sticky_assignor import (
    StickyPartitionAssignor,
)
from confluent_kafka import Consumer as ConfluentConsumer

from moldau import Consumer
from moldau.testing.broker import EmbeddedBroker
from unit.client.topics import create_topic

PARTITIONS = 6


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {"group.initial.rebalance.delay.ms": "0", "group.min.session.timeout.ms": "500"}


@asynccontextmanager
async def ours(kafka: EmbeddedBroker, assignor: str) -> AsyncIterator[Consumer[bytes, bytes]]:
    options = {
        "bootstrap.servers": kafka.bootstrap_servers,
        "group.id": "g",
        "partition.assignment.strategy": assignor,
        "heartbeat.interval.ms": 50,
        "retry.backoff.ms": 10,
    }
    async with Consumer[bytes, bytes](options) as consumer:
        consumer.subscribe(["t"])
        yield consumer


@contextmanager
def confluent(kafka: EmbeddedBroker, assignor: str) -> Iterator[Callable[[], int]]:
    """A consumer that polls in a thread; yields what tells how many partitions it has."""
    consumer = ConfluentConsumer(
        {
            "bootstrap.servers": kafka.bootstrap_servers,
            "group.id": "g",
            "partition.assignment.strategy": assignor,
            "heartbeat.interval.ms": 100,
            "session.timeout.ms": 6000,
        }
    )
    # Not `assignment()`: it waits for the group, and with it for our member in this thread.
    held: set[int] = set()
    consumer.subscribe(
        ["t"],
        on_assign=lambda _, given: held.update(each.partition for each in given),
        on_revoke=lambda _, gone: held.difference_update(each.partition for each in gone),
    )
    is_over = threading.Event()

    def poll() -> None:
        while not is_over.is_set():
            consumer.poll(0.05)
        consumer.close()

    thread = threading.Thread(target=poll, daemon=True)
    thread.start()
    try:
        yield lambda: len(held)
    finally:
        is_over.set()


async def settle(*counts: Callable[[], int], polling: Consumer[bytes, bytes]) -> None:
    """Poll until each has its share."""
    share = PARTITIONS // len(counts)
    async with asyncio.timeout(60):
        while [count() for count in counts] != [share] * len(counts):
            await polling.poll(0.05)


@pytest.mark.parametrize("assignor", ["range", "roundrobin", "cooperative-sticky"])
@pytest.mark.parametrize("who_leads", ["we", "they"])
async def test_with_librdkafka(kafka: EmbeddedBroker, assignor: str, who_leads: str) -> None:
    create_topic(kafka, "t", PARTITIONS)
    async with asyncio.timeout(90):
        if who_leads == "we":
            async with ours(kafka, assignor) as consumer:
                mine = lambda: len(consumer.assignment())  # noqa: E731
                await settle(mine, polling=consumer)
                with confluent(kafka, assignor) as theirs:
                    await settle(mine, theirs, polling=consumer)
                await settle(mine, polling=consumer)
        else:
            with confluent(kafka, assignor) as theirs:
                while theirs() != PARTITIONS:
                    await asyncio.sleep(0.05)
                async with ours(kafka, assignor) as consumer:
                    mine = lambda: len(consumer.assignment())  # noqa: E731
                    await settle(mine, theirs, polling=consumer)


async def test_with_aiokafka_s_sticky_assignor(kafka: EmbeddedBroker) -> None:
    create_topic(kafka, "t", PARTITIONS)
    other = AIOKafkaConsumer(
        "t",
        bootstrap_servers=kafka.bootstrap_servers,
        group_id="g",
        heartbeat_interval_ms=100,
        partition_assignment_strategy=[StickyPartitionAssignor],
    )
    async with ours(kafka, "sticky") as consumer:
        mine = lambda: len(consumer.assignment())  # noqa: E731
        await settle(mine, polling=consumer)
        before = set(consumer.assignment())
        await other.start()
        try:
            await settle(mine, lambda: len(other.assignment()), polling=consumer)
            assert set(consumer.assignment()) <= before
        finally:
            await other.stop()
        await settle(mine, polling=consumer)
