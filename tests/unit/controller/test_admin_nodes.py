"""Elections and moves that are asked for by nodes."""

import pytest

from moldau.controller.admin_nodes import AdminNodes
from moldau.controller.cluster import ClusterPicture
from moldau.controller.tree_reader import TreeReader
from moldau.coordination.layout import partitions as partition_lists
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.topics import PartitionAssignment
from moldau.coordination.tree import Create
from moldau.errors import KafkaError
from moldau.model import TopicPartition
from unit.controller.brokers import Cluster, settled
from unit.controller.test_reassigning import assignment, join_isr, stopped

T0 = TopicPartition("t", 0)
MOVES, ELECTIONS = partition_lists.REASSIGNMENT_PATH, partition_lists.PREFERRED_ELECTION_PATH


async def lead_by_second(cluster: Cluster) -> None:
    """The leader of t-0 goes for a while, and another leads when it is back."""
    cluster.leave(2)
    await settled()
    await cluster.join(2)
    await settled()
    await join_isr(cluster, (1, 2))
    assert (await cluster.state("t")).leader == 1


@pytest.mark.parametrize("is_early", [True, False])
async def test_an_asked_election_is_held_and_its_node_removed(is_early: bool) -> None:
    cluster = await Cluster.create(1, 2)
    asked = Create(ELECTIONS, partition_lists.encode_partitions([T0, TopicPartition("x", 0)]))
    async with cluster.controller(1):
        await cluster.create_topic("t", (2, 1))
        await settled()
        await lead_by_second(cluster)
        if not is_early:
            await cluster.admin.create(asked)
            await settled()
    if is_early:
        await cluster.admin.create(asked)
        async with cluster.controller(1):
            await settled()
    assert (await cluster.state("t")).leader == 2
    assert not await cluster.has(ELECTIONS)


async def test_an_asked_move_is_made_and_its_node_stands_until_then() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1):
        await cluster.create_topic("t", (1,))
        await settled()
        data = partition_lists.encode_reassignment({T0: (2,), TopicPartition("x", 0): (1,)})
        await cluster.admin.create(Create(MOVES, data))
        await settled()
        assert (await assignment(cluster)).adding == (2,)
        assert await cluster.has(MOVES)
        await join_isr(cluster, (1, 2))
        assert (await assignment(cluster)).replicas == (2,)
        assert not await cluster.has(MOVES)


@pytest.mark.parametrize("target", [(), (2, 2), (-1,), (9,)])
async def test_an_asked_move_that_cannot_be_made_costs_nothing_but_its_node(
    target: tuple[int, ...], caplog: pytest.LogCaptureFixture
) -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1):
        await cluster.create_topic("t", (1, 2))
        await settled()
        data = partition_lists.encode_reassignment({T0: target})
        await cluster.admin.create(Create(MOVES, data))
        await settled()
        assert await assignment(cluster) == PartitionAssignment(replicas=(1, 2))
        assert [stopped(cluster, one) for one in (1, 2)] == [[], []]
        assert not await cluster.has(MOVES)
        assert "Refused to reassign" in caplog.text


async def test_a_node_of_asked_moves_loses_those_that_are_refused() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1):
        await cluster.create_topic("t", (1,), (1,))
        await settled()
        wishes = {T0: (2,), TopicPartition("t", 1): (9,), TopicPartition("x", 0): (1,)}
        await cluster.admin.create(Create(MOVES, partition_lists.encode_reassignment(wishes)))
        await settled()
        left = partition_lists.decode_reassignment((await cluster.admin.get(MOVES)).data)
        assert left == {T0: (2,)}
        assert (await assignment(cluster)).adding == (2,)
        await join_isr(cluster, (1, 2))
        assert not await cluster.has(MOVES)


@pytest.mark.parametrize("path", [MOVES, ELECTIONS])
async def test_a_node_that_is_not_understood_is_left_alone(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    cluster = await Cluster.create(1)
    async with cluster.controller(1):
        await cluster.create_topic("t", (1,))
        await cluster.admin.create(Create(path, b"?"))
        await settled()
        assert await cluster.has(path)
        assert "Failed to parse" in caplog.text
        await cluster.admin.delete(path)
        await settled()
        assert await cluster.has(topic_nodes.state_path(T0))


async def test_moves_of_unknown_partitions_alone_cost_the_node() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1):
        data = partition_lists.encode_reassignment({TopicPartition("x", 0): (1,)})
        await cluster.admin.create(Create(MOVES, data))
        await settled()
        assert not await cluster.has(MOVES)


async def test_the_node_stands_until_the_last_move_is_made() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1):
        await cluster.create_topic("t", (1,), (1,))
        await settled()
        wishes = {T0: (2,), TopicPartition("t", 1): (2,)}
        await cluster.admin.create(Create(MOVES, partition_lists.encode_reassignment(wishes)))
        await settled()
        await join_isr(cluster, (1, 2))
        assert (await assignment(cluster)).replicas == (2,)
        assert await cluster.has(MOVES)


async def test_a_move_that_is_made_already_costs_the_node() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1):
        await cluster.create_topic("t", (1,))
        await settled()
        data = partition_lists.encode_reassignment({T0: (1,)})
        await cluster.admin.create(Create(MOVES, data))
        await settled()
        assert not await cluster.has(MOVES)


async def test_a_node_that_asks_for_nothing_is_removed() -> None:
    cluster = await Cluster.create(1)
    async with cluster.controller(1):
        await cluster.admin.create(Create(MOVES, partition_lists.encode_reassignment({})))
        await settled()
        assert not await cluster.has(MOVES)


async def test_a_node_that_nobody_has_read_yet_stays() -> None:
    cluster = await Cluster.create(1)
    changed: list[str] = []

    async def change(path: str, _data: bytes | None) -> None:
        changed.append(path)

    async def reassign(_wishes: object) -> dict[TopicPartition, KafkaError]:
        return {}

    nodes = AdminNodes(
        TreeReader(cluster.admin),
        ClusterPicture(),
        elect=reassign,
        reassign=reassign,
        change=change,
    )
    await nodes.look()
    assert changed == []
