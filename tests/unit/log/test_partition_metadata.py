"""The topic id in a partition directory."""

import pytest

from moldau.log import partition_metadata
from moldau.log.checkpoint import CheckpointError
from moldau.testing.disk import MemoryDisk, lose_all

PATH = "/p/partition.metadata"
TOPIC_ID = bytes.fromhex("d9b999b90a2a4e05ad9199652220d31e")


def disk_with(data: bytes | None = None) -> MemoryDisk:
    disk = MemoryDisk()
    disk.make_directory("/p")
    disk.sync_directory("/")
    if data is not None:
        disk.open_append(PATH).append(data)
    return disk


def test_the_text_is_kafkas_and_durable() -> None:
    disk = disk_with()

    partition_metadata.write(disk, PATH, TOPIC_ID)

    after = disk.restart(lose_all)
    assert after.read_file(PATH) == b"version: 0\ntopic_id: 2bmZuQoqTgWtkZllIiDTHg\n"
    assert partition_metadata.read(after, PATH) == TOPIC_ID


def test_without_a_file_there_is_no_id() -> None:
    assert partition_metadata.read(disk_with(), PATH) is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"version: 1\ntopic_id: 2bmZuQoqTgWtkZllIiDTHg\n",
        b"version: 0\n",
        b"version: 0\nversion: 0\n",
        b"version: 0\ntopic_id: 2bmZuQoq\n",
        b"version: 0\ntopic_id: 2bmZuQoqTgWtkZllIiDT!g\n",
        b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA\n",
        b"version: 0\ntopic_id: 2bmZuQoqTgWtkZllIiDTHg\nmore: 1\n",
        b"\xff\xfe\n\n",
    ],
)
def test_a_malformed_file_is_an_error_of_its_own_kind(data: bytes) -> None:
    with pytest.raises(CheckpointError):
        partition_metadata.read(disk_with(data), PATH)
