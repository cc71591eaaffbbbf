"""Compaction in the background: chooses a log, has a thread rewrite it, swaps the result in."""

import asyncio
from collections.abc import Iterable

import pytest

from moldau.broker.storage.checkpoints import Checkpoints
from moldau.broker.storage.cleaning import Cleaning
from moldau.config.broker.cleaner import CleanerConfig
from moldau.log import checkpoint
from moldau.log.log import Log
from moldau.model import TopicPartition
from moldau.records.batch import iterate_headers, read_records
from unit.broker.stores import PATH, Store, append


def compacted(store: Store, topic: str = "orders") -> Log:
    return store.log(topic, cleanup_policy=("compact",), min_cleanable_dirty_ratio=0.01)


def cleaning(*stores: Store, config: CleanerConfig | None = None) -> Cleaning:
    return Cleaning(
        {store.directory: Checkpoints(store.directory) for store in stores},
        config=lambda: config or CleanerConfig(),
        clock=stores[0].clock,
        seed=bytes(16),
    )


def fill(log: Log, keys: Iterable[bytes] = (b"a", b"b", b"a", b"a")) -> None:
    """One batch per key, all but an empty last segment complete."""
    for key in keys:
        append(log, key)
    log.roll(now_ms=0)


def keys_of(log: Log) -> list[tuple[int, bytes | None]]:
    found = []
    for segment in log.segments:
        data = segment.file().read(0, segment.size)
        for position, _ in iterate_headers(data):
            rows = read_records(data, position, limit_bytes=1 << 20)
            found += [(row.offset, row.key) for row in rows]
    return found


async def test_a_dirty_log_keeps_the_newest_record_of_each_key() -> None:
    store = Store()
    log = compacted(store)
    fill(log)
    service = cleaning(store)
    assert await service.clean_dirtiest()
    assert keys_of(log) == [(1, b"b"), (3, b"a")]
    assert not await service.clean_dirtiest()


async def test_how_far_a_log_is_clean_outlives_the_process() -> None:
    store = Store()
    log = compacted(store)
    fill(log)
    await cleaning(store).clean_dirtiest()
    path = f"{PATH}/{checkpoint.CLEANER_OFFSETS}"
    assert checkpoint.read_offsets(store.disk, path) == {TopicPartition("orders", 0): 4}
    assert not await cleaning(store).clean_dirtiest()


async def test_a_log_that_was_cut_counts_as_dirty_again() -> None:
    store = Store()
    log = compacted(store)
    fill(log)
    service = cleaning(store)
    await service.clean_dirtiest()
    log.truncate_to(2, now_ms=0)
    fill(log, (b"b", b"b"))
    assert await service.clean_dirtiest()
    assert [key for _, key in keys_of(log)].count(b"b") == 1


async def test_a_topic_created_again_does_not_inherit_the_clean_offset() -> None:
    store = Store()
    fill(compacted(store))
    service = cleaning(store)
    await service.clean_dirtiest()
    store.directory.delete(TopicPartition("orders", 0), unique="0" * 32, now_ms=0)
    again = compacted(store)
    fill(again)
    assert await service.clean_dirtiest()
    assert keys_of(again) == [(1, b"b"), (3, b"a")]


async def test_the_dirtiest_log_of_all_directories_comes_first() -> None:
    store = Store()
    other = Store(disk=store.disk, clock=store.clock, path="/more")
    clean, dirty = compacted(store, "clean"), compacted(other, "dirty")
    fill(clean)
    service = cleaning(store, other)
    await service.clean_dirtiest()
    fill(clean, (b"c",))
    fill(dirty)
    await service.clean_dirtiest()
    assert keys_of(dirty) == [(1, b"b"), (3, b"a")]
    assert await service.clean_dirtiest()


async def test_a_damaged_log_is_left_alone_and_the_others_are_cleaned(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = Store()
    damaged, sound = compacted(store, "damaged"), compacted(store, "sound")
    fill(damaged, [b"a"] * 9)
    fill(sound)
    file = store.disk.open_append(damaged.segments.first.path(".log"))
    size = file.size()
    file.truncate(0)
    file.append(bytes(size))
    service = cleaning(store)
    while await service.clean_dirtiest():
        pass
    assert keys_of(sound) == [(1, b"b"), (3, b"a")]
    assert "Failed to compact damaged-0" in caplog.text
    assert store.directory.volume.is_online


async def test_a_failing_disk_takes_the_directory_offline() -> None:
    store = Store()
    fill(compacted(store))
    service = cleaning(store)
    await service.clean_dirtiest()
    fill(store.directory.logs[TopicPartition("orders", 0)])
    store.disk.fail_call(4)
    assert await service.clean_dirtiest()
    assert not store.directory.volume.is_online
    assert not await service.clean_dirtiest()


async def test_a_topic_deleted_during_its_cleaning_harms_nobody() -> None:
    store = Store()
    log = compacted(store)
    fill(log, [b"a"] * 100)
    service = cleaning(store)
    working = asyncio.create_task(service.clean_dirtiest())
    await asyncio.sleep(0)
    store.directory.delete(log.partition, unique="0" * 32, now_ms=0)
    await working
    assert store.directory.volume.is_online


async def test_cancelling_ends_the_thread_first() -> None:
    store = Store()
    fill(compacted(store), [b"a"] * 100)
    slow = CleanerConfig(log_cleaner_io_max_bytes_per_second=1.0)
    working = asyncio.create_task(cleaning(store, config=slow).run())
    await asyncio.sleep(0)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(working, timeout=5)
