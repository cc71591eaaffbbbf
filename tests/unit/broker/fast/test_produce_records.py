"""Records that are wrong under a right checksum: Produce says and stores the same in every way."""

import asyncio
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.net.answer import CloseConnection
from moldau.records.batch import (
    RECORDS_POSITION,
    BatchHeader,
    Producer,
    assemble_batch,
    write_batch,
)
from moldau.records.compression import Codec, compress
from moldau.records.record import Record
from unit.broker.sample_requests import produce
from unit.broker.ways import Way
from unit.broker.world import CLIENT, START_MS, World, broker_world, bytes_of, frame_of

DAY_MS = 86_400_000
# Settings that look at records; each may or may not be met by those that are sent.
SETTINGS = {
    "cleanup.policy": "compact",
    "compression.type": "lz4",
    "max.message.bytes": "100",
    "message.timestamp.after.max.ms": "1000",
    "message.timestamp.before.max.ms": "1000",
    "message.timestamp.type": "LogAppendTime",
    "segment.bytes": "120",
}


@dataclass(frozen=True, slots=True)
class Sent:
    """A request; of the records, some bytes are replaced before they are compressed."""

    rows: Sequence[Record]
    producer: Producer
    header: dict[str, int]
    codec: Codec
    replaced: Sequence[tuple[float, int]]
    version: int
    acks: int

    def frame(self) -> bytearray:
        batch = write_batch(self.rows, producer=self.producer)
        section = batch[RECORDS_POSITION:]
        for place, byte in self.replaced:
            section[int(place * len(section))] = byte
        header = replace(BatchHeader.read(batch), attributes=self.codec)
        sealed = assemble_batch(replace(header, **self.header), compress(self.codec, section))
        return frame_of(produce(sealed, acks=self.acks, timeout_ms=1), self.version)


small = st.integers(-2, 6)
timestamps = st.sampled_from([0, 0, 1, -1, 500, 2_000, -2_000, 2 * DAY_MS, -2 * DAY_MS])
rows = st.lists(
    st.tuples(timestamps, st.none() | st.just(b"k"), st.none() | st.binary(max_size=30)),
    min_size=1,
    max_size=3,
).map(
    lambda drawn: [
        Record(offset, START_MS + distance, key, value)
        for offset, (distance, key, value) in enumerate(drawn)
    ]
)
headers = st.one_of(
    st.builds(lambda value: {"last_offset_delta": value}, small),
    st.builds(lambda value: {"record_count": value}, small),
    st.builds(lambda value: {"record_count": value + 1, "last_offset_delta": value}, small),
    st.builds(lambda value: {"base_offset": value}, small),
    st.builds(lambda value: {"base_timestamp": START_MS + value}, timestamps),
    st.builds(lambda value: {"max_timestamp": START_MS + value}, timestamps),
    st.builds(lambda value: {"attributes": value}, st.sampled_from([5, 8, 16, 32, 64, 256])),
    st.builds(lambda value: {"producer_id": 7, "base_sequence": value}, small),
)
replaced = st.lists(
    st.tuples(st.floats(0, 1, exclude_max=True), small | st.integers(0, 255)),
    min_size=1,
    max_size=2,
).map(lambda drawn: [(place, byte % 256) for place, byte in drawn])
# What is wrong in more ways than one is refused whichever rule is missing.
wrongs = st.one_of(
    st.just(({}, ())),
    st.just(({}, ())),
    st.tuples(headers, st.just(())),
    st.tuples(st.just({}), replaced),
)
sent = st.builds(
    lambda wrong, **rest: Sent(header=wrong[0], replaced=wrong[1], **rest),
    wrongs,
    rows=rows,
    producer=st.builds(lambda sequence: Producer(5, 0, sequence), st.integers(0, 3))
    | st.just(Producer(-1, -1, -1)),
    codec=st.just(Codec.NONE) | st.sampled_from(Codec),
    version=st.integers(3, 11),
    acks=st.sampled_from([1, 1, 1, -1, 0, 2]),
)
overrides = st.none() | st.sampled_from(sorted(SETTINGS))


@settings(max_examples=100)
@given(st.lists(sent, min_size=4, max_size=12), overrides)
def test_every_way_says_and_stores_the_same(requests: list[Sent], setting: str | None) -> None:
    overrides = {} if setting is None else {setting: SETTINGS[setting]}
    by_handler = asyncio.run(play(requests, overrides, Way.HANDLER))
    assert asyncio.run(play(requests, overrides, Way.FAST)) == by_handler
    assert asyncio.run(play(requests, overrides, Way.UNCOMPILED)) == by_handler


async def play(requests: list[Sent], overrides: dict[str, str], way: Way) -> list[object]:
    """The answers, and all that they leave behind."""
    async with broker_world(way=way) as world:
        await world.create_topic("t", overrides=overrides)
        answers = [await answer_to(request.frame(), world) for request in requests]
        log = world.partition("t").log
        files = [segment.file().read(0, segment.size) for segment in log.segments]
        traffic = world.broker.traffic
        counters = (*astuple(traffic.of("t")), *astuple(traffic.all))
        counts = [counter.value for counter in counters]
        return [*answers, *files, log.high_watermark, counts]


async def answer_to(frame: bytearray, world: World) -> object:
    try:
        parts = await world.respond(CLIENT, frame)
    except CloseConnection:
        return "closed"
    return None if parts is None else bytes_of(parts)
