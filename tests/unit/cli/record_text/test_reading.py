"""What the console consumer reads."""

import asyncio

import pytest

from moldau.cli.record_text import reading as subject
from moldau.cli.record_text.reading import ReadingOptions, reading
from moldau.client.consumer.consumer import Consumer
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker
from unit.cli.command import run
from unit.waiting import until


def values(broker: EmbeddedBroker, **others: str) -> dict[str, object]:
    return {"bootstrap.servers": broker.bootstrap_servers, **others}


def create(bootstrap: str, topic: str, partitions: int) -> None:
    run("topics", bootstrap, "--create", "--topic", topic, "--partitions", str(partitions))


@pytest.mark.parametrize(("offset", "position"), [("earliest", 0), ("latest", 2), ("1", 1)])
def test_one_partition_is_read_from_where_it_is_said(
    broker: EmbeddedBroker, bootstrap: str, offset: str, position: int
) -> None:
    create(bootstrap, f"one{position}", 2)
    run("console-producer", bootstrap, "--topic", f"one{position}", stdin="a\nb\n")
    partition = next(
        number for number, found in broker.wait_for_records(f"one{position}", 2).items() if found
    )

    async def read() -> int:
        settings = values(broker)
        wanted = ReadingOptions(topic=f"one{position}", partition=partition, offset=offset)
        async with (
            Consumer[bytes, bytes](settings) as consumer,
            reading(consumer, wanted, settings) as topics,
        ):
            assert topics == [wanted.topic]
            return await consumer.position(TopicPartition(wanted.topic, partition))

    assert asyncio.run(read()) == position


def test_without_a_group_new_topics_and_partitions_join(
    broker: EmbeddedBroker, bootstrap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "LOOK_S", 0.01)
    create(bootstrap, "grow-a", 1)
    create(bootstrap, "other", 1)

    async def read() -> list[TopicPartition]:
        settings = values(broker)
        wanted = ReadingOptions(pattern="grow-.*")
        async with (
            Consumer[bytes, bytes](settings) as consumer,
            reading(consumer, wanted, settings),
        ):
            assert consumer.assignment() == [TopicPartition("grow-a", 0)]
            await asyncio.to_thread(create, bootstrap, "grow-b", 1)
            await until(lambda: len(consumer.assignment()) == 2)
            return sorted(consumer.assignment())

    assert asyncio.run(read()) == [TopicPartition("grow-a", 0), TopicPartition("grow-b", 0)]
