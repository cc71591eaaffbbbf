"""Topics from before there were ids get one when brokers know of them."""

from collections.abc import Sequence
from typing import Any, cast

from moldau.controller.cluster import ClusterPicture, ReplicaAssignment, Topic
from moldau.controller.service import Rules
from moldau.controller.state_nodes import StateNodes
from moldau.controller.topic_ids import give_ids
from moldau.controller.tree_reader import TreeReader
from moldau.coordination.layout import controller as controller_nodes
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.topics import PartitionAssignment, TopicAssignment
from moldau.coordination.memory import MemoryTree
from moldau.coordination.tree import Create, Operation, Tree
from moldau.model import format_uuid
from moldau.protocol.messages.leader_and_isr import LeaderAndIsrRequest
from unit.controller.brokers import Cluster, settled

ID = b"n" * 16
ONE = PartitionAssignment(replicas=(1,))
OLD = TopicAssignment(partitions={0: ONE})


async def topic_id(cluster: Cluster, name: str) -> str | None:
    node = await cluster.admin.get(topic_nodes.topic_path(name))
    return topic_nodes.decode_topic(node.data).topic_id


async def test_topics_without_an_id_get_one_and_others_keep_theirs() -> None:
    cluster = await Cluster.create(1)
    await cluster.create_topic("old", (1,))
    await cluster.create_topic("new", (1,))
    await cluster.admin.set(topic_nodes.topic_path("old"), OLD.encode())
    before = await topic_id(cluster, "new")
    rules = Rules(is_unclean_allowed=lambda _topic, _settings: False, new_topic_id=lambda: ID)
    async with cluster.running(cluster.service(1, rules)):
        await settled()
        assert await topic_id(cluster, "old") == format_uuid(ID)
        assert await topic_id(cluster, "new") == before
        (request,) = cluster.brokers.sent_to(1, LeaderAndIsrRequest)[-1:]
        told = {state.topic_name: state.topic_id for state in request.topic_states}
        assert told["old"] == ID


async def test_where_brokers_know_of_no_ids_none_are_given() -> None:
    cluster = await Cluster.create(1)
    await cluster.create_topic("old", (1,))
    await cluster.admin.set(topic_nodes.topic_path("old"), OLD.encode())
    async with cluster.controller(1):
        assert await topic_id(cluster, "old") is None


async def test_a_topic_that_has_gone_gets_none() -> None:
    cluster = await Cluster.create(1)
    picture = ClusterPicture()
    picture.topics["gone"] = Topic(None, {0: ReplicaAssignment((1,))})
    await give_ids(picture, TreeReader(cluster.admin), StateNodes(cluster.admin, 0), lambda: ID)
    assert picture.topics["gone"].topic_id is None


async def test_an_id_that_another_wrote_meanwhile_is_kept() -> None:
    cluster = await Cluster.create(1)
    await cluster.create_topic("t", (1,))
    created = await cluster.admin.create(
        Create(controller_nodes.EPOCH_PATH, controller_nodes.encode_epoch(1))
    )
    picture = ClusterPicture()
    picture.topics["t"] = Topic(None, {0: ReplicaAssignment((1,))})
    nodes = StateNodes(cluster.admin, created.stat.version)
    written = await topic_id(cluster, "t")
    await give_ids(picture, TreeReader(cluster.admin), nodes, lambda: ID)
    assert picture.topics["t"].topic_id == b"i" * 16
    assert await topic_id(cluster, "t") == written == format_uuid(b"i" * 16)


class _Meddling:
    """A tree in which somebody adds a partition right before the first change."""

    def __init__(self, tree: MemoryTree) -> None:
        self._tree = tree
        self._is_first = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tree, name)

    async def multi(self, operations: Sequence[Operation]) -> Sequence[object]:
        if self._is_first:
            self._is_first = False
            grown = TopicAssignment(partitions={0: ONE, 1: ONE})
            await self._tree.set(topic_nodes.topic_path("t"), grown.encode())
        return await self._tree.multi(operations)


async def test_what_another_writes_meanwhile_is_kept_beside_the_id() -> None:
    cluster = await Cluster.create(1)
    await cluster.create_topic("t", (1,))
    await cluster.admin.set(topic_nodes.topic_path("t"), OLD.encode())
    created = await cluster.admin.create(
        Create(controller_nodes.EPOCH_PATH, controller_nodes.encode_epoch(1))
    )
    picture = ClusterPicture()
    picture.topics["t"] = Topic(None, {0: ReplicaAssignment((1,))})
    nodes = StateNodes(cast("Tree", _Meddling(cluster.admin)), created.stat.version)
    await give_ids(picture, TreeReader(cluster.admin), nodes, lambda: ID)
    written = topic_nodes.decode_topic((await cluster.admin.get(topic_nodes.topic_path("t"))).data)
    assert written == TopicAssignment(partitions={0: ONE, 1: ONE}, topic_id=format_uuid(ID))
    assert picture.topics["t"].topic_id == ID
