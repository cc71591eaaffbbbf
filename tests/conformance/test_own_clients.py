"""Our own clients, against our broker as it is restarted and against Apache Kafka."""

import asyncio
from pathlib import Path

import pytest

from conformance.apache.broker import apache_broker
from conformance.apache.marks import needs_apache
from conformance.sent import CODECS, Sent, big_record, records
from moldau import Consumer, Producer
from moldau.client.producer.intake import Receipt
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker

RESTARTS = 3
RECORDS_MIN = 2000


async def write(bootstrap: str, topic: str, rows: list[Sent], **settings: object) -> list[int]:
    """Send and wait; returns the offsets."""
    options = {"bootstrap.servers": bootstrap, "linger.ms": 5, **settings}
    async with Producer[bytes, bytes](options) as producer:
        results = [
            await producer.send(
                topic,
                row.value,
                key=row.key,
                partition=0,
                timestamp_ms=row.timestamp_ms,
                headers=row.headers,
            )
            for row in rows
        ]
        return [(await result).offset for result in results]


async def read(bootstrap: str, topic: str, count: int) -> list[Sent]:
    options = {"bootstrap.servers": bootstrap, "auto.offset.reset": "earliest"}
    found: list[Sent] = []
    async with Consumer[bytes, bytes](options) as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        async with asyncio.timeout(30):
            async for each in consumer:
                found.append(Sent(each.key, each.value, each.timestamp, each.headers))
                if len(found) == count:
                    return found
    raise AssertionError("a consumer goes on until it is closed")


async def test_restarts_under_load_lose_nothing_and_double_nothing(kafka: EmbeddedBroker) -> None:
    options = {"bootstrap.servers": kafka.bootstrap_servers, "retry.backoff.ms": 10}
    results: list[Receipt] = []
    async with Producer[bytes, bytes]({**options, "batch.size": 500}) as producer:
        restarting = asyncio.create_task(asyncio.to_thread(restart_often, kafka))
        while not restarting.done() or len(results) < RECORDS_MIN:
            results.append(await producer.send("t", b"%d" % len(results)))
            if len(results) % 100 == 0:
                await results[-1]
        places = await asyncio.gather(*results)
    await restarting
    assert [place.offset for place in places] == list(range(len(places)))
    stored = [record.value for record in kafka.records("t")[0]]
    assert stored == [b"%d" % number for number in range(len(places))]


async def test_a_reader_sees_each_record_once_while_the_broker_restarts(
    kafka: EmbeddedBroker,
) -> None:
    rows = [Sent(None, b"%d" % number, number) for number in range(RECORDS_MIN)]
    await write(kafka.bootstrap_servers, "t", rows, **{"batch.size": 500, "linger.ms": 0})
    options = {
        "bootstrap.servers": kafka.bootstrap_servers,
        "auto.offset.reset": "earliest",
        "retry.backoff.ms": 10,
        "max.partition.fetch.bytes": 2000,
    }
    found: list[bytes | None] = []
    async with Consumer[bytes, bytes](options) as consumer:
        consumer.assign([TopicPartition("t", 0)])
        async for record in consumer:
            found.append(record.value)
            if len(found) in (500, 1000):
                await asyncio.to_thread(kafka.restart)
            if len(found) == RECORDS_MIN:
                break
    assert found == [row.value for row in rows]


@needs_apache("kafka-3.9")
async def test_apache_kafka_there_and_back(tmp_path: Path) -> None:
    settings = {"auto.create.topics.enable": "true", "message.max.bytes": str(16 * 2**20)}
    with apache_broker(tmp_path, settings) as apache:
        await asyncio.to_thread(apache.start)
        for codec in CODECS:
            rows = records()
            offsets = await write(
                apache.bootstrap, f"codec-{codec}", rows, **{"compression.type": codec}
            )
            assert offsets == list(range(len(rows)))
            assert await read(apache.bootstrap, f"codec-{codec}", len(rows)) == rows
        await read_as_a_group(apache.bootstrap, "codec-none", records())
        big = big_record()
        await write(apache.bootstrap, "big", [big], **{"max.request.size": 10_000_000})
        assert await read(apache.bootstrap, "big", 1) == [big]


async def read_as_a_group(bootstrap: str, topic: str, rows: list[Sent]) -> None:
    """Half of the records by one member, the rest by the next."""
    options = {
        "bootstrap.servers": bootstrap,
        "auto.offset.reset": "earliest",
        "group.id": "g",
        "partition.assignment.strategy": "roundrobin,range",
    }
    found: list[bytes | None] = []
    for goal in (len(rows) // 2, len(rows)):
        async with Consumer[bytes, bytes](options) as consumer, asyncio.timeout(30):
            consumer.subscribe([topic])
            while len(found) < goal:
                records = await consumer.poll(1, max_records=goal - len(found))
                found += [record.value for record in records]
    assert found == [row.value for row in rows]


async def test_a_group_goes_on_while_the_broker_restarts(kafka: EmbeddedBroker) -> None:
    rows = [Sent(None, b"%d" % number, number) for number in range(RECORDS_MIN)]
    await write(kafka.bootstrap_servers, "t", rows, **{"batch.size": 500, "linger.ms": 0})
    options = {
        "bootstrap.servers": kafka.bootstrap_servers,
        "auto.offset.reset": "earliest",
        "group.id": "g",
        "heartbeat.interval.ms": 20,
        "retry.backoff.ms": 10,
        "max.partition.fetch.bytes": 2000,
    }
    seen: set[bytes | None] = set()
    async with Consumer[bytes, bytes](options) as consumer, asyncio.timeout(60):
        consumer.subscribe(["t"])
        while len(seen) < RECORDS_MIN:
            before = len(seen) // 500
            seen.update(record.value for record in await consumer.poll(1))
            if len(seen) // 500 != before and len(seen) < RECORDS_MIN:
                await asyncio.to_thread(kafka.restart)
    assert seen == {row.value for row in rows}


def restart_often(kafka: EmbeddedBroker) -> None:
    for _ in range(RESTARTS):
        kafka.restart()


@pytest.mark.parametrize("codec", CODECS)
async def test_every_codec_there_and_back(kafka: EmbeddedBroker, codec: str) -> None:
    rows = records()
    await write(kafka.bootstrap_servers, "t", rows, **{"compression.type": codec})
    assert await read(kafka.bootstrap_servers, "t", len(rows)) == rows
