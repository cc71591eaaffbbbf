"""The producer as its users see it."""

import json
import os

import pytest

import moldau
import moldau.client.blocking
from moldau.client import producer as package
from moldau.client.partitioner import RoundRobinPartitioner, partition_of_key
from moldau.client.producer.batches import intake
from moldau.client.producer.producer import Producer, as_bytes
from moldau.errors import (
    ErrorCode,
    InvalidConfig,
    MessageTooLarge,
    NetworkException,
    RequestTimedOut,
    UnknownTopicOrPartition,
)
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Action, Call, Delay, Fail


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {"num.partitions": "3"}


def producer_of(kafka: EmbeddedBroker, **settings: object) -> Producer[bytes, bytes]:
    mapping = {name.replace("_", "."): value for name, value in settings.items()}
    return Producer({"bootstrap.servers": kafka.bootstrap_servers, **mapping})


async def test_a_record_arrives_with_all_its_parts(kafka: EmbeddedBroker) -> None:
    async with producer_of(kafka) as producer:
        result = await producer.send(
            "orders", b"value", key=b"key", partition=2, timestamp_ms=1234, headers=[("h", b"x")]
        )
        assert await result == ("orders", 2, 0, 1234)
    (record,) = kafka.records("orders")[2]
    assert (record.key, record.value, record.timestamp) == (b"key", b"value", 1234)
    assert record.headers == ((b"h", b"x"),)


async def test_a_record_that_is_waited_for_may_have_all_parts_too(kafka: EmbeddedBroker) -> None:
    headers = [("h", b"x")]
    async with producer_of(kafka) as producer:
        place = await producer.send_and_wait(
            "orders", b"value", key=b"key", partition=2, timestamp_ms=1234, headers=headers
        )
        assert place == ("orders", 2, 0, 1234)
    with moldau.client.blocking.Producer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers
    ) as blocking:
        for offset in (1, 2):  # the second goes the direct way
            place = blocking.send_and_wait(
                "orders", b"value", key=b"key", partition=2, timestamp_ms=1234, headers=headers
            )
            assert place == ("orders", 2, offset, 1234)
    for record in kafka.records("orders")[2]:
        assert (record.key, record.value, record.headers) == (b"key", b"value", ((b"h", b"x"),))


async def test_leaving_the_block_sends_what_is_left(kafka: EmbeddedBroker) -> None:
    async with producer_of(kafka, linger_ms=60_000, delivery_timeout_ms=120_000) as producer:
        for number in range(500):
            await producer.send("orders", b"%d" % number)
    assert sum(map(len, kafka.records("orders").values())) == 500


async def test_flush_returns_when_all_is_stored(kafka: EmbeddedBroker) -> None:
    async with producer_of(kafka, linger_ms=60_000) as producer:
        result = await producer.send("orders", b"v")
        await producer.flush()
        assert result.done()
        await producer.flush()


def refuse_large(call: Call) -> Action:
    """As a broker whose `max.message.bytes` is less than the producer's batches."""
    sizes = [
        len(partition.records)
        for topic in call.request.topic_data
        for partition in topic.partition_data
    ]
    return Fail(ErrorCode.MESSAGE_TOO_LARGE) if max(sizes) > 500 else None


async def test_flush_and_close_wait_for_the_parts_of_batches(kafka: EmbeddedBroker) -> None:
    kafka.control("Produce", refuse_large)
    async with producer_of(kafka, linger_ms=60_000, batch_size=4000) as producer:
        for _ in range(100):
            await producer.send("orders", b"v" * 50, partition=0)
        await producer.flush(timeout_s=60)
        for _ in range(100):
            await producer.send("orders", b"v" * 50, partition=0)
        await producer.close(timeout_s=60)
    assert len(kafka.records("orders")[0]) == 200


async def test_a_transaction_is_committed_when_the_parts_of_its_batches_are_stored(
    kafka: EmbeddedBroker,
) -> None:
    kafka.control("Produce", refuse_large)
    limits = {"linger_ms": 60_000, "batch_size": 4000, "delivery_timeout_ms": 90_000}
    producer = producer_of(kafka, transactional_id="shop", **limits)
    async with producer, producer.transaction():
        for _ in range(100):
            await producer.send("orders", b"v" * 50, partition=0)
    assert len(kafka.records("orders")[0]) == 100


async def test_flush_gives_up_when_its_time_is_over(kafka: EmbeddedBroker) -> None:
    kafka.control("Produce", lambda _: Delay(0.2))
    async with producer_of(kafka) as producer:
        await producer.send("orders", b"v")
        with pytest.raises(RequestTimedOut, match="not all records"):
            await producer.flush(timeout_s=0.01)


async def test_serializers_are_plain_functions(kafka: EmbeddedBroker) -> None:
    producer = Producer[str, dict[str, int]](
        bootstrap_servers=kafka.bootstrap_servers,
        key_serializer=str.encode,
        value_serializer=lambda value: json.dumps(value).encode(),
    )
    async with producer:
        place = await producer.send_and_wait("orders", {"a": 1}, key="k")
    (record,) = kafka.records("orders")[place.partition]
    assert (record.key, record.value) == (b"k", b'{"a": 1}')


@pytest.mark.parametrize("value", ["v", b"v", bytearray(b"v"), memoryview(b"v")])
def test_without_a_serializer_bytes_and_text_are_taken(value: object) -> None:
    assert as_bytes(value) == b"v"


def test_without_a_serializer_other_things_are_refused() -> None:
    with pytest.raises(TypeError, match="not dict: pass a serializer"):
        as_bytes({})


