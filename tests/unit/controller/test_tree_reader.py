"""The tree in the controller's own terms."""

from typing import Any, cast

import pytest

from moldau.controller.cluster import LeaderIsr, ReplicaAssignment
from moldau.controller.tree_reader import TreeReader
from moldau.coordination.layout import brokers as broker_nodes
from moldau.coordination.layout import log_dirs as log_dir_nodes
from moldau.coordination.layout import partitions as partition_lists
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.brokers import BrokerRegistration, RegisteredEndpoint
from moldau.coordination.layout.topics import (
    PartitionAssignment,
    PartitionStateNode,
    TopicAssignment,
)
from moldau.coordination.memory import MemoryTree
from moldau.coordination.tree import Create, NoNode, Tree, TreeNode, Watch, WatchEvent
from moldau.model import TopicPartition
from unit.controller.brokers import Cluster, settled

T0 = TopicPartition("t", 0)


def unwatched(_event: WatchEvent) -> None:
    """Nobody cares."""


async def test_brokers_have_an_epoch_and_endpoints() -> None:
    cluster = await Cluster.create(4)
    events: list[WatchEvent] = []
    reader = TreeReader(cluster.admin)
    first = (await reader.brokers(events.append))[4]
    (endpoint,) = first.endpoints
    assert (endpoint.listener, endpoint.host, endpoint.port) == ("PLAINTEXT", "host4", 9092)
    assert endpoint.security_protocol == 0
    cluster.leave(4)
    await settled(lambda: bool(events))
    assert await reader.brokers(unwatched) == {}
    await cluster.join(4)
    assert (await reader.brokers(unwatched))[4].epoch > first.epoch


async def test_topics_have_an_id_and_assignments() -> None:
    cluster = await Cluster.create()
    reader = TreeReader(cluster.admin)
    events: list[WatchEvent] = []
    assert await reader.topic_names(events.append) == []
    await cluster.create_topic("t", (1, 2), (2, 1))
    await settled(lambda: bool(events))
    assert await reader.topic_names(unwatched) == ["t"]
    topic = await reader.topic("t", unwatched)
    assert topic is not None
    assert topic.topic_id == b"i" * 16
    assert topic.partitions == {0: ReplicaAssignment((1, 2)), 1: ReplicaAssignment((2, 1))}
    assert await reader.topic("u", unwatched) is None


async def test_states_have_the_version_of_their_node() -> None:
    cluster = await Cluster.create()
    await cluster.create_topic("t", (1, 2))
    reader = TreeReader(cluster.admin)
    assert await reader.state(T0) is None
    state = PartitionStateNode(leader=1, leader_epoch=3, isr=(1,), controller_epoch=2)
    await cluster.admin.multi(
        [
            Create(topic_nodes.partitions_path("t")),
            Create(topic_nodes.partition_path(T0)),
            Create(topic_nodes.state_path(T0), b"?"),
        ]
    )
    assert await reader.state(T0) is None
    await cluster.admin.set(topic_nodes.state_path(T0), state.encode())
    found = await reader.state(T0)
    node = await cluster.admin.get(topic_nodes.state_path(T0))
    assert found == (LeaderIsr(1, 3, (1,), 2, zk_version=1), node.stat.mzxid)


async def test_a_topic_id_that_is_none_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    cluster = await Cluster.create()
    data = TopicAssignment(
        partitions={0: PartitionAssignment(replicas=(1,))}, topic_id="short"
    ).encode()
    await cluster.admin.create(Create(topic_nodes.topic_path("t"), data))
    assert await TreeReader(cluster.admin).topic("t", unwatched) is None
    assert "Failed to parse topic node t" in caplog.text


async def test_deletions_are_the_marked_topics() -> None:
    cluster = await Cluster.create()
    await cluster.mark_for_deletion("t")
    assert await TreeReader(cluster.admin).deletions(unwatched) == ["t"]


