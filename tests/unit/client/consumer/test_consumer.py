"""The consumer as its users see it, with partitions that it is given."""

import asyncio
import json
import os

import pytest

import moldau
from moldau.client import consumer as package
from moldau.client.consumer.consumer import Consumer
from moldau.client.producer.producer import Producer
from moldau.client.record import ConsumerRecord
from moldau.errors import CorruptMessage, NetworkException, OffsetOutOfRange
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Delay
from unit.client.reading import read, write
from unit.client.topics import create_topic

T0 = TopicPartition("t", 0)


def consumer_of(kafka: EmbeddedBroker, **settings: object) -> Consumer[bytes, bytes]:
    quick = {"auto_offset_reset": "earliest", "fetch_max_wait_ms": 20, "retry_backoff_ms": 5}
    mapping = {name.replace("_", "."): value for name, value in {**quick, **settings}.items()}
    return Consumer({"bootstrap.servers": kafka.bootstrap_servers, **mapping})


async def test_records_come_in_order_with_all_their_parts(kafka: EmbeddedBroker) -> None:
    async with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        await producer.send("t", b"v", key=b"k", timestamp_ms=5, headers=[("h", b"1"), ("n", None)])
        await producer.send("t", None, key=b"k", timestamp_ms=6)
    async with consumer_of(kafka) as consumer:
        consumer.assign([T0])
        first = await anext(consumer)
        second = await anext(consumer)
    headers = (("h", b"1"), ("n", None))
    assert first == ConsumerRecord("t", 0, 0, 5, b"k", b"v", headers)
    assert second == ConsumerRecord("t", 0, 1, 6, b"k", None, ())


async def test_polling_returns_what_there_is_up_to_a_limit(kafka: EmbeddedBroker) -> None:
    await write(kafka, "t", range(10))
    async with consumer_of(kafka, max_poll_records=4) as consumer:
        consumer.assign([T0])
        sizes = [len(await consumer.poll(10)) for _ in range(3)]
        assert sum(sizes) == 10
        assert max(sizes) == 4
        assert await consumer.poll(0.01) == []
        assert consumer.lag(T0) == 0


@pytest.mark.parametrize(("level", "lag"), [("read_uncommitted", 3), ("read_committed", 0)])
async def test_who_reads_what_is_committed_is_not_behind_an_open_transaction(
    kafka: EmbeddedBroker, level: str, lag: int
) -> None:
    await write(kafka, "t", range(10))
    producer = Producer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers, transactional_id="open"
    )
    async with producer, consumer_of(kafka, isolation_level=level) as consumer:
        await producer.begin_transaction()
        for _ in range(3):
            await (await producer.send("t", b"0"))
        consumer.assign([T0])
        await read(consumer, 10)
        assert consumer.lag(T0) == lag


async def test_closing_takes_no_longer_than_one_wants(kafka: EmbeddedBroker) -> None:
    await write(kafka, "t", range(3))
    kafka.control("OffsetCommit", lambda _: Delay(60))
    consumer = consumer_of(kafka, group_id="g", request_timeout_ms=120_000)
    await consumer.start()
    consumer.assign([T0])
    await read(consumer, 3)
    await consumer.close(timeout_s=0.05)
    with pytest.raises(RuntimeError, match="closed"):
        await consumer.poll()
    kafka.restart()  # which forgets what it holds back


async def test_deserializers_are_plain_functions(kafka: EmbeddedBroker) -> None:
    async with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        await producer.send("t", b'{"a": 1}', key=b"k")
    consumer = Consumer[str, dict[str, int]](
        bootstrap_servers=kafka.bootstrap_servers,
        auto_offset_reset="earliest",
        key_deserializer=bytes.decode,
        value_deserializer=json.loads,
    )
    async with consumer:
        consumer.assign([T0])
        record = await anext(consumer)
    assert (record.key, record.value) == ("k", {"a": 1})


async def test_a_deserializer_that_fails_costs_its_record_alone(kafka: EmbeddedBroker) -> None:
    async with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for value in (b"1", b"two", b"3"):
            await producer.send("t", value)
    consumer = Consumer[bytes, int](
        bootstrap_servers=kafka.bootstrap_servers,
        auto_offset_reset="earliest",
        value_deserializer=int,
    )
    async with consumer:
        consumer.assign([T0])
        assert [record.value for record in await consumer.poll(10)] == [1]
        with pytest.raises(ValueError, match="two"):
            await consumer.poll(10)
        assert [record.value for record in await consumer.poll(10)] == [3]
        await consumer.seek_to_beginning()
        assert (await anext(consumer)).value == 1
        with pytest.raises(ValueError, match="two"):
            await anext(consumer)
        assert (await anext(consumer)).value == 3


async def test_damaged_records_are_an_error_until_they_are_passed(kafka: EmbeddedBroker) -> None:
    await write(kafka, "t", range(100))
    (segment,) = kafka.directory.rglob("t-0/00000000000000000000.log")
    data = bytearray(segment.read_bytes())
    data[data.index(b"40")] ^= 1
    segment.write_bytes(data)
    async with consumer_of(kafka) as consumer:
        consumer.assign([T0])
        found = await read(consumer, 30)
        for _ in range(2):
            with pytest.raises(CorruptMessage, match=r"t-0 at 3[0-9]: .*wrong checksum"):
                found += await read(consumer, 20)
        assert await consumer.position(T0) <= 40
        consumer.seek(T0, 99)
        assert await read(consumer, 1) == [99]


async def test_the_latest_is_where_new_records_come(kafka: EmbeddedBroker) -> None:
    await write(kafka, "t", range(5))
    async with consumer_of(kafka, auto_offset_reset="latest") as consumer:
        consumer.assign([T0])
        assert await consumer.position(T0) == 5
        await write(kafka, "t", range(5, 7))
        assert await read(consumer, 2) == [5, 6]


