"""Fetching goes on whatever happens on the way."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from moldau.client.consumer.consumer import Consumer
from moldau.client.consumer.fetch_session import ReadPosition
from moldau.client.consumer.fetcher import FetchInFlight
from moldau.errors import ErrorCode, KafkaError, TopicAuthorizationFailed
from moldau.model import TopicPartition
from moldau.protocol.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from moldau.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Action, Call, Drop, Fail, Respond
from unit.client.reading import read, write

T0 = TopicPartition("t", 0)


@pytest.fixture
async def consumer(kafka: EmbeddedBroker) -> AsyncIterator[Consumer[bytes, bytes]]:
    """Of a topic with a hundred numbers; it fetches a little at a time."""
    await write(kafka, "t", range(100))
    consumer = Consumer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers,
        auto_offset_reset="earliest",
        retry_backoff_ms=5,
        fetch_max_wait_ms=20,
        max_partition_fetch_bytes=200,
    )
    async with consumer:
        yield consumer


@pytest.mark.parametrize(
    "action",
    [
        Drop(),
        Fail(ErrorCode.NOT_LEADER_OR_FOLLOWER),
        Fail(ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        Fail(ErrorCode.INVALID_FETCH_SESSION_EPOCH),
        Fail(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
async def test_faults_neither_lose_nor_repeat_records(
    kafka: EmbeddedBroker, consumer: Consumer[bytes, bytes], action: Action
) -> None:
    calls: list[Call] = []

    def now_and_then(call: Call) -> Action:
        calls.append(call)
        return action if len(calls) in (1, 3, 4) else None

    kafka.control("Fetch", now_and_then)
    consumer.assign([T0])
    assert await read(consumer, 100) == list(range(100))


async def test_what_the_user_must_know_is_raised(
    kafka: EmbeddedBroker, consumer: Consumer[bytes, bytes]
) -> None:
    kafka.control("Fetch", lambda _: Fail(ErrorCode.TOPIC_AUTHORIZATION_FAILED))
    consumer.assign([T0])
    with pytest.raises(TopicAuthorizationFailed):
        await consumer.poll(10)


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.NONE,  # and nonsense instead of records
    ],
)
async def test_what_fails_is_tried_again_at_a_pace(kafka: EmbeddedBroker, code: ErrorCode) -> None:
    """And brokers are not asked for metadata all the time either."""
    await write(kafka, "t", range(10))
    data = PartitionData(
        partition_index=0,
        error_code=int(code),
        high_watermark=100,
        records=None if code else bytes(16) + b"\x02" + bytes(200),
    )
    answer = FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[data])])
    if code is ErrorCode.FETCH_SESSION_ID_NOT_FOUND:
        answer = FetchResponse(error_code=int(code), responses=[])
    fetches: list[Call] = []
    others: list[Call] = []
    kafka.control("Metadata", others.append)

    def respond(call: Call) -> Respond:
        fetches.append(call)
        return Respond(answer)

    kafka.control("Fetch", respond)
    consumer = Consumer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers, retry_backoff_ms=50, auto_offset_reset="earliest"
    )
    async with consumer:
        consumer.assign([T0])
        began_s = asyncio.get_running_loop().time()
        while len(fetches) < 8:
            with suppress(KafkaError):
                await consumer.poll(0.01)
        assert asyncio.get_running_loop().time() - began_s >= 7 * 0.05
    assert len(others) <= 2 + 2 * len(fetches)


async def test_a_partition_that_fails_does_not_hold_up_others(kafka: EmbeddedBroker) -> None:
    def refuse_first(call: Call) -> Action:
        topics = [topic.topic for topic in call.request.topics]
        if "t" not in topics:
            return None
        data = PartitionData(
            partition_index=0,
            error_code=int(ErrorCode.NOT_LEADER_OR_FOLLOWER),
            high_watermark=0,
            records=None,
        )
        return Respond(
            FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[data])])
        )

    await write(kafka, "t", range(10))
    await write(kafka, "other", range(100))
    kafka.control("Fetch", refuse_first)
    consumer = Consumer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers,
        auto_offset_reset="earliest",
        retry_backoff_ms=60_000,
    )
    async with consumer:
        consumer.assign([T0, TopicPartition("other", 0)])
        assert await read(consumer, 100) == list(range(100))


async def test_a_slow_user_does_not_fill_the_memory(
    kafka: EmbeddedBroker, consumer: Consumer[bytes, bytes]
) -> None:
    await write(kafka, "t", range(100, 3000))
    consumer.assign([T0])
    assert await read(consumer, 1) == [0]
    calls: list[Call] = []
    kafka.control("Fetch", calls.append)
    for _ in range(20):  # a fetch would be on its way before the next of these
        await consumer.end_offsets([T0])
    assert len(calls) <= 2
    assert await read(consumer, 2999) == list(range(1, 3000))


async def test_sessions_are_used(kafka: EmbeddedBroker, consumer: Consumer[bytes, bytes]) -> None:
    calls: list[Call] = []
    kafka.control("Fetch", calls.append)
    consumer.assign([T0])
    await read(consumer, 100)
    assert len({call.request.session_id for call in calls[1:]} - {0}) == 1
    epochs = [call.request.session_epoch for call in calls]
    assert epochs == list(range(len(epochs)))


async def test_metadata_that_stays_in_doubt_is_asked_for_at_a_pace(kafka: EmbeddedBroker) -> None:
    calls: list[Call] = []
    kafka.control("Metadata", calls.append)
    consumer = Consumer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers, metadata_max_age_ms=0, retry_backoff_ms=50
    )
    async with consumer:
        await consumer.poll(0.1)
        assert len(calls) == 1  # with nothing to read there is nothing to ask
        consumer.assign([T0])
        await consumer.poll(0.3)
    assert 3 <= len(calls) <= 10


def with_a_twin(kafka: EmbeddedBroker) -> Respond:
    """Metadata in which the one broker appears as two: 0, the leader, and 5, nearby."""
    host, _, port = kafka.bootstrap_servers.partition(":")
    return Respond(
        MetadataResponse(
            brokers=[
                MetadataResponseBroker(node_id=node_id, host=host, port=int(port))
                for node_id in (0, 5)
            ],
            topics=[
                MetadataResponseTopic(
                    error_code=0,
                    name="t",
                    partitions=[
                        MetadataResponsePartition(
                            error_code=0,
                            partition_index=0,
                            leader_id=0,
                            leader_epoch=0,
                            replica_nodes=[0, 5],
                            isr_nodes=[0, 5],
                        )
                    ],
                )
            ],
        )
    )


def go_to(node_id: int, error_code: int = 0) -> Respond:
    """An answer that sends the consumer to another replica."""
    data = PartitionData(
        partition_index=0,
        error_code=error_code,
        high_watermark=100,
        preferred_read_replica=node_id,
        records=None,
    )
    topic = FetchableTopicResponse(topic="t", partitions=[data])
    return Respond(FetchResponse(responses=[topic]))


@pytest.mark.parametrize("stumble", [ErrorCode.OFFSET_OUT_OF_RANGE, ErrorCode.NONE])
async def test_a_nearer_replica_is_read_from_until_it_stumbles(
    kafka: EmbeddedBroker, consumer: Consumer[bytes, bytes], stumble: ErrorCode
) -> None:
    kafka.control("Metadata", lambda _: with_a_twin(kafka))
    racks: list[str] = []

    def nearby(call: Call) -> Action:
        racks.append(call.request.rack_id)
        if len(racks) == 1:
            return go_to(5)
        return go_to(-1, int(stumble)) if stumble and len(racks) == 2 else None

    kafka.control("Fetch", nearby)
    consumer.assign([T0])
    assert await read(consumer, 100) == list(range(100))
    read_from = consumer._assignment[T0].read_from
    assert read_from == (None if stumble else 5)


async def test_the_leader_s_epoch_is_said(
    kafka: EmbeddedBroker, consumer: Consumer[bytes, bytes]
) -> None:
    calls: list[Call] = []
    kafka.control("Fetch", calls.append)
    consumer.assign([T0])
    await read(consumer, 1)
    (topic,) = calls[0].request.topics
    assert topic.partitions[0].current_leader_epoch == 0


async def test_an_answer_that_is_overtaken_by_that_of_another_broker_is_dropped(
    consumer: Consumer[bytes, bytes],
) -> None:
    """A leader that was asked is deposed and answers late; its successor has answered before."""
    consumer.assign([T0])
    first = await read(consumer, 10)
    late = PartitionData(
        partition_index=0,
        error_code=int(ErrorCode.OFFSET_OUT_OF_RANGE),
        high_watermark=-1,
        records=None,
    )
    answer = FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[late])])
    asked = FetchInFlight(ReadPosition(0, 0), consumer._assignment[T0].version)
    consumer._fetcher._take(answer, {T0: asked})
    assert first + await read(consumer, 90) == list(range(100))
