"""Partitions of a broker with id 1, on a disk in memory."""

from moldau.config.topic import TopicConfig
from moldau.log.opening import create
from moldau.log.shared import Shared
from moldau.log.volume import Folder, Volume
from moldau.model import TopicPartition
from moldau.records.batch import write_batch
from moldau.records.record import Record
from moldau.replication.partition import Partition, PartitionState
from moldau.testing.disk import MemoryDisk

LAG_MS = 10_000


def partition(min_insync_replicas: int = 1) -> Partition:
    volume = Volume(MemoryDisk(), "/logs")
    volume.disk.make_directory("/logs")
    name = TopicPartition("t", 0)
    config = TopicConfig(min_insync_replicas=min_insync_replicas)
    log = create(Folder(volume, name), config, Shared(), now_ms=0)
    return Partition(name, log, local_id=1, lag_max_ms=LAG_MS)


def state(
    leader: int = 1, epoch: int = 0, isr: tuple[int, ...] = (1,), replicas: tuple[int, ...] = (1,)
) -> PartitionState:
    return PartitionState(1, leader, epoch, isr, 0, replicas)


def batch(count: int = 1) -> bytearray:
    return write_batch([Record(n, 1_000, None, b"v", ()) for n in range(count)])


def leader_of_three(min_insync_replicas: int = 1) -> Partition:
    led = partition(min_insync_replicas)
    led.lead(state(isr=(1, 2, 3), replicas=(1, 2, 3)), now_ms=0)
    return led


def fetch(led: Partition, replica: int, offset: int, *, now_ms: int = 0) -> bool:
    return led.note_fetch(replica, offset, log_start_offset=0, now_ms=now_ms)
