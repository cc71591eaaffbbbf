"""Offsets by end and by time; how they are told is in handlers/test_list_offsets.py."""

from collections.abc import AsyncIterator

import pytest

from moldau.broker.requests.offset_lookup import Found, Lookup, Requested, segment_starts
from moldau.broker.requests.offset_lookup import look_up as look_up_within
from moldau.errors import ErrorCode, KafkaError
from moldau.records.batch import TRANSACTIONAL, Producer, write_batch
from moldau.records.compression import Codec
from moldau.records.opening import Opening
from moldau.records.record import Record
from moldau.records.scratch import Scratch
from moldau.replication.partition import Partition, PartitionState
from moldau.runtime import eager
from unit.broker.world import START_MS, broker_world

CLIENT = Lookup()
COMMITTED = Lookup(is_read_committed=True)
BROKER = Lookup(is_client=False)


async def look_up(partition: Partition, timestamp: int, look: Lookup) -> Found:
    return await look_up_within(partition, timestamp, look, Opening(Scratch(), 100_000))


@pytest.fixture
async def partition() -> AsyncIterator[Partition]:
    """Two records, then one of a transaction that is open; led since epoch 0."""
    async with broker_world() as world:
        await world.create_topic("t")
        world.append("t", b"a", b"b")
        row = Record(0, START_MS + 50, None, b"c", ())
        batch = write_batch([row], attributes=TRANSACTIONAL, producer=Producer(5, 0, 0))
        partition = world.partition("t")
        partition.append(batch, acks=1, now_ms=START_MS)
        yield partition


async def test_the_latest_offset_depends_on_who_asks(partition: Partition) -> None:
    assert await look_up(partition, Requested.LATEST, CLIENT) == Found(3, -1, 0)
    assert await look_up(partition, Requested.LATEST, COMMITTED) == Found(2, -1, 0)
    partition.lead(PartitionState(1, 0, 4, (0, 1), 0, (0, 1)), now_ms=START_MS)
    assert await look_up(partition, Requested.LATEST, BROKER) == Found(3, -1, 4)


async def test_a_time_is_found_as_far_as_the_reader_may_read(partition: Partition) -> None:
    assert await look_up(partition, START_MS + 1, CLIENT) == Found(2, START_MS + 50, 0)
    assert await look_up(partition, START_MS + 1, COMMITTED) == Found()
    assert await look_up(partition, Requested.MAX_TIMESTAMP, COMMITTED) == Found()
    assert await look_up(partition, Requested.MAX_TIMESTAMP, CLIENT) == Found(2, START_MS + 50, 0)


async def test_deleted_records_move_the_earliest(partition: Partition) -> None:
    partition.log.raise_log_start(1)
    for requested in (Requested.EARLIEST, Requested.EARLIEST_LOCAL):
        assert await look_up(partition, requested, CLIENT) == Found(1, -1, 0)
    assert await look_up(partition, Requested.LATEST_TIERED, CLIENT) == Found()


async def test_a_new_leader_asks_clients_but_not_brokers_to_wait(partition: Partition) -> None:
    followed = (0, 1)
    partition.lead(PartitionState(1, 0, 1, followed, 0, followed), now_ms=START_MS)
    row = Record(0, START_MS + 90, None, b"d", ())
    partition.append(write_batch([row]), acks=1, now_ms=START_MS)
    partition.lead(PartitionState(1, 0, 2, followed, 0, followed), now_ms=START_MS)
    for requested in (Requested.LATEST, START_MS + 60, Requested.MAX_TIMESTAMP):
        with pytest.raises(KafkaError) as refused:
            await look_up(partition, requested, CLIENT)
        assert refused.value.code == ErrorCode.OFFSET_NOT_AVAILABLE
        assert (await look_up(partition, requested, BROKER)).offset >= 3


async def test_segments_are_told_by_age_the_newest_first(partition: Partition) -> None:
    partition.log.roll(now_ms=START_MS + 100)
    row = Record(0, START_MS, None, b"d", ())
    partition.append(write_batch([row]), acks=1, now_ms=START_MS)

    def starts(timestamp: int) -> list[int]:
        return segment_starts(partition, timestamp, CLIENT, now_ms=START_MS + 200)

    assert starts(Requested.LATEST) == [4, 3, 0]
    assert starts(Requested.EARLIEST) == [0]
    assert starts(START_MS + 200) == [4, 3, 0]
    assert starts(START_MS + 150) == [3, 0]
    assert starts(START_MS + 99) == [0]
    assert starts(START_MS - 1) == []


async def test_a_segment_whose_records_are_gone_begins_where_the_log_does(
    partition: Partition,
) -> None:
    partition.log.raise_log_start(3)
    # As Kafka has it, once for the segment and once for the end.
    assert segment_starts(partition, Requested.LATEST, CLIENT, now_ms=START_MS) == [3, 3]


async def test_segments_end_at_what_is_committed(partition: Partition) -> None:
    followed = (0, 1)
    partition.lead(PartitionState(1, 0, 1, followed, 0, followed), now_ms=START_MS)
    row = Record(0, START_MS, None, b"d", ())
    partition.append(write_batch([row]), acks=1, now_ms=START_MS)
    assert segment_starts(partition, Requested.LATEST, CLIENT, now_ms=START_MS) == [3, 0]
    assert segment_starts(partition, Requested.LATEST, BROKER, now_ms=START_MS) == [4, 0]


@pytest.mark.parametrize("codec", Codec)
async def test_a_time_in_much_is_found_off_the_loop(partition: Partition, codec: Codec) -> None:
    for size, kind in ((1_000, eager.Finished), (1_000_000, eager.Waiting)):
        later = START_MS + size
        rows = [Record(0, START_MS, None, bytes(size)), Record(1, later, None, b"")]
        partition.append(write_batch(rows, attributes=codec), acks=1, now_ms=START_MS)
        for requested in (later, Requested.MAX_TIMESTAMP):
            outcome = eager.start(look_up(partition, requested, BROKER))
            assert isinstance(outcome, kind)
            found = outcome.value if isinstance(outcome, eager.Finished) else await outcome.rest
            assert found == Found(partition.log.log_end_offset - 1, later, 0)
