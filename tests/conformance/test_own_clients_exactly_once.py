"""Our own clients copy a topic exactly once, while brokers restart and copiers come and go."""

import asyncio
from collections.abc import Callable

import pytest

from moldau import Consumer, Producer
from moldau.errors import KafkaError
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker
from unit.client.topics import create_topic

RECORDS = 600
PARTITIONS = 2


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {"group.initial.rebalance.delay.ms": "0", "group.min.session.timeout.ms": "100"}


class Copier:
    """Copies from one topic to another in transactions, until it is cancelled."""

    def __init__(self, kafka: EmbeddedBroker, name: str) -> None:
        self._kafka = kafka
        self._name = name
        self.copied_count = 0

    async def run(self) -> None:
        while True:
            try:
                await self._copy()
            except KafkaError:  # begin anew, as a process that was started again would
                continue

    async def _copy(self) -> None:
        options = {
            "bootstrap.servers": self._kafka.bootstrap_servers,
            "retry.backoff.ms": 10,
            "request.timeout.ms": 5000,
        }
        async with (
            Producer[bytes, bytes](
                {**options, "delivery.timeout.ms": 20_000}, transactional_id=self._name
            ) as producer,
            Consumer[bytes, bytes](
                options,
                group_id="copiers",
                enable_auto_commit=False,
                auto_offset_reset="earliest",
                isolation_level="read_committed",
                heartbeat_interval_ms=50,
                session_timeout_ms=1000,
                partition_assignment_strategy="cooperative-sticky",
            ) as consumer,
        ):
            consumer.subscribe(["from"])
            while True:
                records = await consumer.poll(0.2, max_records=20)
                if not records:
                    continue
                async with producer.transaction():
                    for record in records:
                        await producer.send("to", record.value, partition=record.partition)
                    positions = {each.topic_partition: each.offset + 1 for each in records}
                    await producer.send_offsets_to_transaction(positions, consumer.group_metadata())
                self.copied_count += len(records)


async def committed(kafka: EmbeddedBroker) -> list[bytes | None]:
    """All that readers of committed records see now."""
    options = {"bootstrap.servers": kafka.bootstrap_servers, "auto.offset.reset": "earliest"}
    partitions = [TopicPartition("to", each) for each in range(PARTITIONS)]
    values: list[bytes | None] = []
    async with Consumer[bytes, bytes](options, isolation_level="read_committed") as consumer:
        consumer.assign(partitions)
        ends = await consumer.end_offsets(partitions)
        for partition, end in ends.items():
            while await consumer.position(partition) < end:
                values += [record.value for record in await consumer.poll(1)]
    return values


async def copy_under(kafka: EmbeddedBroker, trouble: Callable[[], None]) -> list[bytes | None]:
    """What is copied while there is trouble."""
    for name in ("from", "to"):
        create_topic(kafka, name, PARTITIONS)
    async with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for number in range(RECORDS):
            await producer.send("from", b"%d" % number, partition=number % PARTITIONS)
    copiers = [Copier(kafka, f"copier-{number}") for number in range(2)]
    tasks = [asyncio.create_task(copier.run()) for copier in copiers]
    found: list[bytes | None] = []
    async with asyncio.timeout(120):
        for goal in (RECORDS // 3, 2 * RECORDS // 3):
            while sum(copier.copied_count for copier in copiers) < goal:
                await asyncio.sleep(0.01)
            await asyncio.to_thread(trouble)
            # One is cancelled, too: it aborts what it was in, and its partitions are others'.
            tasks[0].cancel()
            await asyncio.wait([tasks[0]])
            tasks[0] = asyncio.create_task(copiers[0].run())
        while len(found) < RECORDS:
            found = await committed(kafka)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    return await committed(kafka)


async def test_while_brokers_restart_and_copiers_are_replaced(kafka: EmbeddedBroker) -> None:
    found = await copy_under(kafka, kafka.restart)
    assert sorted(found, key=lambda value: int(value or b"")) == [b"%d" % n for n in range(RECORDS)]
