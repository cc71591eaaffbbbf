"""Logs over several directories."""

import pytest

from moldau.broker.settings.topic_configs import TopicConfigs
from moldau.broker.storage.logs import Logs
from moldau.config.topic import TopicConfig
from moldau.coordination.layout.configs import ConfigEntity, encode_config
from moldau.coordination.memory import MemoryEnsemble, MemoryTree
from moldau.coordination.tree import Create
from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.log.directory import LogDirectory, SetAside
from moldau.log.opening import Remembered
from moldau.log.shared import Shared
from moldau.log.volume import Volume
from moldau.model import TopicPartition
from moldau.testing.disk import MemoryDisk
from unit.broker.world import SettableClock


async def logs_in(*paths: str) -> tuple[Logs, MemoryTree]:
    tree = MemoryEnsemble(SettableClock()).connect()
    for path in ("/config", "/config/topics", "/brokers", "/brokers/topics"):
        await tree.create(Create(path))
    disk = MemoryDisk()
    for path in paths:
        disk.make_directory(path)
    directories = [LogDirectory(Volume(disk, path), Shared()) for path in paths]
    configs = TopicConfigs(tree, TopicConfig())
    return Logs(directories, configs, new_uuid_hex=lambda: "a" * 32), tree


def create(logs: Logs, number: int, *, is_new: bool = True) -> str:
    """Make a log; returns the path of the directory it was put in."""
    name = TopicPartition("t", number)
    log = logs.create(name, topic_id=None, is_new=is_new, now_ms=0)
    assert logs.get(name) is log
    return log.folder.volume.path


async def test_new_logs_go_where_there_are_fewest() -> None:
    logs, _ = await logs_in("/one", "/two")
    assert [create(logs, number) for number in range(4)] == ["/one", "/two", "/one", "/two"]
    logs.delete(TopicPartition("t", 0), now_ms=0)
    assert create(logs, 4) == "/one"
    assert logs.get(TopicPartition("t", 0)) is None
    assert sorted(log.partition.partition for log in logs) == [1, 2, 3, 4]


async def test_a_failed_directory_gets_no_new_logs() -> None:
    logs, _ = await logs_in("/one", "/two")
    logs.directories[0].volume.fail(OSError("gone"))
    assert [create(logs, number) for number in range(2)] == ["/two", "/two"]


async def test_what_may_be_on_a_failed_disk_is_not_made_anew() -> None:
    logs, _ = await logs_in("/one", "/two")
    assert create(logs, 0, is_new=False) == "/one"
    logs.directories[0].volume.fail(OSError("gone"))
    with pytest.raises(KafkaError) as refused:
        create(logs, 1, is_new=False)
    assert refused.value.code == ErrorCode.KAFKA_STORAGE_ERROR


async def test_without_any_directory_nothing_can_be_made() -> None:
    logs, _ = await logs_in("/one")
    logs.directories[0].volume.fail(OSError("gone"))
    with pytest.raises(KafkaError) as refused:
        create(logs, 0)
    assert refused.value.code == ErrorCode.KAFKA_STORAGE_ERROR


async def test_new_settings_reach_the_logs_of_their_topic() -> None:
    logs, tree = await logs_in("/one")
    create(logs, 0)
    other = logs.create(TopicPartition("u", 0), topic_id=None, is_new=True, now_ms=0)
    data = encode_config({"segment.bytes": "2000"})
    await tree.create(Create(ConfigEntity.topic("t").path, data))
    await logs.configs.refresh("t")
    logs.reconfigure("t")
    log = logs.get(TopicPartition("t", 0))
    assert log is not None
    assert log.config.segment_bytes == 2000
    assert other.config.segment_bytes == TopicConfig().segment_bytes


async def test_a_log_that_was_found_gets_the_settings_of_its_topic() -> None:
    logs, tree = await logs_in("/one")
    found = logs.create(TopicPartition("t", 0), topic_id=None, is_new=True, now_ms=0)
    assert found.config.cleanup_policy == ()
    await tree.create(Create(ConfigEntity.topic("t").path, encode_config({})))
    await logs.configs.refresh("t")
    logs.configure(TopicPartition("t", 0))
    assert found.config == TopicConfig()
    logs.configure(TopicPartition("t", 1))
    assert list(logs) == [found]


async def test_no_empty_log_takes_the_place_of_one_that_cannot_be_opened() -> None:
    logs, _ = await logs_in("/one", "/two")
    name = TopicPartition("t", 0)
    create(logs, 0)
    directory = logs.directories[0]
    del directory.logs[name]
    directory.set_aside[name] = SetAside(ProtocolError("of Kafka 0.10"), Remembered())
    with pytest.raises(KafkaError, match=r"of Kafka 0\.10") as refused:
        create(logs, 0)
    assert refused.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    assert logs.get(name) is None
    assert logs.holds(name)
    logs.delete(name, now_ms=0)
    assert not logs.holds(name)
    create(logs, 0)
