"""State nodes: what is written, what is left alone, who may write."""

import pytest

from moldau.controller.cluster import LeaderIsr
from moldau.controller.controller import StateWrite
from moldau.controller.state_nodes import StateNodes
from moldau.coordination.layout import controller as controller_nodes
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.tree import BadVersion, Create
from moldau.model import TopicPartition
from unit.controller.brokers import Cluster

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)


async def nodes_of(cluster: Cluster) -> StateNodes:
    created = await cluster.admin.create(
        Create(controller_nodes.EPOCH_PATH, controller_nodes.encode_epoch(1))
    )
    return StateNodes(cluster.admin, created.stat.version)


def new(partition: TopicPartition) -> StateWrite:
    return StateWrite(partition, LeaderIsr(1, 0, (1, 2), 1), None)


def changed(partition: TopicPartition, version: int) -> StateWrite:
    return StateWrite(partition, LeaderIsr(2, 1, (2,), 1), version)


async def depose(cluster: Cluster) -> None:
    await cluster.admin.set(controller_nodes.EPOCH_PATH, controller_nodes.encode_epoch(2))


async def test_new_states_are_created_and_changed() -> None:
    cluster = await Cluster.create()
    await cluster.create_topic("t", (1, 2), (1, 2))
    await cluster.create_topic("u", (1, 2))
    nodes = await nodes_of(cluster)
    writes = [new(T0), new(U0), new(T1)]
    assert sorted(await nodes.write(writes)) == sorted((write, 0) for write in writes)
    assert await nodes.write([changed(T0, 0)]) == [(changed(T0, 0), 1)]
    first = await cluster.state("t", 0)
    assert (first.leader, first.leader_epoch, first.isr, first.controller_epoch) == (2, 1, (2,), 1)
    assert (await cluster.state("t", 1)).leader_epoch == 0


async def test_more_partitions_than_fit_one_request_are_written() -> None:
    cluster = await Cluster.create()
    await cluster.create_topic("t", *[(1, 2)] * 1_100)
    nodes = await nodes_of(cluster)
    written = await nodes.write([new(TopicPartition("t", number)) for number in range(1_100)])
    assert len(written) == 1_100
    assert (await cluster.state("t", 1_099)).leader == 1


async def test_what_somebody_else_changed_is_left_alone() -> None:
    cluster = await Cluster.create()
    await cluster.create_topic("t", (1, 2), (1, 2))
    nodes = await nodes_of(cluster)
    await nodes.write([new(T0), new(T1)])
    assert await nodes.write([changed(T0, 5), changed(T1, 0)]) == [(changed(T1, 0), 1)]
    assert (await cluster.state("t", 0)).leader == 1


async def test_what_is_gone_is_skipped() -> None:
    cluster = await Cluster.create()
    await cluster.create_topic("t", (1, 2))
    nodes = await nodes_of(cluster)
    assert await nodes.write([new(U0), new(T0), changed(T1, 0)]) == [(new(T0), 0)]


async def test_a_state_that_is_there_already_does_not_stop_the_others() -> None:
    cluster = await Cluster.create()
    await cluster.create_topic("t", (1, 2), (1, 2))
    nodes = await nodes_of(cluster)
    await nodes.write([new(T0)])
    assert await nodes.write([new(T0), new(T1)]) == [(new(T1), 0)]


async def test_a_controller_of_the_past_writes_and_removes_nothing() -> None:
    cluster = await Cluster.create()
    await cluster.create_topic("t", (1, 2), (1, 2))
    nodes = await nodes_of(cluster)
    await nodes.write([new(T0)])
    await depose(cluster)
    for write in (new(T1), changed(T0, 0)):
        with pytest.raises(BadVersion) as refused:
            await nodes.write([write])
        assert refused.value.path == controller_nodes.EPOCH_PATH
    with pytest.raises(BadVersion):
        await nodes.remove([topic_nodes.state_path(T0)])
    assert (await cluster.state("t", 0)).leader == 1


async def test_nodes_are_removed_also_where_some_are_gone() -> None:
    cluster = await Cluster.create()
    await cluster.create_topic("t", (1, 2))
    nodes = await nodes_of(cluster)
    await nodes.write([new(T0)])
    paths = [
        topic_nodes.state_path(T1),
        topic_nodes.state_path(T0),
        topic_nodes.partition_path(T0),
        topic_nodes.partitions_path("t"),
        topic_nodes.topic_path("t"),
    ]
    await nodes.remove(paths)
    assert not await cluster.has(topic_nodes.topic_path("t"))
    await nodes.remove(paths)


async def test_a_topic_that_another_changed_meanwhile_is_not_written() -> None:
    cluster = await Cluster.create()
    await cluster.create_topic("t", (1, 2))
    nodes = await nodes_of(cluster)
    node = await cluster.admin.get(topic_nodes.topic_path("t"))
    assignment, version = topic_nodes.decode_topic(node.data), node.stat.version
    assert await nodes.write_topic("t", assignment, version)
    assert not await nodes.write_topic("t", assignment, version)
    assert not await nodes.write_topic("gone", assignment, version)


async def test_what_others_put_below_a_node_is_removed_with_it() -> None:
    cluster = await Cluster.create()
    await cluster.create_topic("t", (1, 2))
    nodes = await nodes_of(cluster)
    path = topic_nodes.topic_path("t")
    await cluster.admin.multi([Create(f"{path}/x"), Create(f"{path}/x/y"), Create(f"{path}/z")])
    await nodes.remove([path])
    assert not await cluster.has(path)


async def test_a_controller_of_the_past_writes_no_topic() -> None:
    cluster = await Cluster.create()
    await cluster.create_topic("t", (1, 2))
    nodes = await nodes_of(cluster)
    node = await cluster.admin.get(topic_nodes.topic_path("t"))
    await depose(cluster)
    with pytest.raises(BadVersion) as refused:
        await nodes.write_topic("t", topic_nodes.decode_topic(node.data), node.stat.version)
    assert refused.value.path == controller_nodes.EPOCH_PATH
