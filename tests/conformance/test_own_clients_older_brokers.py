"""Our own clients with older brokers: Apache Kafka 2.1, and ours speaking what older ones spoke."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance import own_client_features
from conformance.apache.broker import ApacheBroker, zookeeper
from conformance.apache.cache import exclusive
from conformance.apache.marks import needs_apache
from moldau import Admin, Consumer, Producer
from moldau.client.admin.configs import ConfigResource
from moldau.client.admin.topics import NewTopic
from moldau.errors import CorruptMessage, KafkaError, MessageTooLarge, UnsupportedVersion
from moldau.model import TopicPartition
from moldau.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from moldau.protocol.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from moldau.records import legacy
from moldau.records.compression import Codec
from moldau.records.record import Record
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Respond

# The newest version of each API, without those among brokers.
OF_0_10 = "0:2 1:2 2:0 3:1 8:2 9:1 10:0 11:0 12:0 13:0 14:0 15:0 16:0 17:0 18:0"
OF_0_10_2 = "0:2 1:3 2:1 3:2 8:2 9:2 10:0 11:1 12:0 13:0 14:0 15:0 16:0 17:0 18:0 19:1 20:1"
OF_0_11 = (
    "0:3 1:5 2:2 3:4 8:3 9:3 10:1 11:2 12:1 13:1 14:1 15:1 16:1 18:1 19:2 20:1 21:0 22:0 23:0 "
    "24:0 25:0 26:0 28:0 32:0 33:0"
)
OF_2_1 = (
    "0:7 1:10 2:4 3:7 8:6 9:5 10:2 11:3 12:2 13:2 14:2 15:2 16:2 18:2 19:3 20:3 21:1 22:1 23:2 "
    "24:1 25:1 26:1 28:2 32:2 33:1 34:1 35:1 37:1 42:1"
)
OF_2_4 = (
    "0:8 1:11 2:5 3:9 8:8 9:6 10:3 11:6 12:4 13:4 14:4 15:5 16:3 18:3 19:5 20:4 21:1 22:2 23:3 "
    "24:1 25:1 26:1 28:2 32:2 33:1 34:1 35:1 37:1 42:2 43:2 44:1 45:0 46:0 47:0"
)


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {"group.initial.rebalance.delay.ms": "0"}


def speak_only(kafka: EmbeddedBroker, newest: str) -> None:
    answer = ApiVersionsResponse(
        error_code=0,
        api_keys=[
            ApiVersion(api_key=int(key), min_version=0, max_version=int(version))
            for key, version in (each.split(":") for each in newest.split())
        ],
    )
    kafka.control("ApiVersions", lambda _: Respond(answer))


@pytest.mark.parametrize("newest", [OF_0_11, OF_2_1, OF_2_4], ids=["0.11", "2.1", "2.4"])
async def test_everything_that_they_could_do(kafka: EmbeddedBroker, newest: str) -> None:
    speak_only(kafka, newest)
    await do_everything(kafka.bootstrap_servers)


@pytest.fixture
def apache_2_1(tmp_path: Path) -> Iterator[ApacheBroker]:
    with exclusive("broker"), zookeeper(tmp_path / "zookeeper") as port:
        settings = {
            "authorizer.class.name": "kafka.security.auth.SimpleAclAuthorizer",
            "super.users": "User:ANONYMOUS",
        }
        broker = ApacheBroker(tmp_path, port, settings, jars="kafka-2.1")
        try:
            broker.start()
            yield broker
        finally:
            broker.kill()


@needs_apache("kafka-2.1", "kafka-3.9")
async def test_the_same_with_a_real_one(apache_2_1: ApacheBroker) -> None:
    await do_everything(apache_2_1.bootstrap)
    await asyncio.to_thread(own_client_features.rows_and_columns, apache_2_1.bootstrap)
    await administer(apache_2_1.bootstrap, TopicPartition("codec-none", 0))
    assert not [line for line in apache_2_1.complaints() if "Exception" in line]


async def do_everything(bootstrap: str) -> None:
    """Topics, settings, records, transactions, groups, and their ends."""
    servers: dict[str, object] = {"bootstrap.servers": bootstrap, "retry.backoff.ms": 10}
    async with Admin(servers) as admin:
        (await admin.create_topics([NewTopic("t", 2, 1)])).check()
        assert len((await admin.describe_topics("t"))["t"].partitions) == 2
        topic = ConfigResource.topic("t")
        (await admin.alter_configs({topic: {"retention.ms": "123456789"}})).check()
        assert (await admin.describe_configs([topic]))[topic]["retention.ms"].value == "123456789"
        assert len((await admin.describe_cluster()).brokers) == 1
        await write_and_read(servers)
        assert [each.group_id for each in await admin.list_groups()] == ["g", "other"]
        assert (await admin.describe_groups("g"))["g"].protocol_type == "consumer"
        offsets = (await admin.list_group_offsets("g"))["g"]
        assert sum(each.offset for each in offsets.values()) >= 10
        (await admin.delete_topics("t")).check()


async def administer(bootstrap: str, partition: TopicPartition) -> None:
    """What 2.1 has for admins beside that."""
    async with Admin(bootstrap_servers=bootstrap, retry_backoff_ms=10) as admin:
        await own_client_features.access_rules(admin)
        await own_client_features.directories(admin, partition)
        (await admin.create_partitions({partition.topic: 3})).check()
        assert (await admin.delete_records({partition: 2}))[partition] == 2
        (await admin.delete_groups(partition.topic)).check()
        with pytest.raises(UnsupportedVersion, match="no versions of AlterClientQuotas"):
            await own_client_features.quotas(admin)


async def write_and_read(servers: dict[str, object]) -> None:
    """Ten records in a transaction, read by a group."""
    async with (
        Producer[bytes, bytes](servers, transactional_id="id") as producer,
        producer.transaction(),
    ):
        for number in range(10):
            await producer.send("t", b"%d" % number, partition=number % 2)
        await producer.send_offsets_to_transaction({TopicPartition("t", 0): 0}, "other")
    seen: set[bytes | None] = set()
    async with (
        asyncio.timeout(30),
        Consumer[bytes, bytes](
            servers, group_id="g", auto_offset_reset="earliest", isolation_level="read_committed"
        ) as consumer,
    ):
        consumer.subscribe(["t"])
        while len(seen) < 10:
            seen.update(record.value for record in await consumer.poll(1))
    assert len(seen) == 10


@pytest.mark.parametrize("newest", [OF_0_10, OF_0_10_2], ids=["0.10.0", "0.10.2"])
@pytest.mark.parametrize("codec", ["none", "gzip", "lz4"])
async def test_the_oldest_have_records_in_another_format(
    kafka: EmbeddedBroker, newest: str, codec: str
) -> None:
    speak_only(kafka, newest)
    servers = {"bootstrap.servers": kafka.bootstrap_servers, "retry.backoff.ms": 10}
    async with Producer[bytes, bytes](
        servers, enable_idempotence=False, linger_ms=5, compression_type=codec
    ) as producer:
        receipts = [
            await producer.send("t", b"%d" % number, key=b"k", timestamp_ms=1000 + number)
            for number in range(50)
        ]
        assert [(await receipt).offset for receipt in receipts] == list(range(50))
        with pytest.raises(UnsupportedVersion, match=r"older than Kafka 0\.11, and headers"):
            await (await producer.send("t", b"v", headers=[("h", b"1")]))
    async with (
        asyncio.timeout(30),
        Consumer[bytes, bytes](servers, group_id="g", auto_offset_reset="earliest") as consumer,
    ):
        consumer.subscribe(["t"])
        found = [await anext(consumer) for _ in range(50)]
        assert [record.astuple() for record in found] == [
            ("t", 0, number, 1000 + number, b"k", b"%d" % number, ()) for number in range(50)
        ]
        await consumer.commit()
        assert await consumer.committed([TopicPartition("t", 0)]) == {TopicPartition("t", 0): 50}
        consumer.seek(TopicPartition("t", 0), 37)
        assert (await anext(consumer)).value == b"37"


@pytest.mark.parametrize(
    ("sent_bytes", "error"), [(50, MessageTooLarge), (200, CorruptMessage)], ids=["cut", "damaged"]
)
async def test_what_cannot_be_read_of_the_oldest_is_said(
    kafka: EmbeddedBroker, sent_bytes: int, error: type[KafkaError]
) -> None:
    """They cut a message that is larger than what was asked for."""
    speak_only(kafka, OF_0_10)
    record = Record(0, 1000, None, bytes(100))
    message = bytearray(legacy.write_message_set([record], magic=1, codec=Codec.NONE))
    message[-1] ^= 1
    data = PartitionData(
        partition_index=0,
        error_code=0,
        high_watermark=1,
        records=memoryview(message)[:sent_bytes],
    )
    answer = FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[data])])
    kafka.control("Fetch", lambda _: Respond(answer))
    async with Consumer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as consumer:
        await consumer.partitions_of("t")
        consumer.assign({TopicPartition("t", 0): 0})
        with pytest.raises(error, match="t-0 at offset 0"):
            await consumer.poll(20)


async def test_the_oldest_have_no_idempotence(kafka: EmbeddedBroker) -> None:
    speak_only(kafka, OF_0_10)
    async with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        with pytest.raises(UnsupportedVersion, match="no versions of InitProducerId"):
            await producer.send_and_wait("t", b"v")


async def test_what_they_could_not_do_is_said(kafka: EmbeddedBroker) -> None:
    speak_only(kafka, OF_0_11)
    async with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        with pytest.raises(UnsupportedVersion, match="no versions of CreatePartitions"):
            (await admin.create_partitions({"t": 3})).check()
        with pytest.raises(UnsupportedVersion, match="no versions of ListTransactions"):
            await admin.list_transactions()
