"""Reads of several partitions; how Fetch uses them is in handlers/test_fetch.py."""

from collections.abc import AsyncIterator

import pytest

from moldau.broker.requests.fetch_sessions import Wanted
from moldau.broker.requests.reads import CONSUMER, Asked, ReadTerms, end_of, has_news, read_all
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


def ask(number: int, offset: int = 0, max_bytes: int = 10_000, *, epoch: int = -1) -> Asked:
    return Asked(TopicPartition("t", number), Wanted(offset, max_bytes, epoch, -1, -1))


async def test_the_limits_are_shared_in_the_order_of_asking(world: World) -> None:
    for number in range(3):
        world.append("t", bytes(400), number=number)
    size = world.partition("t").log.size
    asked = {number: ask(number) for number in (2, 0, 1)}
    reads = read_all(world.broker.replicas, asked, TERMS._replace(max_bytes=2 * size + 10))
    assert {number: read.size for number, read in reads.items()} == {2: size, 0: size, 1: 0}
    reads = read_all(world.broker.replicas, {0: ask(0, max_bytes=-5), 1: ask(1)}, TERMS)
    assert [read.size for read in reads.values()] == [size, size]


async def test_without_progress_guaranteed_half_a_batch_is_given(world: World) -> None:
    world.append("t", bytes(400))
    terms = TERMS._replace(at_least_one=False)
    reads = read_all(world.broker.replicas, {0: ask(0, max_bytes=100)}, terms)
    assert reads[0].size == 100


async def test_an_error_is_the_partitions_own(world: World) -> None:
    world.append("t", b"a")
    asked = {"far": ask(0, 99), "none": ask(9), "unknown": Asked(None, ask(0).want), "good": ask(0)}
    reads = read_all(world.broker.replicas, asked, TERMS)
    codes = {name: read.error and read.error.code for name, read in reads.items()}
    assert codes == {
        "far": ErrorCode.OFFSET_OUT_OF_RANGE,
        "none": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        "unknown": ErrorCode.UNKNOWN_TOPIC_ID,
        "good": None,
    }
    assert [name for name, read in reads.items() if not read.is_answer_due] == ["good"]


async def test_news_are_records_errors_and_offsets_that_are_gone(world: World) -> None:
    replicas = world.broker.replicas
    assert not has_news(replicas, {}, TERMS)
    assert not has_news(replicas, {0: ask(0)}, TERMS)
    assert has_news(replicas, {0: ask(0), 1: ask(9)}, TERMS)
    assert has_news(replicas, {0: ask(0, 5)}, TERMS)
    assert has_news(replicas, {0: ask(0, epoch=4)}, TERMS)
    world.append("t", b"a", number=1)
    assert has_news(replicas, {0: ask(0), 1: ask(1)}, TERMS)
    assert not has_news(replicas, {0: ask(0), 1: ask(1, 1)}, TERMS)


async def test_the_end_depends_on_who_reads(world: World) -> None:
    partition = world.partition("t")
    partition.lead(PartitionState(1, 0, 1, (0, 1), 0, (0, 1)), now_ms=START_MS)
    world.append("t", b"a", b"b")
    assert end_of(partition, TERMS) == 0
    assert end_of(partition, TERMS._replace(is_read_committed=True)) == 0
    assert end_of(partition, TERMS._replace(replica_id=1)) == 2
    assert end_of(partition, TERMS._replace(replica_id=-2)) == 2
