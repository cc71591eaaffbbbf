"""The short way of Produce gives the handler's answers, or none."""

import asyncio
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.broker.fast import produce as source
from moldau.broker.metrics.request_times import RequestTimes
from moldau.net.answer import CloseConnection, Promised
from moldau.protocol.messages.produce import PartitionProduceData, TopicProduceData
from moldau.records.batch import Producer, write_batch
from moldau.records.compression import Codec
from moldau.records.crc32c import crc32c
from moldau.records.record import Record
from moldau.replication.partition import PartitionState
from moldau.runtime import native
from moldau.runtime.metrics import Counter, Metrics
from unit.broker.requests import produce
from unit.broker.world import (
    CLIENT,
    START_MS,
    World,
    batch_of,
    broker_world,
    bytes_of,
    frame_of,
)

compiled = native.kernel("moldau.broker.fast._produce", "moldau.broker.fast.produce")
FORMS = pytest.mark.parametrize("module", [source, compiled], ids=["source", "compiled"])
VERSIONS = range(source.VERSION_MIN, source.VERSION_MAX + 1)


def express(world: World, module: ModuleType) -> Any:
    counters = {version: Counter() for version in range(12)}
    return module.Express(world.broker, RequestTimes(Metrics(), "Produce"), counters)


@FORMS
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("acks", [1, -1])
async def test_a_plain_request_is_answered(module: ModuleType, version: int, acks: int) -> None:
    async with broker_world() as world:
        await world.create_topic("t")
        way = express(world, module)
        for offset in (0, 2):
            frame = memoryview(frame_of(produce(batch_of(b"a", b"b"), acks=acks), version))
            answer = way.respond(CLIENT, frame)
            expected = await world_without(frame, before=offset)
            assert bytes(answer) == b"".join(expected)
        assert world.partition("t").log.high_watermark == 4


async def world_without(frame: memoryview, *, before: int) -> list[bytes]:
    """The handler's answer to the request where so many records were before."""
    async with broker_world() as world:
        world.dispatcher.wrap(0, lambda handle: handle)
        await world.create_topic("t")
        if before:
            world.append("t", *[b"x"] * before)
        copy = bytearray(frame)
        # The first answer has stamped its place in the log into the batch.
        start = copy.index(batch_of(b"a", b"b")[16:])
        copy[start - 16 : start] = batch_of(b"a", b"b")[:16]
        parts: list[bytes] = await world.respond(CLIENT, copy)
        return parts


def second_partition() -> Any:
    request = produce(batch_of(b"a"))
    data = PartitionProduceData(index=0, records=batch_of(b"a"))
    request.topic_data.append(TopicProduceData(name="t", partition_data=[data]))
    return request


def transactional() -> Any:
    request = produce(batch_of(b"a"))
    request.transactional_id = "x"
    return request


def compressed() -> bytearray:
    return write_batch([Record(0, START_MS, None, b"a")], attributes=Codec.GZIP)


@FORMS
@pytest.mark.parametrize("version", [8, 9, 11])
@pytest.mark.parametrize(
    "request_",
    [
        produce(batch_of(b"a"), acks=0),
        produce(batch_of(b"a"), acks=7),
        produce(batch_of(b"a"), topic="nowhere"),
        produce(batch_of(b"a"), topic="__consumer_offsets"),
        produce(batch_of(b"a"), number=5),
        produce(batch_of(b"a") + batch_of(b"a")),
        produce(None),
        produce(compressed()),
        second_partition(),
        transactional(),
    ],
)
async def test_what_is_not_plain_is_left_alone(
    module: ModuleType, version: int, request_: Any
) -> None:
    async with broker_world() as world:
        await world.create_topic("t")
        frame = frame_of(request_, version)
        before = bytes(frame)
        assert express(world, module).respond(CLIENT, memoryview(frame)) is None
        assert frame == before
        assert world.partition("t").log.log_end_offset == 0


@FORMS
async def test_who_does_not_lead_or_has_no_time_to_wait_is_left_alone(module: ModuleType) -> None:
    async with broker_world() as world:
        await world.create_topic("t")
        way = express(world, module)
        frame = frame_of(produce(batch_of(b"a"), acks=-1, timeout_ms=0), 9)
        partition = world.partition("t")
        partition.lead(PartitionState(1, 0, 1, (0, 1), 0, (0, 1)), now_ms=0)
        assert way.respond(CLIENT, memoryview(frame)) is None
        partition.follow(PartitionState(1, 1, 2, (0, 1), 0, (0, 1)))
        assert way.respond(CLIENT, memoryview(frame)) is None
        assert partition.log.log_end_offset == 0


@FORMS
@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("max.message.bytes", "70"),
        ("message.timestamp.type", "LogAppendTime"),
        ("cleanup.policy", "compact"),
        ("compression.type", "zstd"),
        ("flush.messages", "1"),
        ("message.timestamp.after.max.ms", "1000"),
    ],
)
async def test_the_topics_settings_are_heeded(module: ModuleType, setting: str, value: str) -> None:
    async with broker_world() as world:
        await world.create_topic("t", overrides={setting: value})
        frame = frame_of(produce(batch_of(b"a" * 20, timestamp=START_MS + 5_000)), 9)
        assert express(world, module).respond(CLIENT, memoryview(frame)) is None
        assert world.partition("t").log.log_end_offset == 0


