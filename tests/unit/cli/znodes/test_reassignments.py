"""Moves of partitions as a node of ZooKeeper."""

import pytest

from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.znodes.reassignments import ZooKeeperReassignments
from moldau.coordination.memory import MemoryTree
from moldau.model import TopicPartition

FIRST, SECOND = TopicPartition("m", 0), TopicPartition("m", 1)


async def test_a_plan_stands_in_a_node_until_the_controller_has_done_it(moved: MemoryTree) -> None:
    moves = ZooKeeperReassignments(moved)
    assert await moves.assignments(["m", "nope"]) == {FIRST: [0, 1], SECOND: [1, 2]}
    assert await moves.racks() == {0: None, 1: None, 2: None}
    await moves.begin({FIRST: [2, 0]})
    node = await moved.get("/admin/reassign_partitions")
    expected = b'{"version":1,"partitions":[{"topic":"m","partition":0,"replicas":[2,0]}]}'
    assert node.data == expected
    assert await moves.under_way() == {FIRST: (2, 0)}
    with pytest.raises(CommandFailed, match="There is an existing assignment running"):
        await moves.begin({SECOND: [0]})
    await moved.delete("/admin/reassign_partitions")
    assert await moves.under_way() == {}


async def test_limits_are_settings_of_brokers_and_topics(moved: MemoryTree) -> None:
    moves = ZooKeeperReassignments(moved)
    await moves.throttle({FIRST: [0, 1]}, {FIRST: [2, 0]}, 1000)
    broker = (await moved.get("/config/brokers/2")).data
    assert b'"leader.replication.throttled.rate":"1000"' in broker
    topic = (await moved.get("/config/topics/m")).data
    assert b'"leader.replication.throttled.replicas":"0:0,0:1"' in topic
    assert b'"follower.replication.throttled.replicas":"0:2"' in topic
    assert len(await moved.children("/config/changes")) == 4
    assert await moves.remove_throttle(["m"])
    assert (await moved.get("/config/topics/m")).data == b'{"version":1,"config":{}}'
    assert not await moves.remove_throttle(["m"])