async def test_without_a_reset_policy_no_offset_is_an_error(kafka: EmbeddedBroker) -> None:
    async with consumer_of(kafka, auto_offset_reset="none") as consumer:
        consumer.assign([T0])
        with pytest.raises(OffsetOutOfRange, match=r"t-0, and auto\.offset\.reset is none"):
            await consumer.poll(10)


async def test_an_offset_that_is_not_there_is_reset(kafka: EmbeddedBroker) -> None:
    await write(kafka, "t", range(5))
    async with consumer_of(kafka) as consumer:
        consumer.assign([T0])
        consumer.seek(T0, 77)
        assert await read(consumer, 5) == [0, 1, 2, 3, 4]


async def test_the_past_can_be_read_again(kafka: EmbeddedBroker) -> None:
    await write(kafka, "t", range(10))
    async with consumer_of(kafka) as consumer:
        consumer.assign([("t", 0)])
        assert await read(consumer, 10) == list(range(10))
        consumer.seek(T0, 7)
        assert await read(consumer, 2) == [7, 8]
        assert await consumer.position(T0) == 9
        await consumer.seek_to_beginning()
        assert await read(consumer, 1) == [0]
        await consumer.seek_to_end(T0)
        assert await consumer.position(T0) == 10


async def test_offsets_are_found_by_time_and_at_the_ends(kafka: EmbeddedBroker) -> None:
    await write(kafka, "t", range(10))
    async with consumer_of(kafka) as consumer:
        assert await consumer.beginning_offsets([T0]) == {T0: 0}
        assert await consumer.end_offsets([T0]) == {T0: 10}
        assert await consumer.offsets_for_times({T0: 1004}) == {T0: (4, 1004)}
        assert await consumer.offsets_for_times({T0: 5000}) == {T0: None}


async def test_a_paused_partition_waits_without_losing_anything(kafka: EmbeddedBroker) -> None:
    await write(kafka, "t", range(4))
    async with consumer_of(kafka) as consumer:
        consumer.assign([T0])
        assert await read(consumer, 2) == [0, 1]
        consumer.pause(T0)
        assert consumer.paused() == [T0]
        assert await consumer.poll(0.05) == []
        consumer.resume(T0)
        assert consumer.paused() == []
        assert await read(consumer, 2) == [2, 3]


async def test_partitions_can_be_taken_away(kafka: EmbeddedBroker) -> None:
    await write(kafka, "t", range(4))
    async with consumer_of(kafka) as consumer:
        consumer.assign([T0])
        assert await read(consumer, 1) == [0]
        consumer.assign([])
        assert consumer.assignment() == []
        assert await consumer.poll(0.05) == []
        with pytest.raises(KeyError, match="t-0 is not assigned"):
            consumer.seek(T0, 0)


async def test_outside_its_block_a_consumer_cannot_be_used(kafka: EmbeddedBroker) -> None:
    consumer = consumer_of(kafka)
    with pytest.raises(RuntimeError, match="not started"):
        await consumer.poll()
    async with consumer:
        assert await consumer.partitions_of("t") == [T0]
    with pytest.raises(RuntimeError, match="closed"):
        await consumer.poll()
    await consumer.close()


async def test_nobody_there_is_an_error_that_says_what_was_tried() -> None:
    consumer = Consumer[bytes, bytes](bootstrap_servers="127.0.0.1:1", default_api_timeout_ms=1)
    with pytest.raises(NetworkException, match=r"127\.0\.0\.1:1"):
        await consumer.start()


async def test_after_a_fork_a_consumer_says_that_it_cannot_be_used(
    kafka: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with consumer_of(kafka) as consumer:
        with monkeypatch.context() as child:
            child.setattr(os, "getpid", lambda: -1)
            with pytest.raises(RuntimeError, match="after a fork"):
                await consumer.poll()


def test_it_is_found_in_the_package_itself() -> None:
    assert moldau.Consumer is Consumer
    with pytest.raises(AttributeError, match="no attribute 'Consumers'"):
        _ = moldau.Consumers


async def test_reading_goes_on_from_a_time(kafka: EmbeddedBroker) -> None:
    await write(kafka, "t", range(5))
    async with consumer_of(kafka) as consumer:
        consumer.assign([T0])
        await consumer.seek_to_time(1003)
        assert await consumer.position(T0) == 3
        await consumer.seek_to_time(9999, T0)
        assert await consumer.position(T0) == 5


async def test_memory_stays_bounded_with_a_slow_consumer(kafka: EmbeddedBroker) -> None:
    count, size, limit = 300, 2000, 40_000
    create_topic(kafka, "t", 3)
    async with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for number in range(count):
            await producer.send("t", b"%d" % number + bytes(size), partition=number % 3)
    async with Consumer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers,
        auto_offset_reset="earliest",
        fetch_max_bytes=limit,
        max_partition_fetch_bytes=limit // 2,
        max_poll_records=10,
    ) as consumer:
        consumer.assign([("t", number) for number in range(3)])
        held: list[int] = []
        taken = 0
        while taken < count:
            taken += len(await consumer.poll(10))
            for _ in range(20):  # time enough to fetch more than is wanted
                await asyncio.sleep(0)
            held.append(consumer._assignment.buffered_bytes)
    # One answer may come while there is room for less than it brings.
    assert limit // 4 < max(held) <= 2 * limit


def test_users_import_the_consumer_from_the_package() -> None:
    assert package.Consumer is Consumer
    with pytest.raises(AttributeError, match="Fetcher"):
        _ = package.Fetcher