async def test_a_key_goes_where_java_puts_it(kafka: EmbeddedBroker) -> None:
    async with producer_of(kafka) as producer:
        place = await producer.send_and_wait("orders", b"v", key=b"foobar")
    assert place.partition == partition_of_key(b"foobar", range(3))


async def test_records_can_go_round_robin_or_by_a_function(kafka: EmbeddedBroker) -> None:
    for partitioner in (RoundRobinPartitioner(), lambda topic, key, partitions: partitions[-1]):
        servers = kafka.bootstrap_servers
        async with Producer[bytes, bytes](
            bootstrap_servers=servers, partitioner=partitioner
        ) as producer:
            for _ in range(3):
                await producer.send("orders", b"v")
    assert {number: len(each) for number, each in kafka.records("orders").items()} == {
        0: 1,
        1: 1,
        2: 4,
    }


async def test_records_without_a_key_change_partitions_batch_by_batch(
    kafka: EmbeddedBroker,
) -> None:
    async with producer_of(kafka, batch_size=1000) as producer:
        for _ in range(200):
            await producer.send("orders", b"v" * 100)
    counts = [len(each) for each in kafka.records("orders").values()]
    assert sum(counts) == 200
    assert len([count for count in counts if count > 0]) >= 2


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
async def test_batches_are_compressed(kafka: EmbeddedBroker, codec: str) -> None:
    async with producer_of(kafka, compression_type=codec, linger_ms=50) as producer:
        for _ in range(100):
            await producer.send("orders", b"the same again; " * 10, partition=0)
    assert len(kafka.records("orders")[0]) == 100


@pytest.mark.parametrize("acks", [0, 1, "all"])
async def test_every_kind_of_acknowledgement(kafka: EmbeddedBroker, acks: int | str) -> None:
    async with producer_of(kafka, acks=acks, enable_idempotence=False) as producer:
        place = await producer.send_and_wait("orders", b"v", key=b"k")
    assert place.offset == (-1 if acks == 0 else 0)
    kafka.wait_for_records("orders", 1)


async def test_a_full_buffer_makes_senders_wait_and_then_gives_up(kafka: EmbeddedBroker) -> None:
    release = kafka.control("Produce", lambda _: Delay(0.5))
    async with producer_of(kafka, buffer_memory=300, max_block_ms=100) as producer:
        await producer.partitions_of("orders")
        await producer.send("orders", b"v" * 200)
        with pytest.raises(RequestTimedOut, match=r"buffer\.memory was full"):
            await producer.send("orders", b"v" * 200)
        release()
    assert sum(map(len, kafka.records("orders").values())) == 1


async def test_memory_stays_within_its_bound(kafka: EmbeddedBroker) -> None:
    kafka.control("Produce", lambda _: Delay(0.005))
    async with producer_of(kafka, buffer_memory=2000, batch_size=500) as producer:
        for _ in range(100):
            await producer.send("orders", b"v" * 100)
            assert producer._accumulator.used_bytes <= 2000
    assert sum(map(len, kafka.records("orders").values())) == 100


async def test_a_record_larger_than_a_request_is_refused(kafka: EmbeddedBroker) -> None:
    async with producer_of(kafka, max_request_size=1000) as producer:
        with pytest.raises(MessageTooLarge, match=r"max\.request\.size"):
            await producer.send("orders", b"v" * 1000)


async def test_a_partition_that_is_not_there_is_refused(kafka: EmbeddedBroker) -> None:
    async with producer_of(kafka) as producer:
        with pytest.raises(UnknownTopicOrPartition, match="no partition 3; it has 3"):
            await producer.send("orders", b"v", partition=3)


async def test_nobody_there_is_an_error_that_says_what_was_tried() -> None:
    producer = Producer[bytes, bytes](bootstrap_servers="127.0.0.1:1", max_block_ms=1)
    with pytest.raises(NetworkException, match=r"127\.0\.0\.1:1"):
        await producer.start()


def test_an_unknown_setting_is_an_error_that_suggests_another() -> None:
    with pytest.raises(InvalidConfig, match="did you mean linger_ms"):
        Producer(bootstrap_servers="a:1", lingerms=5)  # type: ignore[call-arg]


async def test_outside_its_block_a_producer_cannot_be_used(kafka: EmbeddedBroker) -> None:
    producer = producer_of(kafka)
    with pytest.raises(RuntimeError, match="not started"):
        await producer.send("orders", b"v")
    async with producer:
        await producer.send("orders", b"v")
    with pytest.raises(RuntimeError, match="closed"):
        await producer.send("orders", b"v")
    await producer.close()


async def test_after_a_fork_a_producer_says_that_it_cannot_be_used(
    kafka: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with producer_of(kafka) as producer:
        with monkeypatch.context() as child:
            child.setattr(os, "getpid", lambda: -1)
            with pytest.raises(RuntimeError, match="after a fork"):
                await producer.send("orders", b"v")


async def test_closing_in_a_hurry_tells_what_is_lost(kafka: EmbeddedBroker) -> None:
    kafka.control("Produce", lambda _: Delay(0.5))
    producer = producer_of(kafka)
    await producer.start()
    result = await producer.send("orders", b"v")
    with pytest.raises(RequestTimedOut):
        await producer.close(timeout_s=0.01)
    with pytest.raises(RequestTimedOut, match="closed before this was stored"):
        await result


def test_it_is_found_in_the_package_itself() -> None:
    assert moldau.Producer is Producer


def test_users_import_producer_and_receipt_from_the_package() -> None:
    assert package.Producer is Producer
    assert package.Receipt is intake.Receipt
    with pytest.raises(AttributeError, match="Sender"):
        _ = package.Sender
