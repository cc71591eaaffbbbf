"""aiokafka, as it is on PyPI, against our broker."""

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from conformance.our_broker import OurBroker
from conformance.sent import CODECS, Sent, big_record, records

DEADLINE_S = 30


async def produce(bootstrap: str, topic: str, rows: list[Sent], **settings: object) -> list[int]:
    """Send and wait; returns the offsets."""
    async with AIOKafkaProducer(bootstrap_servers=bootstrap, linger_ms=5, **settings) as producer:
        sent = [
            await producer.send(
                topic,
                key=row.key,
                value=row.value,
                headers=list(row.headers),
                partition=0,
                timestamp_ms=row.timestamp_ms,
            )
            for row in rows
        ]
        return [(await future).offset for future in sent]


async def consume(bootstrap: str, topic: str, count: int) -> list[Sent]:
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap,
        auto_offset_reset="earliest",
        max_partition_fetch_bytes=10_000_000,
    )
    async with consumer:
        consumer.assign([TopicPartition(topic, 0)])
        found: list[Sent] = []
        while len(found) < count:
            polled = await consumer.getmany(timeout_ms=DEADLINE_S * 1000)
            assert polled, f"only {len(found)} of {count} records came"
            for record in polled[TopicPartition(topic, 0)]:
                headers = tuple(record.headers)
                found.append(Sent(record.key, record.value, record.timestamp, headers))
    return found


@pytest.mark.parametrize("codec", CODECS)
async def test_every_codec_there_and_back(broker: OurBroker, codec: str) -> None:
    topic, rows = f"codec-{codec}", records()
    setting = None if codec == "none" else codec
    offsets = await produce(broker.bootstrap, topic, rows, compression_type=setting)
    assert offsets == list(range(len(rows)))
    assert await consume(broker.bootstrap, topic, len(rows)) == rows


async def test_an_idempotent_producer(broker: OurBroker) -> None:
    rows = records()
    await produce(broker.bootstrap, "idempotent", rows, enable_idempotence=True)
    assert await consume(broker.bootstrap, "idempotent", len(rows)) == rows


async def test_a_message_of_several_megabytes(broker: OurBroker) -> None:
    row = big_record()
    await produce(broker.bootstrap, "big", [row], max_request_size=10_000_000)
    assert await consume(broker.bootstrap, "big", 1) == [row]


async def test_offsets_are_found_by_time(broker: OurBroker) -> None:
    rows = [Sent(None, b"%d" % number, 1_700_000_000_000 + 1000 * number) for number in range(10)]
    await produce(broker.bootstrap, "times", rows)
    partition = TopicPartition("times", 0)
    async with AIOKafkaConsumer(bootstrap_servers=broker.bootstrap) as consumer:
        found = await consumer.offsets_for_times({partition: 1_700_000_003_500})
        assert found[partition].offset == 4
        assert await consumer.end_offsets([partition]) == {partition: 10}
