"""What a broker does without being asked: the background loops over its logs."""

import asyncio

import pytest

from moldau.broker.storage.flushing import Flusher
from moldau.broker.storage.maintenance import EveryDirectoryOffline, Maintenance
from moldau.config.broker.startup import read_startup
from moldau.log import checkpoint
from moldau.model import TopicPartition
from moldau.records.batch import Producer, write_batch
from moldau.records.record import Record
from unit.broker.stores import PATH, Store, append
from unit.waiting import until

ORDERS = TopicPartition("orders", 0)


def maintenance(*stores: Store, **settings: str) -> Maintenance:
    texts = {name.replace("_", "."): value for name, value in settings.items()}
    config = read_startup({"log.dirs": PATH, **texts}).config
    return Maintenance(
        [store.directory for store in stores],
        Flusher(stores[0].disk, stores[0].clock),
        config=lambda: config,
        clock=stores[0].clock,
        seed=bytes(16),
    )


async def test_old_segments_go_and_their_files_follow_after_the_delay() -> None:
    store = Store()
    log = store.log(retention_ms=1000, file_delete_delay_ms=60_000)
    append(log, timestamp=store.clock.at_ms)
    store.clock.at_ms += 1001
    service = maintenance(store)
    await service.delete_old_segments()
    assert log.log_start_offset == 1
    await service.remove_files()
    assert any(name.endswith(".deleted") for name in store.names(log))
    store.clock.at_ms += 60_000
    await service.remove_files()
    assert not any(name.endswith(".deleted") for name in store.names(log))


async def test_the_directory_of_a_deleted_topic_is_removed_after_the_delay() -> None:
    store = Store()
    log = store.log(file_delete_delay_ms=60_000)
    append(log)
    store.directory.delete(ORDERS, unique="0" * 32, now_ms=store.clock.at_ms)
    service = maintenance(store)
    store.clock.at_ms += 59_999
    await service.remove_files()
    assert store.disk.status(log.folder.path) is not None
    store.clock.at_ms += 1
    await service.remove_files()
    assert store.disk.status(log.folder.path) is None


async def test_a_log_is_flushed_when_flush_ms_has_passed() -> None:
    store = Store()
    log, patient = store.log("orders", flush_ms=1000), store.log("patient")
    append(log)
    append(patient)
    log.flushed_at_ms = store.clock.at_ms
    service = maintenance(store)
    store.clock.at_ms += 999
    await service.flush_due()
    assert log.recovery_point == 0
    store.clock.at_ms += 1
    await service.flush_due()
    assert (log.recovery_point, patient.recovery_point) == (1, 0)


async def test_silent_producers_are_forgotten() -> None:
    store = Store()
    log = store.log()
    record = Record(0, store.clock.at_ms, None, b"value")
    batch = write_batch([record], producer=Producer(7, 0, 0))
    log.append_as_leader(batch, leader_epoch=0, now_ms=store.clock.at_ms)
    service = maintenance(store)
    await service.expire_producers()
    assert len(log.producers) == 1
    store.clock.at_ms += 86_400_001
    await service.expire_producers()
    assert len(log.producers) == 0


async def test_checkpoints_are_written() -> None:
    store = Store()
    append(store.log())
    service = maintenance(store)
    await service.save_high_watermarks()
    await service.save_log_starts()
    await service.save_recovery_points()
    path = f"{PATH}/{checkpoint.HIGH_WATERMARKS}"
    assert checkpoint.read_offsets(store.disk, path) == {ORDERS: 1}


async def test_complete_segments_are_flushed_and_the_active_one_is_not() -> None:
    store = Store()
    log = store.log()
    append(log)
    service = maintenance(store)
    await service.flush_complete_segments()
    assert log.recovery_point == 0
    log.roll(now_ms=0)
    append(log)
    await service.flush_complete_segments()
    assert log.recovery_point == 1


async def test_compacted_topics_are_compacted() -> None:
    store = Store()
    log = store.log(cleanup_policy=("compact",), min_cleanable_dirty_ratio=0.01)
    for _ in range(20):
        append(log, b"same")
    log.roll(now_ms=0)
    before = log.size
    running = asyncio.create_task(maintenance(store, log_cleaner_backoff_ms="1").run())
    await until(lambda: log.size != before)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_one_failing_disk_does_not_stop_the_work_on_the_others() -> None:
    failing = Store()
    sound = Store(clock=failing.clock)
    log = sound.log()
    append(log)
    failing.log()
    service = maintenance(failing, sound)
    failing.disk.fail_call(1)
    await service.save_high_watermarks()
    assert not failing.directory.volume.is_online
    assert sound.has(checkpoint.HIGH_WATERMARKS)
    await service.check_disks()


async def test_without_a_directory_left_the_broker_stops() -> None:
    store = Store()
    store.directory.volume.fail(OSError("the cable is out"))
    with pytest.raises(ExceptionGroup) as raised:
        await maintenance(store).run()
    assert raised.group_contains(EveryDirectoryOffline)


async def test_a_disk_that_fails_while_files_are_removed_goes_offline() -> None:
    store = Store()
    store.log(file_delete_delay_ms=0)
    store.directory.delete(ORDERS, unique="0" * 32, now_ms=0)
    store.disk.fail_call(1)
    await maintenance(store).remove_files()
    assert not store.directory.volume.is_online
