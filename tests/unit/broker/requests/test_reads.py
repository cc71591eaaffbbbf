"""Reads of several partitions; how Fetch uses them is in handlers/test_fetch.py."""

from collections.abc import AsyncIterator

import pytest

from moldau.broker.requests.fetch_request import CONSUMER, PartitionKey, Wanted
from moldau.broker.requests.reads import PartitionRead, ReadTerms, end_of, read_all
from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.replication.partition import PartitionState
from unit.broker.world import START_MS, World, broker_world

TERMS = ReadTerms(10_000, CONSUMER, is_read_committed=False, at_least_one=True)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world() as world:
        await world.create_topic("t", 3)
        yield world


def ask(number: int, offset: int = 0, max_bytes: int = 10_000, *, epoch: int = -1) -> PartitionRead:
    want = Wanted(epoch, offset, -1, -1, max_bytes)
    return PartitionRead(PartitionKey("t", number), TopicPartition("t", number), want)


async def test_the_limits_are_shared_in_the_order_of_asking(world: World) -> None:
    for number in range(3):
        world.append("t", bytes(400), number=number)
    size = world.partition("t").log.size
    reads = [ask(number) for number in (2, 0, 1)]
    read_all(world.broker.replicas, reads, TERMS._replace(max_bytes=2 * size + 10))
    assert [read.size for read in reads] == [size, size, 0]
    reads = [ask(0, max_bytes=-5), ask(1)]
    read_all(world.broker.replicas, reads, TERMS)
    assert [read.size for read in reads] == [size, size]


async def test_without_progress_guaranteed_half_a_batch_is_given(world: World) -> None:
    world.append("t", bytes(400))
    read = ask(0, max_bytes=100)
    read_all(world.broker.replicas, [read], TERMS._replace(at_least_one=False))
    assert read.size == 100


async def test_an_error_is_the_partitions_own(world: World) -> None:
    world.append("t", b"a")
    far, none, unknown, good = ask(0, 99), ask(9), ask(0), ask(0)
    unknown.name = None
    reads = [far, none, unknown, good]
    read_all(world.broker.replicas, reads, TERMS)
    assert [read.error_code for read in reads] == [
        ErrorCode.OFFSET_OUT_OF_RANGE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.NONE,
    ]
    assert [read for read in reads if not read.is_answer_due] == [good]


async def test_what_is_read_again_keeps_nothing_of_the_time_before(world: World) -> None:
    world.append("t", b"a")
    read = ask(0)
    read_all(world.broker.replicas, [read], TERMS)
    assert read.has_records
    read.refer_to(2)
    assert (read.size, read.has_hint) == (0, True)
    read_all(world.broker.replicas, [read], TERMS)
    assert (read.has_records, read.has_hint) == (True, False)
    world.partition("t").leave()
    read_all(world.broker.replicas, [read], TERMS)
    assert (read.error_code, read.size) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, 0)


async def test_the_bounds_are_those_of_the_moment(world: World) -> None:
    read = ask(0)
    read_all(world.broker.replicas, [read], TERMS)
    world.append("t", b"a", b"b")
    read.take_bounds()
    assert (read.high_watermark, read.last_stable_offset, read.log_start_offset) == (2, 2, 0)


async def test_what_is_gone_is_out_of_range_whatever_the_high_watermark_is(world: World) -> None:
    world.append("t", b"a", b"b")
    log = world.partition("t").log
    log.log_start_offset, log.high_watermark = 2, 0  # as of a follower that begins anew
    read = ask(0, 1)
    read_all(world.broker.replicas, [read], TERMS)
    assert read.error_code == ErrorCode.OFFSET_OUT_OF_RANGE


async def test_consumers_of_what_is_committed_hear_what_was_aborted_and_followers_do_not(
    world: World,
) -> None:
    partition = world.partition("t")
    partition.lead(PartitionState(1, 0, 1, (0, 1), 0, (0, 1)), now_ms=START_MS)
    read = ask(0)
    for replica_id, aborted in ((CONSUMER, []), (1, None)):
        terms = TERMS._replace(replica_id=replica_id, is_read_committed=True)
        read_all(world.broker.replicas, [read], terms)
        assert read.aborted == aborted
    read_all(world.broker.replicas, [read], TERMS)
    assert read.aborted is None


async def test_the_end_depends_on_who_reads(world: World) -> None:
    partition = world.partition("t")
    partition.lead(PartitionState(1, 0, 1, (0, 1), 0, (0, 1)), now_ms=START_MS)
    world.append("t", b"a", b"b")
    assert end_of(partition, TERMS) == 0
    assert end_of(partition, TERMS._replace(is_read_committed=True)) == 0
    assert end_of(partition, TERMS._replace(replica_id=1)) == 2
    assert end_of(partition, TERMS._replace(replica_id=-2)) == 2
