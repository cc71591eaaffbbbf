"""The checkpoint files of a log directory, written when something in them has changed."""

import asyncio

import pytest

from moldau.broker.storage.checkpoints import Checkpoints
from moldau.errors import ErrorCode, KafkaError
from moldau.log import checkpoint
from moldau.model import TopicPartition
from moldau.testing.disk import keep_all
from unit.broker.stores import PATH, Store, append

ORDERS = TopicPartition("orders", 0)


async def test_every_checkpoint_holds_what_the_logs_say() -> None:
    store = Store()
    log = store.log()
    for _ in range(3):
        append(log)
    log.raise_log_start(1)
    log.recovery_point = 2
    checkpoints = Checkpoints(store.directory)
    await checkpoints.save_high_watermarks()
    await checkpoints.save_log_starts()
    await checkpoints.save_recovery_points()
    read = {
        name: checkpoint.read_offsets(store.disk, f"{PATH}/{name}")
        for name in (
            checkpoint.HIGH_WATERMARKS,
            checkpoint.LOG_START_OFFSETS,
            checkpoint.RECOVERY_POINTS,
        )
    }
    assert read == {
        checkpoint.HIGH_WATERMARKS: {ORDERS: 3},
        checkpoint.LOG_START_OFFSETS: {ORDERS: 1},
        checkpoint.RECOVERY_POINTS: {ORDERS: 2},
    }


async def test_a_log_that_begins_with_a_segment_needs_no_start_offset() -> None:
    store = Store()
    store.log()
    await Checkpoints(store.directory).save_log_starts()
    path = f"{PATH}/{checkpoint.LOG_START_OFFSETS}"
    assert checkpoint.read_offsets(store.disk, path) == {}


async def test_nothing_is_written_while_nothing_changes() -> None:
    store = Store()
    log = store.log()
    checkpoints = Checkpoints(store.directory)
    await checkpoints.save_high_watermarks()
    await checkpoints.save_recovery_points()
    calls = len(store.disk.calls)
    await checkpoints.save_high_watermarks()
    await checkpoints.save_recovery_points()
    assert len(store.disk.calls) == calls
    append(log)
    calls = len(store.disk.calls)
    await checkpoints.save_high_watermarks()
    assert len(store.disk.calls) > calls


async def test_a_failed_write_takes_the_directory_offline_and_nothing_more_is_written() -> None:
    store = Store()
    store.log()
    checkpoints = Checkpoints(store.directory)
    store.disk.fail_call(1)
    with pytest.raises(KafkaError) as raised:
        await checkpoints.save_high_watermarks()
    assert raised.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    assert not store.directory.volume.is_online
    calls = len(store.disk.calls)
    await checkpoints.save_log_starts()
    assert len(store.disk.calls) == calls


async def test_a_log_cut_while_the_file_is_prepared_keeps_its_lower_recovery_point() -> None:
    store = Store()
    log = store.log()
    for _ in range(3):
        append(log)
    log.recovery_point = 3
    saving = asyncio.create_task(Checkpoints(store.directory).save_recovery_points())
    await asyncio.sleep(0)
    log.truncate_to(1, now_ms=0)
    await saving
    path = f"{PATH}/{checkpoint.RECOVERY_POINTS}"
    assert checkpoint.read_offsets(store.disk, path)[ORDERS] <= 1


async def test_recovery_points_are_durable_before_they_take_their_name() -> None:
    store = Store()
    log = store.log()
    append(log)
    log.recovery_point = 1
    await Checkpoints(store.directory).save_recovery_points()
    survivor = store.disk.restart(keep_all)
    assert checkpoint.read_offsets(survivor, f"{PATH}/{checkpoint.RECOVERY_POINTS}") == {ORDERS: 1}


async def test_a_disk_that_fails_while_the_file_is_prepared_goes_offline() -> None:
    store = Store()
    store.log().recovery_point = 0
    store.disk.fail_call(2)
    with pytest.raises(KafkaError):
        await Checkpoints(store.directory).save_recovery_points()
    assert not store.directory.volume.is_online
