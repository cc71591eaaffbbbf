"""One byte is flipped in each file of a log directory: nothing false is read, others go on."""

import pytest

from moldau.config.topic import TopicConfig
from moldau.errors import KafkaError
from moldau.log.checkpoint import CheckpointError
from moldau.log.directory import CLEAN_STOP, LogDirectory, NotOurs
from moldau.log.log import Log
from moldau.log.meta_properties import FILE_NAME as META_PROPERTIES
from moldau.log.meta_properties import MetaProperties
from moldau.log.producer_state import Origin
from moldau.log.shared import Shared
from moldau.log.volume import Volume
from moldau.model import TopicPartition
from moldau.records.batch import TRANSACTIONAL, Producer, crc_is_valid, iterate_headers
from moldau.records.control import EndMarker, write_end_marker
from moldau.testing.disk import MemoryDisk, keep_all
from unit.log.logs import batch, fill

OWNER = MetaProperties(1, "cluster")
CONFIG = TopicConfig(segment_bytes=400, index_interval_bytes=50)
DAMAGED = TopicPartition("damaged", 0)
INTACT = TopicPartition("intact", 0)
FLIPS_PER_FILE = 24


def start(disk: MemoryDisk) -> LogDirectory:
    directory = LogDirectory(Volume(disk, "/data"), Shared())
    directory.claim(OWNER)
    for _ in directory.load(lambda _: CONFIG, now_ms=0):
        pass
    return directory


def written() -> MemoryDisk:
    """Two logs with every kind of file, closed cleanly."""
    disk = MemoryDisk()
    disk.make_directory("/data")
    directory = start(disk)
    for partition in (DAMAGED, INTACT):
        log = directory.create(partition, CONFIG, now_ms=0, topic_id=b"0123456789abcdef")
        fill(log, 4)
        data = batch(producer=Producer(8, 0, 0), attributes=TRANSACTIONAL)
        log.append_as_leader(data, leader_epoch=1, now_ms=0)
        marker = write_end_marker(
            EndMarker(False, 0), producer_id=8, producer_epoch=0, timestamp_ms=1000
        )
        log.append_as_leader(marker, leader_epoch=1, now_ms=0, origin=Origin.COORDINATOR)
        fill(log, 3)
        log.raise_high_watermark(9)
        log.raise_log_start(1)
    directory.close(now_ms=0)
    return disk


def paths(disk: MemoryDisk) -> list[str]:
    """The files of the directory itself and of the log that is damaged."""
    return [
        f"{folder}/{entry.name}"
        for folder in ("/data", f"/data/{DAMAGED}")
        for entry in disk.list_directory(folder)
        if not entry.is_directory and entry.size
    ]


def records_in(log: Log) -> dict[int, bytes]:
    """The batches by offset, without those whose checksum tells the reader."""
    found: dict[int, bytes] = {}
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        fetched = log.read(offset, max_bytes=10_000, at_least_one=True)
        if fetched.range is None:
            return found
        data = fetched.range.read()
        for position, header in iterate_headers(data):
            if crc_is_valid(data, position, header.size):
                found[header.base_offset] = bytes(data[position + 16 : position + header.size])
            offset = header.next_offset
    return found


ORIGINAL = records_in(start(written()).logs[INTACT])


@pytest.mark.parametrize("is_clean", [True, False])
@pytest.mark.parametrize("path", paths(written()))
def test_a_flipped_byte_harms_no_other_log_and_forges_no_record(path: str, is_clean: bool) -> None:
    size = len(written().read_file(path))
    for number in range(min(size, FLIPS_PER_FILE)):
        disk = written()
        position = number * size // min(size, FLIPS_PER_FILE)
        flip(disk, path, position)
        if not is_clean:
            disk.remove(f"/data/{CLEAN_STOP}")
        try:
            directory = start(disk.restart(keep_all))
        except (NotOurs, CheckpointError):
            assert path.endswith(META_PROPERTIES)
            continue
        assert records_in(directory.logs[INTACT]) == ORIGINAL or path.startswith("/data/log-start")
        if DAMAGED in directory.set_aside:
            continue
        try:
            found = records_in(directory.logs[DAMAGED])
        except KafkaError:
            continue  # the reader is told
        assert set(found.values()) <= set(ORIGINAL.values()), position
        # Only its own bytes, and where it begins, can cost a log records.
        assert found == ORIGINAL or path.endswith(".log") or "log-start" in path, position


def flip(disk: MemoryDisk, path: str, position: int) -> None:
    data = bytearray(disk.read_file(path))
    data[position] ^= 0x10
    file = disk.open_append(path)
    file.truncate(0)
    file.append(data)
