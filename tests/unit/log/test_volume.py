"""A volume goes offline with the first failure, and keeps only a few segments warm."""

import pytest

from moldau.errors import ErrorCode, KafkaError
from moldau.log.volume import Folder, Volume
from moldau.model import TopicPartition
from moldau.testing.disk import MemoryDisk


class Warm:
    def __init__(self) -> None:
        self.is_cool = False

    def cool(self) -> None:
        self.is_cool = True


def test_the_first_failure_takes_the_volume_offline_for_good() -> None:
    volume = Volume(MemoryDisk(), "/data")
    assert volume.is_online
    with pytest.raises(KafkaError) as failed, volume.guard():
        raise OSError(5, "Input/output error")
    assert failed.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    assert [volume.is_online] == [False]
    volume.fail(OSError(28, "No space left on device"))
    assert volume.failure is not None
    assert volume.failure.errno == 5
    reached = False
    with pytest.raises(KafkaError), volume.guard():
        reached = True
    assert not reached


def test_the_segment_used_longest_ago_is_cooled() -> None:
    volume = Volume(MemoryDisk(), "/data", warm_max=2)
    first, second, third = Warm(), Warm(), Warm()
    for used in (first, second, first, third):
        volume.touch(used)
    assert (first.is_cool, second.is_cool, third.is_cool) == (False, True, False)
    volume.forget(third)
    assert third.is_cool


def test_a_folder_names_the_files_of_its_partition() -> None:
    folder = Folder(Volume(MemoryDisk(), "/data"), TopicPartition("orders", 3))
    assert folder.path == "/data/orders-3"
    assert folder.file(7, ".log") == "/data/orders-3/00000000000000000007.log"
