"""Topics as nodes of ZooKeeper; with a real one in conformance."""

import pytest

from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.topics import OPTIONS
from moldau.cli.znodes.topics import ZooKeeperTopics
from moldau.client.admin.topics import NewTopic
from moldau.coordination.layout.topics import PartitionStateNode, state_path
from moldau.coordination.memory import MemoryEnsemble, MemoryTree
from moldau.coordination.tree import Create
from moldau.errors import KafkaError
from moldau.model import TopicPartition
from moldau.runtime.clock import SystemClock


async def test_a_topic_is_created_listed_and_described_as_before_2_2(
    tree: MemoryTree, capsys: pytest.CaptureFixture[str]
) -> None:
    topics = ZooKeeperTopics(tree)
    await topics.create(NewTopic("t", 1, 3, configs={"retention.ms": "7"}))
    assert capsys.readouterr().out == 'Created topic "t".\n'
    assert await topics.names() == ["t"]
    head, line = await topics.described("t")
    assert head == "Topic:t\tPartitionCount:1\tReplicationFactor:3\tConfigs:retention.ms=7"
    assert "\tLeader: none\t" in line
    state = PartitionStateNode(leader=1, leader_epoch=0, isr=(1, 2), controller_epoch=1)
    partition = TopicPartition("t", 0)
    for path in ("/brokers/topics/t/partitions", "/brokers/topics/t/partitions/0"):
        await tree.create(Create(path))
    await tree.create(Create(state_path(partition), state.encode()))
    _, line = await topics.described("t")
    assert line.startswith("\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: ")
    assert line.endswith("\tIsr: 1,2")
    assert await topics.described("t", ["under-replicated-partitions"]) == [line]
    assert await topics.described("t", ["unavailable-partitions"]) == []
    assert await topics.described("t", ["topics-with-overrides"]) == [head]


async def test_a_pattern_that_is_none_is_told(tree: MemoryTree) -> None:
    with pytest.raises(CommandFailed, match="no regular expression"):
        await ZooKeeperTopics(tree).names("[a")


async def test_what_cannot_be_created_is_refused(tree: MemoryTree) -> None:
    topics = ZooKeeperTopics(tree)
    await topics.create(NewTopic("t", 1, 1))
    with pytest.raises(KafkaError, match="Topic 't' already exists"):
        await topics.create(NewTopic("t", 1, 1))
    await topics.create(NewTopic("t", 1, 1), if_not_exists=True)
    with pytest.raises(KafkaError, match="Replication factor: 4 larger than available brokers: 3"):
        await topics.create(NewTopic("u", 1, 4))
    with pytest.raises(KafkaError, match="is illegal"):
        await topics.create(NewTopic("a/b", 1, 1))


async def test_deletion_is_a_mark_for_the_controller(
    tree: MemoryTree, capsys: pytest.CaptureFixture[str]
) -> None:
    topics = ZooKeeperTopics(tree)
    await topics.create(NewTopic("t", replicas={0: [2, 1]}))
    await topics.delete("t")
    await topics.delete("t")
    assert await topics.listed(["t"]) == ["t - marked for deletion"]
    assert await tree.exists("/admin/delete_topics/t")
    assert "Topic t is already marked for deletion." in capsys.readouterr().out


async def test_a_topic_grows_and_changes_its_settings(tree: MemoryTree) -> None:
    topics = ZooKeeperTopics(tree)
    await topics.create(NewTopic("t", 1, 2, configs={"retention.ms": "7", "segment.ms": "8"}))
    options = ["--partitions", "3", "--config", "retention.ms=9", "--delete-config", "segment.ms"]
    await topics.alter("t", OPTIONS.parse(options))
    head, *lines = await topics.described("t")
    assert head == "Topic:t\tPartitionCount:3\tReplicationFactor:2\tConfigs:retention.ms=9"
    assert len(lines) == 3
    assert len(await tree.children("/config/changes")) == 1
    with pytest.raises(KafkaError, match="2 would not be an increase"):
        await topics.alter("t", OPTIONS.parse(["--partitions", "2"]))


async def test_a_zookeeper_without_kafka_is_told() -> None:
    empty = MemoryEnsemble(SystemClock()).connect()
    with pytest.raises(CommandFailed, match="has a broker started"):
        await ZooKeeperTopics(empty).names()
