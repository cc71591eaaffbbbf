"""A log directory finds its logs again, however it was left."""

import zlib
from collections.abc import Iterable

import pytest

from moldau.config.topic import TopicConfig
from moldau.errors import ErrorCode, KafkaError
from moldau.log.checkpoint import CheckpointError
from moldau.log.directory import (
    CLEAN_STOP,
    LogDirectory,
    NotOurs,
    Work,
    one_by_one,
    remove_tree,
)
from moldau.log.log import Log
from moldau.log.meta_properties import MetaProperties
from moldau.log.shared import Shared
from moldau.log.volume import Volume
from moldau.model import TopicPartition
from moldau.testing.disk import MemoryDisk, keep_all, lose_all
from unit.log.logs import fill

OWNER = MetaProperties(1, "cluster")
CONFIG = TopicConfig(segment_bytes=400)
ORDERS = TopicPartition("orders", 0)
EVENTS = TopicPartition("my-events", 12)
UNIQUE = "0123456789abcdef" * 2


def started(disk: MemoryDisk, owner: MetaProperties = OWNER) -> LogDirectory:
    directory = LogDirectory(Volume(disk, "/data"), Shared())
    directory.claim(owner)
    loaded = list(directory.load(lambda _: CONFIG, now_ms=0))
    assert loaded == list(directory.logs.values())
    return directory


@pytest.fixture
def disk() -> MemoryDisk:
    """Holds two logs that were written to and not closed."""
    made = MemoryDisk()
    made.make_directory("/data")
    made.sync_directory("/")
    directory = started(made)
    for partition in (ORDERS, EVENTS):
        fill(directory.create(partition, CONFIG, now_ms=0), 4)
    return made


def ends(directory: LogDirectory) -> dict[TopicPartition, int]:
    return {partition: log.log_end_offset for partition, log in directory.logs.items()}


def text(disk: MemoryDisk, name: str) -> str:
    return disk.read_file(f"/data/{name}").decode()


def overwrite(disk: MemoryDisk, name: str, data: bytes) -> None:
    file = disk.open_append(f"/data/{name}")
    file.truncate(0)
    file.append(data)


def test_logs_are_found_after_a_crash(disk: MemoryDisk) -> None:
    assert ends(started(disk.restart(keep_all))) == {ORDERS: 8, EVENTS: 8}


def test_a_clean_stop_leaves_a_marker_that_the_next_start_removes(disk: MemoryDisk) -> None:
    directory = started(disk.restart(keep_all))
    disk = directory.volume.disk  # type: ignore[assignment]
    directory.close(now_ms=0)
    disk = disk.restart(lose_all)
    assert disk.status(f"/data/{CLEAN_STOP}") is not None
    again = started(disk)
    assert ends(again) == {ORDERS: 8, EVENTS: 8}
    assert all(log.recovery_point == 8 for log in again.logs.values())
    # Were it to come back after a power loss, torn logs would pass for clean ones.
    assert disk.restart(lose_all).status(f"/data/{CLEAN_STOP}") is None


def closed(disk: MemoryDisk) -> MemoryDisk:
    directory = started(disk.restart(keep_all))
    directory.close(now_ms=0)
    disk = directory.volume.disk  # type: ignore[assignment]
    return disk.restart(lose_all)


def test_checkpoints_have_one_line_per_partition(disk: MemoryDisk) -> None:
    directory = started(disk.restart(keep_all))
    disk = directory.volume.disk  # type: ignore[assignment]
    for log in directory.logs.values():
        log.raise_high_watermark(6)
    directory.logs[ORDERS].raise_log_start(1)
    directory.close(now_ms=0)
    assert sorted(text(disk, "recovery-point-offset-checkpoint").splitlines()) == [
        "0", "2", "my-events 12 8", "orders 0 8",
    ]  # fmt: skip
    assert "orders 0 6" in text(disk, "replication-offset-checkpoint")
    assert text(disk, "log-start-offset-checkpoint") == "0\n1\norders 0 1\n"
    again = started(disk.restart(lose_all))
    assert again.logs[ORDERS].log_start_offset == 1
    assert again.logs[ORDERS].high_watermark == 6


