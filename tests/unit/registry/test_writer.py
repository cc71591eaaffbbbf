"""Only the last one that took over can write, and it has seen all that was written."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from moldau.errors import KafkaError
from moldau.registry.failures import NotLeader
from moldau.registry.records import SchemaRecord, StoredSchema
from moldau.registry.subjects import Subjects
from moldau.registry.topic import TopicReader, prepare_topic
from moldau.registry.writer import TopicWriter
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Lose


def schema(subject: str, schema_id: int) -> SchemaRecord:
    text = f'{{"type":"fixed","name":"F","size":{schema_id}}}'
    return SchemaRecord(subject, 1, StoredSchema(subject, 1, schema_id, text))


@asynccontextmanager
async def writer(broker: EmbeddedBroker, topic: str) -> AsyncIterator[TopicWriter]:
    client = {"bootstrap.servers": broker.bootstrap_servers}
    await prepare_topic(client, topic, 1)
    reader = TopicReader(client, topic, Subjects(), asyncio.Lock())
    started = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        reading = tasks.create_task(reader.run(started.set))
        await started.wait()
        made = TopicWriter(client, topic, reader)
        try:
            yield made
        finally:
            await made.close()
            reading.cancel()


async def test_what_is_written_is_in_the_state(broker: EmbeddedBroker) -> None:
    async with writer(broker, "plain") as one:
        assert not one.is_open
        with pytest.raises(NotLeader):
            await one.write([schema("a", 1)])
        await one.take_over()
        offset = await one.write([schema("a", 1), schema("b", 2)])
        assert one.reader.applied_offset == offset
        assert one.reader.subjects.names() == ["a", "b"]


async def test_a_successor_ends_its_predecessor(broker: EmbeddedBroker) -> None:
    async with writer(broker, "fenced") as old, writer(broker, "fenced") as new:
        await old.take_over()
        await old.write([schema("a", 1)])
        await new.take_over()
        assert new.reader.subjects.names() == ["a"], "it has seen everything"
        with pytest.raises(KafkaError):
            await old.write([schema("b", 2)])
        assert not old.is_open
        await new.write([schema("c", 2)])
        assert new.reader.subjects.names() == ["a", "c"]


async def test_a_write_that_was_cut_off_leaves_no_id_that_is_given_again(
    broker: EmbeddedBroker,
) -> None:
    """As after kill -9 between a write and its commit."""
    async with writer(broker, "killed") as old, writer(broker, "killed") as new:
        await old.take_over()
        await old.write([schema("a", 1)])
        uncontrolled = broker.control("EndTxn", lambda request: Lose())
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await old.write([schema("b", 2)])
        uncontrolled()
        await new.take_over()
        assert new.reader.subjects.highest_id == 2
