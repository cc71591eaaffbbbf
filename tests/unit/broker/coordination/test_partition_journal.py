"""A led partition as a journal."""

import pytest

from moldau.broker.coordination.partition_journal import PartitionJournal
from moldau.config.topic import TopicConfig
from moldau.errors import ErrorCode, KafkaError
from moldau.log.opening import create
from moldau.log.shared import Shared
from moldau.log.volume import Folder, Volume
from moldau.model import TopicPartition
from moldau.records.batch import iterate_headers, write_batch
from moldau.records.record import Record
from moldau.replication.partition import ALL_IN_SYNC, Partition, PartitionState
from moldau.testing.disk import MemoryDisk
from scenarios.group_script import ScriptClock

NAME = TopicPartition("__consumer_offsets", 3)


def journal(config: TopicConfig | None = None, *, leader: int = 1) -> PartitionJournal:
    volume = Volume(MemoryDisk(), "/logs")
    volume.disk.make_directory("/logs")
    log = create(Folder(volume, NAME), config or TopicConfig(), Shared(), now_ms=0)
    partition = Partition(NAME, log, local_id=1, lag_max_ms=1000)
    state = PartitionState(1, leader, 0, (1,), 0, (1,))
    if leader == 1:
        partition.lead(state, now_ms=0)
    else:
        partition.follow(state)
    return PartitionJournal(partition, ScriptClock(), acks=ALL_IN_SYNC)


def batch(count: int = 1) -> bytearray:
    return write_batch([Record(n, 0, b"k", b"v") for n in range(count)])


async def test_what_is_appended_is_committed_and_read_back() -> None:
    one = journal()
    assert one.name == NAME
    assert one.append(batch(2), None) == 0
    assert one.append(batch(), None) == 2
    assert (one.start_offset, one.end_offset) == (0, 3)
    assert one.is_committed(3)
    data = await one.read(0, max_bytes=1)
    assert [header.base_offset for _, header in iterate_headers(data)] == [0]
    data = await one.read(0, max_bytes=10_000)
    assert [header.base_offset for _, header in iterate_headers(data)] == [0, 2]


async def test_at_the_end_there_is_nothing_to_read() -> None:
    assert await journal().read(0, max_bytes=100) == b""


def test_a_batch_has_the_size_limit_of_its_topic() -> None:
    one = journal(TopicConfig(max_message_bytes=10))
    with pytest.raises(KafkaError) as raised:
        one.append(batch(), None)
    assert raised.value.code is ErrorCode.MESSAGE_TOO_LARGE


def test_a_follower_cannot_append() -> None:
    with pytest.raises(KafkaError) as raised:
        journal(leader=2).append(batch(), None)
    assert raised.value.code is ErrorCode.NOT_LEADER_OR_FOLLOWER