@FORMS
@pytest.mark.parametrize("version", VERSIONS)
async def test_what_has_to_wait_for_others_is_promised(module: ModuleType, version: int) -> None:
    async with broker_world() as world:
        await world.create_topic("t")
        way = express(world, module)
        partition = world.partition("t")
        partition.lead(PartitionState(1, 0, 1, (0, 1), 0, (0, 1)), now_ms=0)
        frame = memoryview(frame_of(produce(batch_of(b"a", b"b"), acks=-1, timeout_ms=9), version))
        promised = way.respond(CLIENT, frame)
        assert isinstance(promised, Promised)
        assert (promised.outcome, partition.log.log_end_offset) == (None, 2)
        told: list[Promised] = []
        promised.tell = told.append
        partition.note_fetch(1, 2, log_start_offset=0, now_ms=0)
        world.broker.waiters.wake(partition.topic_partition)
        assert told == [promised]
        assert isinstance(promised.outcome, list)
        assert bytes_of(promised.outcome) == b"".join(await world_without(frame, before=0))


@FORMS
async def test_what_nobody_else_in_sync_must_have_is_answered_at_once(module: ModuleType) -> None:
    async with broker_world() as world:
        await world.create_topic("t")
        partition = world.partition("t")
        partition.lead(PartitionState(1, 0, 1, (0,), 0, (0, 1)), now_ms=0)
        frame = memoryview(frame_of(produce(batch_of(b"a", b"b"), acks=-1, timeout_ms=9), 9))
        answer = express(world, module).respond(CLIENT, frame)
        assert bytes(answer) == b"".join(await world_without(frame, before=0))


batches = st.builds(
    lambda values, sequence, start, codec: write_batch(
        [Record(n, START_MS + start, b"k", value) for n, value in enumerate(values)],
        attributes=codec,
        producer=Producer(5, 0, sequence) if sequence >= 0 else Producer(-1, -1, -1),
    ),
    st.lists(st.binary(max_size=200), min_size=1, max_size=3),
    st.integers(-1, 3),
    st.integers(-5, 5),
    st.sampled_from(Codec),
)
flips = st.none() | st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255))


@FORMS
@settings(max_examples=60)
@given(
    requests=st.lists(
        st.tuples(batches, st.integers(3, 11), st.sampled_from([1, -1]), flips), max_size=8
    )
)
def test_damaged_or_not_both_ways_say_the_same(module: ModuleType, requests: list[Any]) -> None:
    frames = []
    for batch, version, acks, flip in requests:
        frame = frame_of(produce(batch, acks=acks), version)
        if flip is not None:
            # Not the API key: the short way looks at nothing but Produce.
            frame[2 + int(flip[0] * (len(frame) - 2))] ^= flip[1]
        frames.append(frame)

    async def play(*, is_short: bool) -> list[object]:
        async with broker_world() as world:
            await world.create_topic("t")
            way = express(world, module)
            world.dispatcher.wrap(0, lambda handle: handle)
            answers = [
                await answer_to(bytearray(frame), world, way if is_short else None)
                for frame in frames
            ]
            log = world.partition("t").log
            files = [segment.file().read(0, segment.size) for segment in log.segments]
            return [*answers, *files]

    assert asyncio.run(play(is_short=True)) == asyncio.run(play(is_short=False))


async def answer_to(frame: bytearray, world: World, way: Any | None) -> object:
    answer = None if way is None else way.respond(CLIENT, memoryview(frame))
    if answer is not None:
        return bytes(answer)
    try:
        parts = await world.respond(CLIENT, frame)
    except CloseConnection:
        return "closed"
    return None if parts is None else b"".join(parts)


@FORMS
@pytest.mark.parametrize("codec", [Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
async def test_compressed_batches_are_opened_and_stored_as_they_came(
    module: ModuleType, codec: Codec
) -> None:
    rows = [Record(n, START_MS, None, b"value" * 20) for n in range(50)]
    batch = write_batch(rows, attributes=codec)
    async with broker_world() as world:
        await world.create_topic("t")
        way = express(world, module)
        assert way.respond(CLIENT, memoryview(frame_of(produce(batch), 9))) is not None
        log = world.partition("t").log
        assert log.log_end_offset == 50
        stored = log.read(0, max_bytes=10_000).range
        assert stored is not None
        assert stored.read()[17:] == batch[17:]
        damaged = write_batch(rows, attributes=codec)
        damaged[70:80] = bytes(10)
        write_checksum(damaged)
        assert way.respond(CLIENT, memoryview(frame_of(produce(damaged), 9))) is None
        assert log.log_end_offset == 50


@FORMS
@pytest.mark.parametrize("codec", [Codec.NONE, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
async def test_what_opens_to_much_is_left_to_the_handler(module: ModuleType, codec: Codec) -> None:
    async with broker_world({"message.max.bytes": "10000000"}) as world:
        await world.create_topic("t")
        way = express(world, module)
        for size, is_plain in ((1_900_000, True), (2_100_000, False)):
            batch = write_batch([Record(0, START_MS, None, bytes(size))], attributes=codec)
            answer = way.respond(CLIENT, memoryview(frame_of(produce(batch), 9)))
            assert (answer is not None) == is_plain


def write_checksum(batch: bytearray) -> None:
    batch[17:21] = crc32c(memoryview(batch)[21:]).to_bytes(4, "big")
