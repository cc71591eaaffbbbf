"""The owner of a log directory."""

import pytest

from moldau.log import meta_properties
from moldau.log.checkpoint import CheckpointError
from moldau.log.meta_properties import MetaProperties
from moldau.testing.disk import MemoryDisk, lose_all

PATH = "/d/meta.properties"


def disk_with(data: bytes | None = None) -> MemoryDisk:
    disk = MemoryDisk()
    disk.make_directory("/d")
    disk.sync_directory("/")
    if data is not None:
        disk.open_append(PATH).append(data)
    return disk


@pytest.mark.parametrize("cluster_id", ["I2eXt9rvSnyhct8BYmW6-w", None])
def test_what_is_written_is_read_after_power_loss(cluster_id: str | None) -> None:
    disk = disk_with()
    owner = MetaProperties(broker_id=3, cluster_id=cluster_id)

    meta_properties.write(disk, PATH, owner)

    assert meta_properties.read(disk.restart(lose_all), PATH) == owner


def test_a_file_of_apache_kafka_is_read() -> None:
    text = b"#\n#Sat Nov 14 10:00:00 UTC 2026\ncluster.id=abc\nversion=0\nbroker.id=1\n"

    assert meta_properties.read(disk_with(text), PATH) == MetaProperties(1, "abc")


def test_a_new_directory_belongs_to_nobody() -> None:
    assert meta_properties.read(disk_with(), PATH) is None


@pytest.mark.parametrize(
    "data", [b"", b"version=1\nbroker.id=1\n", b"version=0\n", b"version=0\nbroker.id=x\n"]
)
def test_a_malformed_file_is_an_error_of_its_own_kind(data: bytes) -> None:
    with pytest.raises(CheckpointError):
        meta_properties.read(disk_with(data), PATH)
