"""Produce: which records are opened on the loop, and which in a thread."""

from collections.abc import AsyncIterator
from random import Random

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.produce import PartitionProduceData
from moldau.records.batch import BatchHeader, write_batch
from moldau.records.compression import Codec
from moldau.records.crc32c import crc32c
from moldau.records.legacy import write_message_set
from moldau.records.record import Record
from moldau.replication.partition import PartitionState
from moldau.runtime import eager
from unit.broker.sample_requests import produce, produced
from unit.broker.world import START_MS, World, batch_of, broker_world


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world() as world:
        await world.create_topic("t", 2)
        yield world


def noise(size: int) -> list[bytes]:
    """So many bytes that no codec makes smaller, in values of a thousand."""
    data = Random(1).randbytes(size)
    return [data[start : start + 1_000] for start in range(0, size, 1_000)]


@pytest.mark.parametrize(
    ("sent", "stored", "kept"),
    [
        (Codec.LZ4, "producer", Codec.LZ4),
        (Codec.NONE, "gzip", Codec.GZIP),
    ],
)
async def test_large_batches_are_opened_off_the_loop(
    world: World, sent: Codec, stored: str, kept: Codec
) -> None:
    await world.create_topic("z", overrides={"compression.type": stored})
    rows = [Record(n, START_MS, None, value, ()) for n, value in enumerate(noise(600_000))]
    request = produce(write_batch(rows, attributes=sent), topic="z")
    outcome = eager.start(world.ask(request, 9))
    assert isinstance(outcome, eager.Waiting)
    answer = produced(await outcome.rest)
    assert (answer.error_code, answer.base_offset) == (ErrorCode.NONE, 0)
    read = world.partition("z").log.read(0, max_bytes=10_000_000).range
    assert read is not None
    assert BatchHeader.read(read.read()).codec == kept


async def test_acks_all_waits_for_replicas_of_what_was_opened_off_the_loop(world: World) -> None:
    await world.create_topic("z", overrides={"compression.type": "gzip"})
    partition = world.partition("z")
    state = PartitionState(1, 0, 1, (0, 1), 0, (0, 1))
    partition.lead(state, now_ms=world.clock.now_ms())
    batch = write_batch([Record(0, START_MS, None, b"v", ())], attributes=Codec.LZ4)
    request = produce(batch, topic="z", acks=-1, timeout_ms=60_000)
    asking = await world.park(request, 9)
    partition.note_fetch(1, 1, log_start_offset=0, now_ms=world.clock.now_ms())
    world.broker.waiters.wake(partition.topic_partition)
    answer = produced(await asking)
    assert (answer.error_code, answer.base_offset) == (ErrorCode.NONE, 0)


async def test_after_records_that_are_opened_off_the_loop_comes_the_next_topic(
    world: World,
) -> None:
    await world.create_topic("z", overrides={"compression.type": "gzip"})
    batch = write_batch([Record(0, START_MS, None, b"v", ())], attributes=Codec.LZ4)
    request = produce(batch, topic="z")
    request.topic_data += produce(batch_of(b"a"), number=1).topic_data
    response = await world.ask(request, 9)
    assert [topic.name for topic in response.responses] == ["z", "t"]
    assert [len(topic.partition_responses) for topic in response.responses] == [1, 1]
    assert world.partition("t", 1).log.log_end_offset == 1


def bomb(size: int, codec: Codec) -> bytearray:
    """A batch of few bytes that opens to many."""
    return write_batch([Record(0, START_MS, b"k", bytes(size), ())], attributes=codec)


COMPRESSED = pytest.mark.parametrize("codec", [each for each in Codec if each != Codec.NONE])


@COMPRESSED
async def test_small_batches_that_open_to_much_are_opened_off_the_loop(
    world: World, codec: Codec
) -> None:
    outcome = eager.start(world.ask(produce(bomb(8_000_000, codec)), 9))
    assert isinstance(outcome, eager.Waiting)
    assert produced(await outcome.rest).error_code == ErrorCode.NONE


