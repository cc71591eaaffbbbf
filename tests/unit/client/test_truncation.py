"""Logs that become shorter under those who read them."""

import asyncio
import json
import pickle
import shutil
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing

import pytest

from moldau.client.consumer.consumer import Consumer
from moldau.client.truncation import LogTruncated
from moldau.coordination.journal import FILE_NAME
from moldau.errors import ErrorCode, KafkaError, OffsetOutOfRange
from moldau.model import TopicPartition
from moldau.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from moldau.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Call, Fail, Respond
from unit.client.reading import read, write

T0 = TopicPartition("t", 0)


@asynccontextmanager
async def reader_of(
    kafka: EmbeddedBroker, policy: str = "none", **settings: object
) -> AsyncIterator[Consumer[bytes, bytes]]:
    options = {
        "bootstrap.servers": kafka.bootstrap_servers,
        "auto.offset.reset": policy,
        "fetch.max.wait.ms": 20,
        "retry.backoff.ms": 5,
        **settings,
    }
    async with Consumer[bytes, bytes](options) as consumer, asyncio.timeout(30):
        yield consumer


def begin_epoch(kafka: EmbeddedBroker) -> None:
    """Let the partition be in the next epoch of its leader when the broker starts again."""
    path = "/brokers/topics/t/partitions/0/state"
    with closing(sqlite3.connect(kafka.directory / FILE_NAME)) as store, store:
        (data,) = store.execute("select data from node where path = ?", (path,)).fetchone()
        state = json.loads(data)
        state["leader_epoch"] += 1
        changed = json.dumps(state).encode()
        store.execute("update node set data = ? where path = ?", (changed, path))


def restart(kafka: EmbeddedBroker) -> None:
    kafka.stop()
    begin_epoch(kafka)
    kafka.start()


def lose(kafka: EmbeddedBroker, write_more: Callable[[], None]) -> None:
    """Do something, then start again without what came of it, as after an unclean election."""
    log = kafka.directory / "t-0"
    with tempfile.TemporaryDirectory() as kept:
        kafka.stop()
        shutil.copytree(log, kept, dirs_exist_ok=True)
        kafka.start()
        write_more()
        kafka.stop()
        shutil.rmtree(log)
        shutil.copytree(kept, log)
        begin_epoch(kafka)
        kafka.start()


async def write_lose_and_write(kafka: EmbeddedBroker, consumer: Consumer[bytes, bytes]) -> None:
    """Five records, which are read; five more, which are read and lost; and eight others."""
    await write(kafka, "t", range(5))
    consumer.assign({T0: 0})
    assert await read(consumer, 5) == [0, 1, 2, 3, 4]
    loop = asyncio.get_running_loop()

    def write_and_read() -> None:
        asyncio.run_coroutine_threadsafe(write(kafka, "t", range(5, 10)), loop).result(20)
        reading = asyncio.run_coroutine_threadsafe(read(consumer, 5), loop)
        assert reading.result(20) == [5, 6, 7, 8, 9]

    await asyncio.to_thread(lose, kafka, write_and_read)
    await write(kafka, "t", range(100, 108))


async def test_with_a_policy_reading_goes_on_where_the_log_differs(kafka: EmbeddedBroker) -> None:
    async with reader_of(kafka, "latest") as consumer:
        await write_lose_and_write(kafka, consumer)
        assert await read(consumer, 8) == list(range(100, 108))


async def test_without_a_policy_the_user_is_told_where_the_log_differs(
    kafka: EmbeddedBroker,
) -> None:
    async with reader_of(kafka) as consumer:
        await write_lose_and_write(kafka, consumer)
        with pytest.raises(
            LogTruncated, match=r"t-0 was read to offset 10, .* from offset 5"
        ) as it:
            await read(consumer, 1)
        consumer.seek(T0, it.value.sound_offset)
        assert await read(consumer, 8) == list(range(100, 108))


async def test_a_committed_offset_is_checked_too(kafka: EmbeddedBroker) -> None:
    group = {"group.id": "g", "enable.auto.commit": False}
    async with reader_of(kafka, "latest", **group) as consumer:
        await write(kafka, "t", range(5))
        consumer.assign({T0: 0})
        assert await read(consumer, 5) == [0, 1, 2, 3, 4]
        await consumer.commit()
    kafka.control("OffsetForLeaderEpoch", lambda _: ends(end_offset=2, leader_epoch=0))
    async with reader_of(kafka, "latest", **group) as consumer:
        consumer.assign([T0])
        assert await read(consumer, 3) == [2, 3, 4]