def test_empty_checkpoints_are_no_damage(
    disk: MemoryDisk, caplog: pytest.LogCaptureFixture
) -> None:
    disk = closed(disk)
    for name in ("recovery-point", "replication", "log-start"):
        overwrite(disk, f"{name}-offset-checkpoint", b"")
    assert ends(started(disk)) == {ORDERS: 8, EVENTS: 8}
    assert not caplog.records


@pytest.mark.parametrize(
    "name",
    [
        "recovery-point-offset-checkpoint",
        "replication-offset-checkpoint",
        "log-start-offset-checkpoint",
    ],
)
@pytest.mark.parametrize("damage", [b"", b"0\n9\norders 0 1\n", b"\xff\xfe"])
def test_a_malformed_checkpoint_is_done_without(disk: MemoryDisk, name: str, damage: bytes) -> None:
    disk = closed(disk)
    overwrite(disk, name, damage)
    assert ends(started(disk)) == {ORDERS: 8, EVENTS: 8}


def test_a_log_damaged_while_closed_is_recovered(disk: MemoryDisk) -> None:
    disk = closed(disk)
    active = "orders-0/00000000000000000004.log"
    overwrite(disk, active, b"\x07" * len(disk.read_file(f"/data/{active}")))
    assert ends(started(disk)) == {ORDERS: 4, EVENTS: 8}


def test_a_directory_of_another_broker_or_cluster_is_refused(disk: MemoryDisk) -> None:
    for other in (MetaProperties(2, "cluster"), MetaProperties(1, "another")):
        disk = disk.restart(keep_all)
        with pytest.raises(NotOurs):
            started(disk, other)
    disk = disk.restart(keep_all)
    overwrite(disk, "meta.properties", b"version=0\nbroker.id=1\n")
    started(disk)
    assert "cluster.id=cluster" in text(disk, "meta.properties")


def test_a_directory_knows_whether_its_owner_was_here_before(disk: MemoryDisk) -> None:
    assert not started(MemoryDisk()).is_known_to_owner
    disk = disk.restart(keep_all)
    assert started(disk).is_known_to_owner
    disk = disk.restart(keep_all)
    # One of a broker that did not know its cluster proves nothing.
    overwrite(disk, "meta.properties", b"version=0\nbroker.id=1\n")
    assert not started(disk).is_known_to_owner


def test_a_malformed_owner_is_refused(disk: MemoryDisk) -> None:
    disk = disk.restart(keep_all)
    overwrite(disk, "meta.properties", b"version=9")
    with pytest.raises(CheckpointError):
        started(disk)


def test_a_directory_in_use_is_refused() -> None:
    disk = MemoryDisk()
    directory = started(disk)
    with pytest.raises(NotOurs):
        started(disk)
    directory.close(now_ms=0)
    started(disk)


def test_a_deleted_log_is_gone_at_once_and_its_files_later(disk: MemoryDisk) -> None:
    directory = started(disk.restart(keep_all))
    disk = directory.volume.disk  # type: ignore[assignment]
    directory.delete(ORDERS, unique=UNIQUE, now_ms=100)
    assert ends(directory) == {EVENTS: 8}
    directory.create(ORDERS, CONFIG, now_ms=100)
    assert directory.next_deadline_ms() == 60_100
    assert directory.expire(now_ms=60_099) == []
    for path in directory.expire(now_ms=60_100):
        remove_tree(disk, path)
    assert disk.status(f"/data/orders-0.{UNIQUE}-delete") is None
    assert directory.next_deadline_ms() is None


def test_what_was_being_deleted_is_deleted_after_a_restart(disk: MemoryDisk) -> None:
    directory = started(disk.restart(keep_all))
    disk = directory.volume.disk  # type: ignore[assignment]
    directory.delete(ORDERS, unique=UNIQUE, now_ms=100)
    again = started(disk.restart(keep_all))
    assert ends(again) == {EVENTS: 8}
    assert again.expire(now_ms=0) == [f"/data/orders-0.{UNIQUE}-delete"]