@COMPRESSED
async def test_batches_as_producers_make_them_are_opened_on_the_loop(
    world: World, codec: Codec
) -> None:
    rows = [Record(n, START_MS, None, b"some value %d" % n, ()) for n in range(10_000)]
    outcome = eager.start(world.ask(produce(write_batch(rows, attributes=codec)), 9))
    assert isinstance(outcome, eager.Finished)
    assert produced(outcome.value).error_code == ErrorCode.NONE


@COMPRESSED
async def test_the_batches_of_a_request_are_opened_on_the_loop_up_to_a_common_bound(
    world: World, codec: Codec
) -> None:
    await world.create_topic("many", 4)
    request = produce(bomb(900_000, codec), topic="many")
    request.topic_data[0].partition_data += [
        PartitionProduceData(index=n, records=bomb(900_000, codec)) for n in range(1, 4)
    ]
    outcome = eager.start(world.ask(request, 9))
    assert isinstance(outcome, eager.Waiting)
    (topic,) = (await outcome.rest).responses
    assert [one.error_code for one in topic.partition_responses] == [ErrorCode.NONE] * 4


async def test_many_large_batches_that_are_not_compressed_are_not_all_checked_on_the_loop() -> None:
    async with broker_world({"message.max.bytes": "10000000"}) as world:
        await world.create_topic("t")
        outcome = eager.start(world.ask(produce(batch_of(bytes(5_000_000))), 9))
        assert isinstance(outcome, eager.Waiting)
        assert produced(await outcome.rest).error_code == ErrorCode.NONE


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4])
async def test_compressed_messages_of_old_producers_are_opened_off_the_loop(
    world: World, codec: Codec
) -> None:
    rows = [Record(0, START_MS, None, bytes(100_000), ())]
    records = bytearray(write_message_set(rows, magic=1, codec=codec))
    outcome = eager.start(world.ask(produce(records), 2))
    assert isinstance(outcome, eager.Waiting)
    assert produced(await outcome.rest).error_code == ErrorCode.NONE


async def test_compressed_batches_that_are_stored_otherwise_are_opened_off_the_loop(
    world: World,
) -> None:
    await world.create_topic("z", overrides={"compression.type": "zstd"})
    outcome = eager.start(world.ask(produce(bomb(1_000_000, Codec.LZ4), topic="z"), 9))
    assert isinstance(outcome, eager.Waiting)
    assert produced(await outcome.rest).error_code == ErrorCode.NONE


async def test_records_that_have_to_be_read_one_by_one_are_read_off_the_loop(
    world: World,
) -> None:
    await world.create_topic("c", overrides={"cleanup.policy": "compact"})
    rows = [Record(n, START_MS, None, b"", ()) for n in range(20_000)]
    outcome = eager.start(world.ask(produce(write_batch(rows), topic="c"), 9))
    assert isinstance(outcome, eager.Waiting)
    answer = produced(await outcome.rest)
    assert answer.error_code == ErrorCode.INVALID_RECORD
    assert [error.batch_index for error in answer.record_errors] == list(range(1000))


async def test_damaged_batches_are_refused(world: World) -> None:
    records = bomb(1000, Codec.ZSTD)
    records[70:80] = bytes(10)
    records[17:21] = crc32c(memoryview(records)[21:]).to_bytes(4, "big")
    answer = produced(await world.ask(produce(records), 9))
    assert answer.error_code == ErrorCode.INVALID_RECORD


async def test_large_batches_that_need_no_opening_are_appended_at_once(world: World) -> None:
    request = produce(batch_of(*[bytes(1_000)] * 100))
    outcome = eager.start(world.ask(request, 9))
    assert isinstance(outcome, eager.Finished)
    assert produced(outcome.value).error_code == ErrorCode.NONE


async def test_a_topic_deleted_while_its_records_are_looked_at_takes_none(world: World) -> None:
    rows = [Record(n, START_MS, None, value, ()) for n, value in enumerate(noise(600_000))]
    partition = world.partition("t")
    outcome = eager.start(world.ask(produce(write_batch(rows, attributes=Codec.LZ4)), 9))
    assert isinstance(outcome, eager.Waiting)
    partition.leave()
    assert produced(await outcome.rest).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert partition.log.log_end_offset == 0