class _Vanishing:
    """A tree in which a node goes away after it was listed."""

    def __init__(self, tree: MemoryTree, path: str) -> None:
        self._tree = tree
        self._path = path

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tree, name)

    async def get(self, path: str, *, watch: Watch | None = None) -> TreeNode:
        if path == self._path:
            raise NoNode(path)
        return await self._tree.get(path, watch=watch)


async def test_a_broker_that_leaves_while_it_is_read_is_none() -> None:
    cluster = await Cluster.create(1, 2)
    tree = _Vanishing(cluster.admin, broker_nodes.id_path(1))
    assert list(await TreeReader(cast("Tree", tree)).brokers(unwatched)) == [2]
    tree = _Vanishing(cluster.admin, broker_nodes.id_path(2))
    assert list(await TreeReader(cast("Tree", tree)).brokers(unwatched)) == [1]


async def test_a_protocol_that_nobody_knows_is_told_as_plaintext() -> None:
    cluster = await Cluster.create()
    endpoint = RegisteredEndpoint("ODD", "QUIC", "h", 1)
    data = BrokerRegistration(endpoints=(endpoint,), timestamp_ms=0).encode()
    await cluster.admin.create(Create(broker_nodes.id_path(5), data))
    found = (await TreeReader(cluster.admin).brokers(unwatched))[5]
    assert [one.security_protocol for one in found.endpoints] == [0]


async def test_a_notification_that_is_removed_while_it_is_read_says_nothing() -> None:
    cluster = await Cluster.create()
    paths = []
    for number in (0, 1):
        data = partition_lists.encode_partitions([TopicPartition("t", number)])
        node = Create(partition_lists.ISR_CHANGE_PREFIX, data, is_sequential=True)
        paths.append((await cluster.admin.create(node)).path)
    tree = _Vanishing(cluster.admin, paths[1])
    found = await TreeReader(cast("Tree", tree)).isr_changes(None)
    assert found == {paths[0]: [T0]}


async def test_endpoints_have_the_number_of_their_protocol() -> None:
    cluster = await Cluster.create()
    names = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
    endpoints = tuple(RegisteredEndpoint(name, name, "h", 1) for name in names)
    data = BrokerRegistration(endpoints=endpoints, timestamp_ms=0).encode()
    await cluster.admin.create(Create(broker_nodes.id_path(5), data))
    found = (await TreeReader(cluster.admin).brokers(unwatched))[5]
    assert [one.security_protocol for one in found.endpoints] == [0, 1, 2, 3]


async def test_failed_directories_are_reported_by_their_brokers() -> None:
    cluster = await Cluster.create()
    paths = []
    for data in (log_dir_nodes.encode_log_dir_failure(4), b"?"):
        node = Create(log_dir_nodes.EVENT_PREFIX, data, is_sequential=True)
        paths.append((await cluster.admin.create(node)).path)
    found = await TreeReader(cluster.admin).log_dir_failures(None)
    assert found == {paths[0]: 4, paths[1]: None}


async def test_a_parent_that_is_missing_has_no_children_but_is_watched() -> None:
    cluster = await Cluster.create()
    await cluster.admin.delete(topic_nodes.PATH)
    events: list[WatchEvent] = []
    assert await TreeReader(cluster.admin).topic_names(events.append) == []
    await cluster.admin.create(Create(topic_nodes.PATH))
    await settled(lambda: bool(events))
    assert [event.path for event in events] == [topic_nodes.PATH]


async def test_requests_of_administrators_are_read_once_they_are_there() -> None:
    cluster = await Cluster.create()
    reader = TreeReader(cluster.admin)
    events: list[WatchEvent] = []
    assert await reader.preferred_elections(events.append) is None
    data = partition_lists.encode_partitions([T0])
    await cluster.admin.create(Create(partition_lists.PREFERRED_ELECTION_PATH, data))
    await settled(lambda: bool(events))
    assert len(events) == 1
    assert await reader.preferred_elections(unwatched) == [T0]
    gone = _Vanishing(cluster.admin, partition_lists.PREFERRED_ELECTION_PATH)
    assert await TreeReader(cast("Tree", gone)).preferred_elections(unwatched) is None