def test_a_deleted_log_does_not_come_back_with_the_power(disk: MemoryDisk) -> None:
    """Its topic is forgotten by then: nobody would ever delete it again."""
    directory = started(disk.restart(keep_all))
    disk = directory.volume.disk  # type: ignore[assignment]
    directory.delete(ORDERS, unique=UNIQUE, now_ms=100)
    assert list(ends(started(disk.restart(lose_all)))) == [EVENTS]


def test_files_of_dropped_segments_are_due_with_the_directory(disk: MemoryDisk) -> None:
    directory = started(disk.restart(keep_all))
    directory.logs[ORDERS].drop_first_segments(1, now_ms=50)
    assert directory.next_deadline_ms() == 60_050
    due = directory.expire(now_ms=60_050)
    assert len(due) == 3
    remove_tree(directory.volume.disk, due[0])
    remove_tree(directory.volume.disk, due[0])


def test_other_directories_are_left_alone(disk: MemoryDisk) -> None:
    disk = disk.restart(keep_all)
    disk.make_directory("/data/lost+found")
    disk.make_directory(f"/data/orders-1.{UNIQUE}-future")
    assert ends(started(disk)) == {ORDERS: 8, EVENTS: 8}


def test_cutting_a_log_saves_the_recovery_points_of_all() -> None:
    disk = MemoryDisk()
    directory = started(disk)
    logs: list[Log] = [directory.create(name, CONFIG, now_ms=0) for name in (ORDERS, EVENTS)]
    for log in logs:
        fill(log, 1)
    directory.close(now_ms=0)
    again = started(disk)
    again.logs[ORDERS].truncate_to(0, now_ms=0)
    points = text(disk, "recovery-point-offset-checkpoint")
    assert "orders 0 0" in points
    assert "my-events 12 2" in points


def test_directories_with_the_same_settings_save_only_their_own() -> None:
    disk = MemoryDisk()
    shared = Shared()
    directories = [LogDirectory(Volume(disk, path), shared) for path in ("/data", "/more")]
    for directory in directories:
        directory.claim(OWNER)
        list(directory.load(lambda _: CONFIG, now_ms=0))
    log = directories[0].create(ORDERS, CONFIG, now_ms=0)
    fill(log, 1)
    log.recovery_point = 2
    log.truncate_to(0, now_ms=0)
    assert "orders 0 0" in text(disk, "recovery-point-offset-checkpoint")
    assert disk.read_file("/more/recovery-point-offset-checkpoint") == b"0\n0\n"


def test_a_failing_disk_takes_the_directory_offline(disk: MemoryDisk) -> None:
    directory = started(disk.restart(keep_all))
    disk = directory.volume.disk  # type: ignore[assignment]
    disk.fail_call(1)
    with pytest.raises(KafkaError) as failed:
        directory.save_high_watermarks()
    assert failed.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    assert not directory.volume.is_online
    with pytest.raises(KafkaError):
        directory.close(now_ms=0)
    assert disk.status(f"/data/{CLEAN_STOP}") is None


@pytest.fixture
def half_bad(disk: MemoryDisk) -> MemoryDisk:
    """Two logs, closed cleanly; one of them then got a message of Kafka 0.10 at its end."""
    directory = started(disk.restart(keep_all))
    for log in directory.logs.values():
        log.raise_high_watermark(5)
        log.raise_log_start(3)
    directory.close(now_ms=0)
    disk = directory.volume.disk  # type: ignore[assignment]
    body = b"\x01\0" + bytes(8) + b"\xff\xff\xff\xff" + b"\0\0\0\x01v"
    message = zlib.crc32(body).to_bytes(4, "big") + body
    segment = max(one.name for one in disk.list_directory("/data/orders-0") if ".log" in one.name)
    file = disk.open_append(f"/data/orders-0/{segment}")
    file.append((8).to_bytes(8, "big") + len(message).to_bytes(4, "big") + message)
    return disk


def contents(disk: MemoryDisk, path: str) -> dict[str, bytes]:
    return {
        entry.name: disk.read_file(f"{path}/{entry.name}") for entry in disk.list_directory(path)
    }


