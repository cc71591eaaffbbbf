"""The checkpoint files of a log directory, written when something in them has changed."""

import pytest

from moldau.broker.checkpoints import Checkpoints
from moldau.errors import ErrorCode, KafkaError
from moldau.log import checkpoint
from moldau.model import TopicPartition
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
    checkpoints.save_recovery_points()
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
    checkpoints.save_recovery_points()
    calls = len(store.disk.calls)
    await checkpoints.save_high_watermarks()
    checkpoints.save_recovery_points()
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
