"""aiokafka, as it is on PyPI, against our broker."""

import asyncio
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from conformance.our_broker import OurBroker, our_broker
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


async def test_a_group_remembers_where_it_was(broker: OurBroker) -> None:
    await produce(broker.bootstrap, "grouped", records(50))
    assert len(await grouped(broker, 50)) == 50
    await produce(broker.bootstrap, "grouped", [Sent(None, b"later", 1)])
    assert await grouped(broker, 1) == [b"later"]


async def grouped(broker: OurBroker, count: int) -> list[bytes | None]:
    """The next records of a group that commits what it has read."""
    consumer = AIOKafkaConsumer(
        "grouped",
        bootstrap_servers=broker.bootstrap,
        group_id="grouped",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    async with consumer, asyncio.timeout(DEADLINE_S):
        found = [(await consumer.getone()).value for _ in range(count)]
        await consumer.commit()
    return found


async def test_a_transaction_is_seen_when_it_is_committed(broker: OurBroker) -> None:
    async with AIOKafkaProducer(
        bootstrap_servers=broker.bootstrap, transactional_id="tx"
    ) as producer:
        async with producer.transaction():
            await producer.send_and_wait("transactions", b"kept", partition=0)
        await producer.begin_transaction()
        await producer.send_and_wait("transactions", b"dropped", partition=0)
        await producer.abort_transaction()
    consumer = AIOKafkaConsumer(
        bootstrap_servers=broker.bootstrap,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
    )
    async with consumer, asyncio.timeout(DEADLINE_S):
        partition = TopicPartition("transactions", 0)
        consumer.assign([partition])
        assert (await consumer.getone()).value == b"kept"
        (end,) = (await consumer.end_offsets([partition])).values()
        assert end == 4  # two records and two markers


async def test_a_producer_and_a_group_go_on_after_a_restart(tmp_path: Path) -> None:
    with our_broker(tmp_path) as broker:
        consumer = AIOKafkaConsumer(
            "t",
            bootstrap_servers=broker.bootstrap,
            group_id="g",
            auto_offset_reset="earliest",
            metadata_max_age_ms=500,
        )
        settings = {"bootstrap_servers": broker.bootstrap, "enable_idempotence": True}
        async with AIOKafkaProducer(**settings) as producer, consumer, asyncio.timeout(60):
            for value in (b"before", b"after"):
                await producer.send_and_wait("t", value, partition=0)
                assert (await consumer.getone()).value == value
                await consumer.commit()
                if value == b"before":
                    broker.stop()
                    broker.start()
            assert await consumer.committed(TopicPartition("t", 0)) == 2


async def test_topics_and_groups_are_administered(broker: OurBroker) -> None:
    topic, partition = "administered", TopicPartition("administered", 0)
    async with asyncio.timeout(DEADLINE_S):
        admin = AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap)
        await admin.start()
        settings = {"cleanup.policy": "compact"}
        await admin.create_topics([NewTopic(topic, 2, 1, topic_configs=settings)])
        await admin.create_partitions({topic: NewPartitions(3)})
        (described,) = await admin.describe_topics([topic])
        assert len(described["partitions"]) == 3
        await admin.alter_configs(
            [ConfigResource(ConfigResourceType.TOPIC, topic, {"retention.ms": "123456"})]
        )
        (answer,) = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
        found = {name: value for name, value, *_ in answer.resources[0][4]}
        assert (found["retention.ms"], found["cleanup.policy"]) == ("123456", "delete")

        await produce(broker.bootstrap, topic, records(10))
        await admin.delete_records({partition: RecordsToDelete(4)})
        async with AIOKafkaConsumer(
            topic, bootstrap_servers=broker.bootstrap, group_id=topic, auto_offset_reset="earliest"
        ) as consumer:
            assert (await consumer.getone()).offset == 4
            await consumer.commit({partition: 5})
            (group,) = (await admin.describe_consumer_groups([topic]))[0].groups
            assert group[2] == "Stable"
        assert (await admin.list_consumer_group_offsets(topic))[partition].offset == 5
        assert topic in [name for name, _ in await admin.list_consumer_groups()]
        assert len((await admin.describe_cluster())["brokers"]) == 1
        await admin.delete_topics([topic])
        assert topic not in await admin.list_topics()
        await admin.close()
