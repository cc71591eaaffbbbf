"""Every rule of Produce holds on every way that a request can take to it."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from moldau.broker.requests.produce import is_transactional, takes_long
from moldau.errors import ErrorCode
from moldau.records.batch import TRANSACTIONAL, BatchHeader, Producer, write_batch
from moldau.records.compression import Codec
from moldau.records.crc32c import crc32c
from moldau.records.record import Record
from moldau.records.rules import ProduceRules
from unit.broker.sample_requests import fetch, fetch_partition, fetched, produce, produced
from unit.broker.ways import Way
from unit.broker.world import START_MS, World, batch_of, broker_world

LAST_OFFSET_DELTA = slice(23, 27)
MAX_TIMESTAMP = slice(35, 43)
PRODUCER_ID = slice(43, 51)
BASE_SEQUENCE = slice(53, 57)
OFFSET_DELTA_OF_THE_SECOND = -5
MAGIC, ATTRIBUTES = 16, 22


@pytest.fixture(params=Way, ids=[way.value for way in Way])
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    async with broker_world(way=request.param) as world:
        yield world


def changed(change: Callable[[bytearray], None]) -> bytes:
    """A batch of two records in which only one thing is wrong: its checksum is right."""
    batch = batch_of(b"a", b"b")
    change(batch)
    batch[17:21] = crc32c(memoryview(batch)[21:]).to_bytes(4, "big")
    return bytes(batch)


def test_only_batches_of_todays_format_are_of_transactions() -> None:
    batch = batch_of(b"a")
    assert not is_transactional(batch)
    batch[ATTRIBUTES] |= TRANSACTIONAL
    assert is_transactional(batch)
    batch[MAGIC] = 1  # the same place means something else
    assert not is_transactional(batch)
    assert not is_transactional(batch[:ATTRIBUTES])


def test_what_stays_compressed_as_it_is_does_not_take_long() -> None:
    batch = batch_of(b"a")
    for codec, takes in ((Codec.LZ4, False), (Codec.ZSTD, True)):
        batch[ATTRIBUTES] = codec
        assert takes_long(batch, ProduceRules(codec=Codec.LZ4)) == takes


def wrong_offset_delta(batch: bytearray) -> None:
    batch[OFFSET_DELTA_OF_THE_SECOND] = 6


def wrong_last_offset_delta(batch: bytearray) -> None:
    batch[LAST_OFFSET_DELTA] = (5).to_bytes(4, "big")


def producer_without_sequence(batch: bytearray) -> None:
    batch[PRODUCER_ID] = (7).to_bytes(8, "big")
    batch[BASE_SEQUENCE] = b"\xff" * 4


@pytest.mark.parametrize(
    ("settings", "batch", "code"),
    [
        ({"segment.bytes": "500"}, batch_of(b"a" * 600), ErrorCode.RECORD_LIST_TOO_LARGE),
        ({"max.message.bytes": "500"}, batch_of(b"a" * 600), ErrorCode.MESSAGE_TOO_LARGE),
        (
            {"message.timestamp.before.max.ms": "1000"},
            batch_of(b"a", timestamp=START_MS - 1001),
            ErrorCode.INVALID_TIMESTAMP,
        ),
        (
            {"message.timestamp.after.max.ms": "1000"},
            batch_of(b"a", timestamp=START_MS + 1001),
            ErrorCode.INVALID_TIMESTAMP,
        ),
        ({"cleanup.policy": "compact"}, batch_of(b"no key"), ErrorCode.INVALID_RECORD),
        ({}, changed(wrong_offset_delta), ErrorCode.INVALID_RECORD),
        ({}, changed(wrong_last_offset_delta), ErrorCode.INVALID_RECORD),
        ({}, changed(producer_without_sequence), ErrorCode.INVALID_RECORD),
        ({}, batch_of(b"a") + batch_of(b"b"), ErrorCode.INVALID_RECORD),
    ],
)
async def test_what_breaks_a_rule_is_refused(
    world: World, settings: dict[str, str], batch: bytes, code: ErrorCode
) -> None:
    await world.create_topic("t", overrides=settings)
    assert produced(await world.ask(produce(bytes(batch)), 9)).error_code == code
    assert world.partition("t").log.log_end_offset == 0
    in_order = Producer(9, 0, 0)
    sound = write_batch([Record(0, START_MS, b"k", b"v")], producer=in_order)
    assert produced(await world.ask(produce(bytes(sound)), 9)).error_code == ErrorCode.NONE


async def test_a_wrong_largest_timestamp_is_put_right(world: World) -> None:
    def change(batch: bytearray) -> None:
        batch[MAX_TIMESTAMP] = (5).to_bytes(8, "big")

    await world.create_topic("t")
    assert produced(await world.ask(produce(changed(change)), 9)).error_code == ErrorCode.NONE
    stored = world.partition("t").log.read(0, max_bytes=10_000).range
    assert stored is not None
    assert BatchHeader.read(stored.read()).max_timestamp == START_MS


@pytest.mark.parametrize("topic", ["__consumer_offsets", "__transaction_state"])
async def test_only_the_admin_client_writes_to_internal_topics(world: World, topic: str) -> None:
    await world.create_topic(topic)
    request = produce(bytes(batch_of(b"a")), topic=topic)
    refused = produced(await world.ask(request, 9, client_id="anyone"))
    assert refused.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    taken = produced(await world.ask(request, 9, client_id="__admin_client"))
    assert taken.error_code == ErrorCode.NONE


async def test_who_waits_for_records_is_woken(world: World) -> None:
    await world.create_topic("t")
    asking = await world.park(fetch(fetch_partition(), max_wait_ms=600_000), 12)
    await world.ask(produce(bytes(batch_of(b"a"))), 9)
    async with asyncio.timeout(10):
        assert fetched(await asking)[0].records


async def test_what_comes_in_is_counted_once(world: World) -> None:
    await world.create_topic("t")
    batch = bytes(batch_of(b"a", b"b"))
    await world.ask(produce(batch), 9)
    await world.ask(produce(batch[:-1]), 9)
    for traffic in (world.broker.traffic.of("t"), world.broker.traffic.all):
        assert traffic.bytes_in.value == len(batch)
        assert traffic.messages_in.value == 2
        assert traffic.failed_produce_requests.value == 1
    assert world.broker.traffic.all.produce_requests.value == 2


async def test_what_could_not_be_flushed_is_not_waited_for(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.create_topic("t", overrides={"flush.messages": "1"})

    partition = world.partition("t")

    async def fail(*_: object) -> None:
        raise partition.log.folder.volume.fail(OSError("the disk is gone"))

    monkeypatch.setattr(type(world.broker.flusher), "flush", fail)
    async with asyncio.timeout(10):
        response = await world.ask(produce(bytes(batch_of(b"a")), acks=-1, timeout_ms=600_000), 9)
    assert produced(response).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert world.broker.waiters.counts["Produce"] == 0
