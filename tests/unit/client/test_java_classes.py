"""Functions that settings name as Java's clients name them."""

import uuid

import pytest

from moldau import Consumer, Producer
from moldau.client import java_classes
from moldau.client.partitioner import RoundRobinPartitioner
from moldau.config.properties import decode_properties
from moldau.errors import InvalidConfig
from moldau.testing.broker import EmbeddedBroker

SERDES = "org.apache.kafka.common.serialization."
PRODUCER = b"""
acks=all
bootstrap.servers=SERVERS
client.dns.lookup=use_all_dns_ips
connections.max.idle.ms=540000
enable.metrics.push=true
key.serializer=org.apache.kafka.common.serialization.LongSerializer
metric.reporters=
partitioner.class=org.apache.kafka.clients.producer.RoundRobinPartitioner
receive.buffer.bytes=32768
reconnect.backoff.ms=50
retry.backoff.max.ms=1000
send.buffer.bytes=131072
value.serializer=org.apache.kafka.common.serialization.StringSerializer
"""
CONSUMER = b"""
auto.offset.reset=earliest
bootstrap.servers=SERVERS
default.api.timeout.ms=60000
exclude.internal.topics=true
group.id=shop
key.deserializer=org.apache.kafka.common.serialization.LongDeserializer
partition.assignment.strategy=org.apache.kafka.clients.consumer.RangeAssignor,\\
    org.apache.kafka.clients.consumer.CooperativeStickyAssignor
value.deserializer=org.apache.kafka.common.serialization.StringDeserializer
"""


async def test_files_of_javas_clients_work_as_they_are(kafka: EmbeddedBroker) -> None:
    servers = kafka.bootstrap_servers.encode()
    producing, consuming = (
        decode_properties(each.replace(b"SERVERS", servers)) for each in (PRODUCER, CONSUMER)
    )
    async with Producer[int, str](producing) as producer:
        await producer.send_and_wait("orders", "hrušky", key=7)
    async with Consumer[int, str](consuming) as consumer:
        consumer.subscribe(["orders"])
        record = await anext(consumer)
    assert (record.key, record.value) == (7, "hrušky")


def test_serializers_are_found_by_their_classes() -> None:
    usual = str.encode
    upper: object = bytes.upper
    named = {"key.serializer": f"{SERDES}UUIDSerializer", "value.serializer": upper}
    found = java_classes.serializer(named, "key.serializer", usual, usual)
    written = found(uuid.UUID(int=1))  # type: ignore[arg-type]
    assert written == b"00000000-0000-0000-0000-000000000001"
    assert java_classes.serializer(named, "value.serializer", usual, usual) is upper
    for name in ("String", "ByteArray", "Bytes"):
        named = {"key.serializer": f"{SERDES}{name}Serializer"}
        assert java_classes.serializer(named, "key.serializer", usual, usual) is usual
    assert java_classes.serializer(None, "key.serializer", bytes.lower, usual) is bytes.lower


def test_deserializers_are_found_by_their_classes() -> None:
    named = {"value.deserializer": f"{SERDES}IntegerDeserializer"}
    key, value = java_classes.deserializers(named, bytes.lower, None)
    assert key is bytes.lower
    assert value is not None
    assert value(b"\0\0\0\5") == 5
    named = {"value.deserializer": f"{SERDES}ByteArrayDeserializer"}
    assert java_classes.deserializers(named, None, None) == (None, None)


def test_partitioners_are_found_by_their_classes() -> None:
    package = "org.apache.kafka.clients.producer."
    named = {"partitioner.class": f"{package}RoundRobinPartitioner"}
    assert isinstance(java_classes.partitioner(named, None), RoundRobinPartitioner)
    named = {"partitioner.class": f"{package}internals.DefaultPartitioner"}
    assert java_classes.partitioner(named, None) is None
    with pytest.raises(InvalidConfig, match="a function, or one of"):
        java_classes.partitioner({"partitioner.class": f"{package}UniformStickyPartitioner"}, None)


@pytest.mark.parametrize(
    ("class_name", "reason"),
    [
        ("io.confluent.kafka.serializers.KafkaAvroDeserializer", "a function of moldau"),
        (f"{SERDES}LongSerializer", "a function, or"),
        ("com.example.Mine", "a function, or"),
    ],
)
def test_classes_that_are_not_here_are_refused(class_name: str, reason: str) -> None:
    with pytest.raises(InvalidConfig, match=reason):
        java_classes.deserializers({"value.deserializer": class_name}, None, None)


def test_a_function_comes_once_and_to_whom_it_belongs() -> None:
    settings = {"bootstrap.servers": "a:1", "value.deserializer": f"{SERDES}LongDeserializer"}
    with pytest.raises(InvalidConfig, match="given as an argument too"):
        Consumer(settings, value_deserializer=bytes.lower)
    with pytest.raises(InvalidConfig, match=r"Unknown client config name: value\.deserializer"):
        Producer(settings)
