"""Forcing logs to disk, in a thread, many waiting requests at a time."""

import asyncio

import pytest

from moldau.broker.storage.flushing import Flusher
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from unit.broker.stores import Store, append


async def test_a_flush_makes_everything_durable_and_moves_the_recovery_point() -> None:
    store = Store()
    log = store.log()
    append(log)
    flusher = Flusher(store.disk, store.clock)
    await flusher.flush(log, log.log_end_offset)
    assert log.recovery_point == log.log_end_offset == 1
    kept = store.disk.restart().status(f"{log.folder.path}/{0:020}.log")
    assert kept is not None
    assert kept.size == log.size


async def test_requests_that_wait_together_share_a_flush() -> None:
    store = Store()
    log = store.log()
    flusher = Flusher(store.disk, store.clock)
    append(log)
    first = asyncio.create_task(flusher.flush(log, 1))
    await asyncio.sleep(0)
    for _ in range(5):
        append(log)
    begun = store.disk.calls.count("sync")
    await asyncio.gather(first, *(flusher.flush(log, end) for end in range(2, 7)))
    assert log.recovery_point == 6
    assert store.disk.calls.count("sync") - begun <= 2


async def test_what_is_durable_already_is_not_flushed_again() -> None:
    store = Store()
    log = store.log()
    append(log)
    flusher = Flusher(store.disk, store.clock)
    await flusher.flush(log, 1)
    calls = len(store.disk.calls)
    await flusher.flush(log, 1)
    assert len(store.disk.calls) == calls


async def test_a_failed_flush_takes_the_directory_offline_for_everyone_who_waits() -> None:
    store = Store()
    log = store.log()
    append(log)
    flusher = Flusher(store.disk, store.clock)
    # A flush may touch several files; whichever call comes next fails.
    for number in range(1, 8):
        store.disk.fail_call(number)
    outcomes = await asyncio.gather(
        flusher.flush(log, 1), flusher.flush(log, 1), return_exceptions=True
    )
    for outcome in outcomes:
        assert isinstance(outcome, KafkaError)
        assert outcome.code == ErrorCode.KAFKA_STORAGE_ERROR
    assert not store.directory.volume.is_online
    assert log.recovery_point == 0


async def test_a_topic_deleted_while_it_is_flushed_harms_nobody() -> None:
    store = Store()
    log = store.log()
    append(log)
    flusher = Flusher(store.disk, store.clock)
    flushing = asyncio.create_task(flusher.flush(log, 1))
    await asyncio.sleep(0)
    store.directory.delete(TopicPartition("orders", 0), unique="0" * 32, now_ms=0)
    try:
        await asyncio.wait_for(flushing, timeout=5)
    except KafkaError as error:
        pytest.fail(f"the directory went offline: {error}")
    assert store.directory.volume.is_online


async def test_a_flush_is_due_after_flush_messages() -> None:
    store = Store()
    log = store.log(flush_messages=2)
    flusher = Flusher(store.disk, store.clock)
    append(log)
    assert not flusher.is_due(log)
    append(log)
    assert flusher.is_due(log)
    await flusher.flush(log, 2)
    assert not flusher.is_due(log)


async def test_what_flush_messages_asks_for_is_committed_once_it_is_durable() -> None:
    store = Store()
    log = store.log(flush_messages=1)
    heard: list[TopicPartition] = []
    flusher = Flusher(store.disk, store.clock, flushed=heard.append)
    store.directory.shared.sync_soon = flusher.flush_soon
    running = asyncio.create_task(flusher.run())
    append(log)
    assert log.settled_end_offset() == 0
    async with asyncio.timeout(10):
        while not heard:
            await asyncio.sleep(0)
    assert heard == [log.partition]
    assert log.settled_end_offset() == 1
    running.cancel()


async def test_a_flush_that_nobody_waits_for_fails_quietly() -> None:
    store = Store()
    log = store.log(flush_messages=1)
    append(log)
    flusher = Flusher(store.disk, store.clock)
    running = asyncio.create_task(flusher.run())
    for number in range(1, 8):
        store.disk.fail_call(number)
    flusher.flush_soon(log)
    async with asyncio.timeout(10):
        while log.folder.volume.is_online:
            await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_only_what_flush_messages_asks_for_is_flushed_when_due() -> None:
    store = Store()
    at_leisure, at_once = store.log("leisure"), store.log("once", flush_messages=1)
    flusher = Flusher(store.disk, store.clock)
    for log in (at_leisure, at_once):
        append(log)
        await flusher.flush_due(log)
    assert (at_leisure.recovery_point, at_once.recovery_point) == (0, 1)
