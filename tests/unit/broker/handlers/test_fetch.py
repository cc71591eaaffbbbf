"""Fetch: what is read, by whom, and when the answer leaves."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from moldau.errors import ErrorCode
from moldau.log.producer_state import Origin
from moldau.metadata.image import ClusterImage
from moldau.model import TopicPartition
from moldau.records.batch import TRANSACTIONAL, Producer, write_batch
from moldau.records.compression import Codec
from moldau.records.control import EndMarker, write_end_marker
from moldau.records.entries import iterate_entries
from moldau.records.record import Record
from moldau.replication.partition import PartitionState
from unit.broker.sample_requests import (
    as_follower,
    fetch,
    fetch_partition,
    fetched,
    offsets_in,
    records_of,
)
from unit.broker.world import START_MS, World, broker_world

READ_COMMITTED = 1
ALL_VERSIONS = range(18)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world() as world:
        await world.create_topic("t", 3)
        yield world


def topic_of(world: World, version: int) -> str | bytes:
    """How topic `t` is called in this version."""
    return world.broker.metadata.image.topics["t"].topic_id if version >= 13 else "t"


def lead(world: World, *, isr: tuple[int, ...], epoch: int = 1) -> None:
    state = PartitionState(1, 0, epoch, isr, 0, (0, 1, 2))
    world.partition("t").lead(state, now_ms=world.clock.now_ms())


@pytest.mark.parametrize("version", ALL_VERSIONS)
async def test_every_version_reads_what_was_appended(world: World, version: int) -> None:
    world.append("t", b"a", b"b")
    request = fetch(fetch_partition(), topic=topic_of(world, version))
    response = await world.ask(request, version)
    data = fetched(response)[0]
    assert (data.error_code, data.high_watermark) == (ErrorCode.NONE, 2)
    if version < 4:
        magics = {entry.magic for entry in iterate_entries(records_of(data))}
        assert magics == {0 if version < 2 else 1}
        assert b"a" in records_of(data)
    else:
        assert offsets_in(data) == [0]
        assert (data.last_stable_offset, data.aborted_transactions) == (2, None)
    assert data.log_start_offset == (0 if version >= 5 else -1)
    assert data.current_leader is None


async def test_offsets_outside_the_log_are_refused(world: World) -> None:
    world.append("t", b"a")
    for offset in (-1, 2, 2**62):
        data = fetched(await world.ask(fetch(fetch_partition(offset=offset)), 12))[0]
        assert (data.error_code, data.high_watermark) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    data = fetched(await world.ask(fetch(fetch_partition(offset=1)), 12))[0]
    assert (data.error_code, data.records) == (ErrorCode.NONE, b"")


async def test_unknown_partitions_and_other_epochs_are_refused(world: World) -> None:
    request = fetch(fetch_partition(9), fetch_partition(0, epoch=7), fetch_partition(1, epoch=0))
    answers = fetched(await world.ask(request, 12))
    assert answers[9].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert answers[0].error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    assert answers[1].error_code == ErrorCode.NONE


@pytest.mark.parametrize("version", [15, 16])
async def test_since_version_16_a_wrong_epoch_is_answered_with_the_leader(
    world: World, version: int
) -> None:
    lead(world, isr=(0,), epoch=3)
    request = fetch(fetch_partition(epoch=1), topic=topic_of(world, version))
    response = await world.ask(request, version)
    data = fetched(response)[0]
    assert data.error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert (data.current_leader is not None) == (version >= 16)
    assert [node.host for node in response.node_endpoints] == (
        ["10.0.0.1"] if version >= 16 else []
    )


async def test_an_unknown_topic_id_is_refused(world: World) -> None:
    response = await world.ask(fetch(fetch_partition(), topic=b"?" * 16), 13)
    (topic,) = response.responses
    assert topic.topic_id == b"?" * 16
    assert topic.partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID


async def test_the_id_of_an_earlier_topic_of_that_name_is_refused(world: World) -> None:
    image = world.broker.metadata.image
    names = {**image.names_by_id, b"old topic's id..": "t"}
    world.broker.metadata.image = ClusterImage(0, image.brokers, image.topics, names)
    data = fetched(await world.ask(fetch(fetch_partition(), topic=b"old topic's id.."), 13))[0]
    assert data.error_code == ErrorCode.INCONSISTENT_TOPIC_ID


# Limits


async def test_the_first_batch_comes_however_large_and_then_the_limits_hold(world: World) -> None:
    for number in range(3):
        world.append("t", bytes(1_000), number=number)
    request = fetch(*(fetch_partition(number, max_bytes=10) for number in range(3)))
    sizes = [len(records_of(one)) for one in fetched(await world.ask(request, 12)).values()]
    assert sizes[0] > 1_000
    assert sizes[1:] == [0, 0]


async def test_half_a_batch_is_not_sent_behind_other_partitions(world: World) -> None:
    for number in range(2):
        world.append("t", bytes(1_000), number=number)
    request = fetch(fetch_partition(0), fetch_partition(1), max_bytes=1_500)
    answers = fetched(await world.ask(request, 12))
    assert offsets_in(answers[0]) == [0]
    assert answers[1].records == b""


async def test_before_version_3_a_small_limit_shows_in_half_a_message(world: World) -> None:
    world.append("t", bytes(1_000))
    data = fetched(await world.ask(fetch(fetch_partition(max_bytes=100)), 2))[0]
    assert len(records_of(data)) == 100
    assert list(iterate_entries(records_of(data))) == []


async def test_later_batches_are_found_from_an_offset_on(world: World) -> None:
    for _ in range(5):
        world.append("t", b"a", b"b")
    data = fetched(await world.ask(fetch(fetch_partition(offset=5)), 12))[0]
    assert offsets_in(data) == [4, 6, 8]


# What may be read


async def test_consumers_read_to_the_high_watermark_and_followers_to_the_end(world: World) -> None:
    lead(world, isr=(0, 1))
    world.append("t", b"a")
    data = fetched(await world.ask(fetch(fetch_partition()), 12))[0]
    assert (data.error_code, data.high_watermark, data.records) == (ErrorCode.NONE, 0, b"")
    data = fetched(await world.ask(fetch(fetch_partition(offset=1)), 12))[0]
    assert (data.error_code, data.records) == (ErrorCode.NONE, b"")
    for version in (11, 12, 14):
        request = fetch(fetch_partition(), topic=topic_of(world, version))
        data = fetched(await world.ask(as_follower(request, 1, version), version))[0]
        assert offsets_in(data) == [0]
    request = fetch(fetch_partition(), topic=topic_of(world, 15))
    data = fetched(await world.ask(as_follower(request, 1, 15), 15))[0]
    assert offsets_in(data) == [0]


async def test_a_debugging_consumer_reads_to_the_end_without_being_a_follower(
    world: World,
) -> None:
    lead(world, isr=(0, 1))
    world.append("t", b"a")
    request = fetch(fetch_partition())
    request.replica_id = -2
    assert offsets_in(fetched(await world.ask(request, 12))[0]) == [0]


async def test_committed_readers_stop_at_open_transactions_and_hear_of_aborted_ones(
    world: World,
) -> None:
    partition = world.partition("t")

    def append(producer_id: int, sequence: int) -> None:
        rows = [Record(0, START_MS, None, b"v", ())]
        producer = Producer(producer_id, 0, sequence)
        batch = write_batch(rows, attributes=TRANSACTIONAL, producer=producer)
        partition.append(batch, acks=1, now_ms=START_MS)

    append(5, 0)
    marker = write_end_marker(
        EndMarker(is_commit=False, coordinator_epoch=0),
        producer_id=5,
        producer_epoch=0,
        timestamp_ms=START_MS,
    )
    partition.append(marker, acks=1, now_ms=START_MS, origin=Origin.COORDINATOR)
    append(6, 0)
    data = fetched(await world.ask(fetch(fetch_partition(), isolation=READ_COMMITTED), 12))[0]
    assert offsets_in(data) == [0, 1]
    assert (data.high_watermark, data.last_stable_offset) == (3, 2)
    (aborted,) = data.aborted_transactions or []
    assert (aborted.producer_id, aborted.first_offset) == (5, 0)
    data = fetched(await world.ask(fetch(fetch_partition()), 12))[0]
    assert offsets_in(data) == [0, 1, 2]
    assert data.aborted_transactions is None


async def test_what_is_sent_is_counted(world: World) -> None:
    world.append("t", b"a", number=0)
    world.append("t", b"b", number=1)
    traffic = world.broker.traffic
    request = fetch(fetch_partition(0), fetch_partition(1, 1), fetch_partition(9))
    size = len(records_of(fetched(await world.ask(request, 12))[0]))
    for counters in (traffic.all, traffic.of("t")):
        assert (counters.fetch_requests.value, counters.bytes_out.value) == (2, size)
    assert traffic.all.failed_fetch_requests.value == 1
    assert traffic.replication_bytes_out.value == 0
    await world.ask(as_follower(fetch(fetch_partition(1)), 1, 12), 12)
    assert traffic.replication_bytes_out.value == 0, "it is not a replica"
    lead(world, isr=(0, 1))
    await world.ask(as_follower(fetch(fetch_partition(0)), 1, 12), 12)
    assert traffic.replication_bytes_out.value == size
    assert traffic.all.bytes_out.value == size


# Waiting


async def test_a_waiting_reader_is_woken_by_an_append(world: World) -> None:
    asking = await world.park(fetch(fetch_partition(), max_wait_ms=60_000), 12)
    world.append("t", b"a")
    assert offsets_in(fetched(await asking)[0]) == [0]


async def test_a_waiting_reader_gets_what_there_is_when_time_is_up(world: World) -> None:
    world.append("t", b"a")
    request = fetch(fetch_partition(), max_wait_ms=5, min_bytes=1_000)
    assert offsets_in(fetched(await world.ask(request, 12))[0]) == [0]


async def test_a_waiting_reader_goes_on_waiting_until_there_are_enough_bytes(world: World) -> None:
    asking = await world.park(fetch(fetch_partition(), max_wait_ms=60_000, min_bytes=150), 12)
    world.append("t", b"a")
    await asyncio.sleep(0)
    assert not asking.done()
    world.append("t", bytes(100))
    assert offsets_in(fetched(await asking)[0]) == [0, 1]


async def test_an_error_is_told_without_waiting(world: World) -> None:
    world.append("t", b"a")
    request = fetch(fetch_partition(0, offset=1), fetch_partition(9), max_wait_ms=60_000)
    answers = fetched(await world.ask(request, 12))
    assert answers[9].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def test_nothing_asked_is_answered_without_waiting(world: World) -> None:
    assert fetched(await world.ask(fetch(max_wait_ms=60_000), 12)) == {}


@pytest.mark.parametrize("version", [12, 13])
async def test_a_waiting_reader_hears_that_the_topic_is_deleted(world: World, version: int) -> None:
    request = fetch(fetch_partition(), topic=topic_of(world, version), max_wait_ms=60_000)
    asking = await world.park(request, version)
    await world.broker.topics.delete("t")
    data = fetched(await asking)[0]
    assert data.error_code in (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_TOPIC_ID,  # of the fast path, which looks for the id once more
    )


async def test_a_waiting_reader_hears_of_a_new_leader(world: World) -> None:
    asking = await world.park(fetch(fetch_partition(epoch=0), max_wait_ms=60_000), 12)
    lead(world, isr=(0,), epoch=4)
    world.broker.waiters.wake(TopicPartition("t", 0))
    assert fetched(await asking)[0].error_code == ErrorCode.FENCED_LEADER_EPOCH


# Old clients


async def test_zstd_topics_need_version_10(world: World) -> None:
    await world.create_topic("z", overrides={"compression.type": "zstd"})
    for version, code in ((9, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE), (10, ErrorCode.NONE)):
        data = fetched(await world.ask(fetch(fetch_partition(), topic="z"), version))[0]
        assert data.error_code == code


async def test_zstd_batches_cannot_be_converted(world: World) -> None:
    batch = write_batch([Record(0, START_MS, None, b"v", ())], attributes=Codec.ZSTD)
    world.partition("t").append(batch, acks=1, now_ms=START_MS)
    data = fetched(await world.ask(fetch(fetch_partition()), 3))[0]
    assert data.error_code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    data = fetched(await world.ask(fetch(fetch_partition()), 4))[0]
    assert data.error_code == ErrorCode.NONE


async def test_conversion_can_be_switched_off(world: World) -> None:
    await world.create_topic("n", overrides={"message.downconversion.enable": "false"})
    for version, code in ((3, ErrorCode.UNSUPPORTED_VERSION), (4, ErrorCode.NONE)):
        data = fetched(await world.ask(fetch(fetch_partition(), topic="n"), version))[0]
        assert data.error_code == code


@pytest.mark.parametrize("version", ALL_VERSIONS)
async def test_an_unforeseen_failure_is_told_in_every_version(version: int) -> None:
    async with broker_world() as world:
        await world.create_topic("t")
        request = fetch(fetch_partition(), topic=topic_of(world, version))
        world.broker.replicas = None  # type: ignore[assignment]
        response = await world.ask(request, version)
    if version < 13:
        assert fetched(response)[0].error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    if version >= 7:
        assert response.error_code == ErrorCode.UNKNOWN_SERVER_ERROR


async def test_a_failing_disk_is_told(world: World) -> None:
    world.append("t", b"a")
    world.partition("t").log.folder.volume.fail(OSError("gone"))
    data = fetched(await world.ask(fetch(fetch_partition()), 12))[0]
    assert data.error_code == ErrorCode.KAFKA_STORAGE_ERROR
