"""Records for clients of long ago; which errors they get is in handlers/test_fetch.py."""

import threading
from collections.abc import AsyncIterator
from hashlib import sha256

import pytest

from moldau.broker.requests import fetched_records
from moldau.log.producer_state import Origin
from moldau.records.batch import TRANSACTIONAL, Producer, write_batch
from moldau.records.compression import Codec
from moldau.records.control import EndMarker, write_end_marker
from moldau.records.entries import iterate_entries
from moldau.records.record import Record
from moldau.runtime import eager
from moldau.runtime.file_range import FileRange
from unit.broker.sample_requests import fetch, fetch_partition, fetched, records_of
from unit.broker.world import CLIENT, START_MS, World, broker_world, frame_of


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world() as world:
        await world.create_topic("t")
        yield world


def append_transactions(world: World, count: int) -> None:
    """Each is one record and one marker."""
    partition = world.partition("t")
    for sequence in range(count):
        row = Record(0, START_MS, None, b"v", ())
        producer = Producer(5, 0, sequence)
        batch = write_batch([row], attributes=TRANSACTIONAL, producer=producer)
        partition.append(batch, acks=1, now_ms=START_MS)
        marker = write_end_marker(
            EndMarker(is_commit=True, coordinator_epoch=0),
            producer_id=5,
            producer_epoch=0,
            timestamp_ms=START_MS,
        )
        partition.append(marker, acks=1, now_ms=START_MS, origin=Origin.COORDINATOR)


async def offsets(world: World, offset: int, *, max_bytes: int = 1_000_000) -> list[int]:
    request = fetch(fetch_partition(offset=offset, max_bytes=max_bytes))
    records = records_of(fetched(await world.ask(request, 3))[0])
    return [
        int.from_bytes(records[entry.position : entry.position + 8], "big")
        for entry in iterate_entries(records)
    ]


async def test_old_clients_see_no_markers(world: World) -> None:
    append_transactions(world, 3)
    assert await offsets(world, 0) == [0, 2, 4]


async def test_an_old_client_at_a_marker_is_taken_past_it(world: World) -> None:
    append_transactions(world, 3)
    assert await offsets(world, 1, max_bytes=1) == [2]
    assert await offsets(world, 5) == []


async def test_little_is_converted_at_once(world: World) -> None:
    world.append("t", b"a")
    outcome = eager.start(world.ask(fetch(fetch_partition()), 1))
    assert isinstance(outcome, eager.Finished)


async def test_clients_of_todays_format_get_what_the_file_holds(world: World) -> None:
    world.append("t", b"a")
    frame = frame_of(fetch(fetch_partition()), 4)
    assert any(isinstance(part, FileRange) for part in await world.respond(CLIENT, frame))


async def test_much_is_converted_off_the_loop(world: World) -> None:
    noise = [b"".join(sha256(bytes([n, m])).digest() for m in range(30)) for n in range(40)]
    world.append("t", *noise)
    outcome = eager.start(world.ask(fetch(fetch_partition()), 1))
    assert isinstance(outcome, eager.Waiting)
    records = records_of(fetched(await outcome.rest)[0])
    assert len(list(iterate_entries(records))) == 40


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4])
async def test_compressed_records_are_converted_off_the_loop(world: World, codec: Codec) -> None:
    batch = write_batch([Record(0, START_MS, None, bytes(200_000))], attributes=codec)
    world.partition("t").append(batch, acks=1, now_ms=START_MS)
    outcome = eager.start(world.ask(fetch(fetch_partition()), 1))
    assert isinstance(outcome, eager.Waiting)
    records = records_of(fetched(await outcome.rest)[0])
    assert len(list(iterate_entries(records))) == 1


async def test_what_is_rewritten_for_one_request_is_bounded_over_its_partitions(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetched_records, "_CONVERTED_MAX_BYTES", 2_000)
    await world.create_topic("u")
    for topic in ("t", "u"):
        for _ in range(4):
            world.append(topic, bytes(900))
    request = fetch(fetch_partition())
    other = fetch(fetch_partition(), topic="u")
    request.topics += other.topics
    first, second = (topic.partitions[0] for topic in (await world.ask(request, 1)).responses)
    assert len(list(iterate_entries(records_of(first)))) == 3
    assert (second.error_code, records_of(second)) == (0, b"")
    assert second.high_watermark == 4


async def test_nothing_is_rewritten_once_the_allowance_is_used_up(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetched_records, "_CONVERTED_MAX_BYTES", 0)
    world.append("t", b"a")
    assert await offsets(world, 0) == []


async def test_what_is_rewritten_is_read_off_the_loop(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop_thread, readers = threading.get_ident(), set()
    read = FileRange.read

    def noted(stretch: FileRange) -> bytes:
        readers.add(threading.get_ident())
        return read(stretch)

    monkeypatch.setattr(FileRange, "read", noted)
    world.append("t", bytes(30_000))
    records = records_of(fetched(await world.ask(fetch(fetch_partition()), 1))[0])
    assert len(list(iterate_entries(records))) == 1
    assert readers
    assert loop_thread not in readers


def test_64_mib_are_rewritten_for_one_request() -> None:
    assert fetched_records.allowance_of_request().remaining == 64 * 2**20