def ends(**fields: int) -> Respond:
    end = EpochEndOffset(**{"error_code": 0, "partition": 0, **fields})
    topics = [OffsetForLeaderTopicResult(topic="t", partitions=[end])]
    return Respond(OffsetForLeaderEpochResponse(topics=topics))


async def restart_and_read(kafka: EmbeddedBroker, consumer: Consumer[bytes, bytes]) -> list[int]:
    """Read five, have a new leader epoch, and read what is there then."""
    await write(kafka, "t", range(5))
    consumer.assign({T0: 0})
    assert await read(consumer, 5) == [0, 1, 2, 3, 4]
    await asyncio.to_thread(restart, kafka)
    await write(kafka, "t", range(5, 10))
    return await read(consumer, 5)


async def test_after_a_clean_election_reading_goes_on(kafka: EmbeddedBroker) -> None:
    asked: list[Call] = []
    kafka.control("OffsetForLeaderEpoch", asked.append)
    async with reader_of(kafka) as consumer:
        assert await restart_and_read(kafka, consumer) == [5, 6, 7, 8, 9]
    assert len(asked) == 1


async def test_what_was_fetched_but_not_read_is_fetched_again(kafka: EmbeddedBroker) -> None:
    await write(kafka, "t", range(5))
    fetched_again = asyncio.Event()
    loop = asyncio.get_running_loop()

    def look(call: Call) -> None:
        offsets = [each.fetch_offset for topic in call.request.topics for each in topic.partitions]
        if offsets == [2]:
            loop.call_soon_threadsafe(fetched_again.set)

    kafka.control("OffsetForLeaderEpoch", lambda _: ends(end_offset=3, leader_epoch=0))
    kafka.control("Fetch", look)
    async with reader_of(kafka) as consumer:
        consumer.assign({T0: 0})
        assert await read(consumer, 2) == [0, 1]
        await asyncio.to_thread(restart, kafka)
        await fetched_again.wait()
        assert await read(consumer, 3) == [2, 3, 4]


async def test_an_epoch_that_the_leader_does_not_know_leaves_it_to_the_policy(
    kafka: EmbeddedBroker,
) -> None:
    kafka.control("OffsetForLeaderEpoch", lambda _: ends(end_offset=-1, leader_epoch=-1))
    async with reader_of(kafka, "earliest") as consumer:
        assert await restart_and_read(kafka, consumer) == [0, 1, 2, 3, 4]


async def test_a_leader_that_has_moved_again_is_asked_again(kafka: EmbeddedBroker) -> None:
    actions = [Fail(ErrorCode.FENCED_LEADER_EPOCH), Fail(ErrorCode.NOT_LEADER_OR_FOLLOWER)]
    kafka.control("OffsetForLeaderEpoch", lambda _: actions.pop() if actions else None)
    async with reader_of(kafka) as consumer:
        assert await restart_and_read(kafka, consumer) == [5, 6, 7, 8, 9]
    assert not actions


async def test_brokers_that_do_not_tell_consumers_are_believed(kafka: EmbeddedBroker) -> None:
    spoken = {1: 12, 2: 6, 3: 9, 18: 0, 22: 1, 23: 2, 0: 9}
    keys = [
        ApiVersion(api_key=key, min_version=0, max_version=newest) for key, newest in spoken.items()
    ]
    kafka.control(
        "ApiVersions", lambda _: Respond(ApiVersionsResponse(error_code=0, api_keys=keys))
    )
    kafka.control("OffsetForLeaderEpoch", lambda _: ends(end_offset=0, leader_epoch=0))
    async with reader_of(kafka) as consumer:
        assert await restart_and_read(kafka, consumer) == [5, 6, 7, 8, 9]


def test_the_error_says_what_is_gone_and_travels_between_processes() -> None:
    error = LogTruncated(T0, 9, -1)
    assert "from an unknown offset on" in str(error)
    assert isinstance(error, OffsetOutOfRange)
    copy = pickle.loads(pickle.dumps(error))
    assert isinstance(copy, KafkaError)
    assert str(copy) == str(error)