def test_a_log_that_cannot_be_opened_does_not_keep_others_from_it(half_bad: MemoryDisk) -> None:
    before = contents(half_bad, "/data/orders-0")
    directory = started(half_bad)
    assert ends(directory) == {EVENTS: 8}
    assert "Apache Kafka 3.9" in str(directory.set_aside[ORDERS].reason)
    assert contents(half_bad, "/data/orders-0") == before


def test_what_is_known_of_a_log_set_aside_stays_known(half_bad: MemoryDisk) -> None:
    directory = started(half_bad)
    directory.close(now_ms=0)
    assert half_bad.status(f"/data/{CLEAN_STOP}") is None
    assert "orders 0 8" in text(half_bad, "recovery-point-offset-checkpoint")
    assert "orders 0 5" in text(half_bad, "replication-offset-checkpoint")
    segment = max(
        one.name for one in half_bad.list_directory("/data/orders-0") if ".log" in one.name
    )
    file = half_bad.open_append(f"/data/orders-0/{segment}")
    file.truncate(file.size() - 35)
    again = started(half_bad)
    assert again.logs[ORDERS].log_end_offset == 8
    assert (again.logs[ORDERS].log_start_offset, again.logs[ORDERS].high_watermark) == (3, 5)


def test_a_log_set_aside_can_be_deleted(half_bad: MemoryDisk) -> None:
    directory = started(half_bad)
    directory.delete(ORDERS, unique=UNIQUE, now_ms=0)
    assert not directory.set_aside
    for path in directory.expire(now_ms=10**9):
        remove_tree(half_bad, path)
    assert {entry.name for entry in half_bad.list_directory("/data") if entry.is_directory} == {
        "my-events-12"
    }
    directory.create(ORDERS, CONFIG, now_ms=0)


def test_a_disk_that_fails_while_a_log_is_opened_takes_all_of_them(disk: MemoryDisk) -> None:
    disk = disk.restart(keep_all)
    directory = LogDirectory(Volume(disk, "/data"), Shared())
    directory.claim(OWNER)
    disk.fail_call(20)
    with pytest.raises(KafkaError) as failed:
        list(directory.load(lambda _: CONFIG, now_ms=0))
    assert failed.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    assert not directory.set_aside


def test_logs_are_closed_a_few_at_a_time_however_their_syncs_are_run(disk: MemoryDisk) -> None:
    directory = started(disk.restart(keep_all))
    for number in range(100):
        fill(directory.create(TopicPartition("many", number), CONFIG, now_ms=0), 1)
    counts = []

    def run_all(works: Iterable[Work]) -> None:
        todo = list(works)
        counts.append(len(todo))
        one_by_one(reversed(todo))

    directory.close(now_ms=0, run_all=run_all)
    assert counts == [64, 38]
    assert isinstance(directory.volume.disk, MemoryDisk)
    again = started(directory.volume.disk.restart(lose_all))
    assert sum(ends(again).values()) == 8 + 8 + 100 * 2


def test_older_messages_in_a_sealed_segment_are_refused_only_where_they_are_read(
    disk: MemoryDisk,
) -> None:
    disk = closed(disk)
    first = "orders-0/00000000000000000000.log"
    data = bytearray(disk.read_file(f"/data/{first}"))
    data[16] = 1  # the magic
    overwrite(disk, first, bytes(data))
    log = started(disk).logs[ORDERS]
    assert len(log.segments) > 1
    with pytest.raises(KafkaError, match="magic 1") as refused:
        log.read(0, max_bytes=1000)
    assert refused.value.code == ErrorCode.CORRUPT_MESSAGE
    assert log.read(log.segments.active.base_offset, max_bytes=1000).size > 0


def test_a_sealed_segment_without_indexes_that_cannot_be_read_is_set_aside(
    disk: MemoryDisk,
) -> None:
    disk = closed(disk)
    overwrite(disk, "orders-0/00000000000000000000.log", b"\xff" * 300)
    disk.remove("/data/orders-0/00000000000000000000.index")
    directory = started(disk)
    assert set(directory.set_aside) == {ORDERS}
    assert ends(directory) == {EVENTS: 8}
