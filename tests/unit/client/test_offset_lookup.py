"""Offsets by time, and the ends of logs, from whoever leads."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from moldau.client.connection.cluster import Cluster
from moldau.client.consumer.consumer import Consumer
from moldau.client.offset_lookup import EARLIEST, LATEST, OffsetLookup
from moldau.client.producer.producer import Producer
from moldau.client.settings import ClientSettings
from moldau.errors import ErrorCode, RequestTimedOut, TopicAuthorizationFailed
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Action, Call, Fail

T0 = TopicPartition("t", 0)


@pytest.fixture
async def lookup(kafka: EmbeddedBroker) -> AsyncIterator[OffsetLookup]:
    """Of a topic with three records, at 100, 200 and 300 ms."""
    async with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for number in (1, 2, 3):
            await producer.send("t", b"v", timestamp_ms=100 * number)
    settings = ClientSettings(
        bootstrap_servers=kafka.bootstrap_servers, retry_backoff_ms=5, request_timeout_ms=1000
    )
    cluster = Cluster(settings)
    await cluster.refresh()
    yield OffsetLookup(cluster, is_committed_only=False)
    cluster.close()


@pytest.mark.parametrize(
    ("at", "expected"), [(EARLIEST, 0), (LATEST, 3), (150, 1), (300, 2), (301, -1)]
)
async def test_an_offset_is_found(lookup: OffsetLookup, at: int, expected: int) -> None:
    assert (await lookup.find({T0: at}))[T0].offset == expected


async def test_a_leader_that_moved_is_looked_for(
    kafka: EmbeddedBroker, lookup: OffsetLookup
) -> None:
    calls: list[Call] = []

    def moved(call: Call) -> Action:
        calls.append(call)
        return Fail(ErrorCode.NOT_LEADER_OR_FOLLOWER) if len(calls) < 3 else None

    kafka.control("ListOffsets", moved)
    assert (await lookup.find({T0: LATEST}))[T0].offset == 3
    assert len(calls) == 3


async def test_an_error_that_stays_is_raised(kafka: EmbeddedBroker, lookup: OffsetLookup) -> None:
    kafka.control("ListOffsets", lambda _: Fail(ErrorCode.TOPIC_AUTHORIZATION_FAILED))
    with pytest.raises(TopicAuthorizationFailed):
        await lookup.find({T0: LATEST})


async def test_without_an_answer_in_time_the_error_says_why(
    kafka: EmbeddedBroker, lookup: OffsetLookup
) -> None:
    kafka.control("ListOffsets", lambda _: Fail(ErrorCode.LEADER_NOT_AVAILABLE))
    with pytest.raises(RequestTimedOut, match="no offsets for t-0: t-0"):
        await lookup.find({T0: LATEST})


async def test_nothing_is_asked_for_nothing(lookup: OffsetLookup) -> None:
    assert await lookup.find({}) == {}


async def test_a_consumer_looks_for_offsets_as_long_as_it_may(kafka: EmbeddedBroker) -> None:
    kafka.control("ListOffsets", lambda _: Fail(ErrorCode.NOT_LEADER_OR_FOLLOWER))
    async with Consumer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers, retry_backoff_ms=5, default_api_timeout_ms=200
    ) as consumer:
        async with asyncio.timeout(20):  # request.timeout.ms is longer
            with pytest.raises(RequestTimedOut, match="no offsets for t-0"):
                await consumer.end_offsets([T0])
