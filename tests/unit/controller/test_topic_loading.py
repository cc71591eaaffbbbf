"""Topics as a controller reads them."""

from moldau.controller.cluster import ClusterPicture, LeaderIsr, ReplicaAssignment
from moldau.controller.topic_loading import TopicLoading
from moldau.controller.tree_reader import TreeReader
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.configs import ConfigEntity
from moldau.coordination.tree import Create, Watch, WatchEvent
from moldau.model import TopicPartition
from unit.controller import brokers

T0 = TopicPartition("t", 0)


class Loaded:
    """A picture of a tree, and the topics that there were news of."""

    def __init__(self, world: brokers.Cluster) -> None:
        self.cluster = ClusterPicture()
        self.news: list[str] = []
        self.topics = TopicLoading(self.cluster, TreeReader(world.admin), self._watch_of)

    def _watch_of(self, name: str) -> Watch:
        def fired(_event: WatchEvent) -> None:
            self.news.append(name)

        return fired


async def test_topics_are_read_with_who_leads_their_partitions() -> None:
    world = await brokers.Cluster.create(1)
    await world.create_topic("t", (1, 2), (2, 1))
    state = topic_nodes.PartitionStateNode(leader=2, leader_epoch=3, isr=(2,), controller_epoch=1)
    for node in (topic_nodes.partitions_path("t"), topic_nodes.partition_path(T0)):
        await world.admin.create(Create(node))
    await world.admin.create(Create(topic_nodes.state_path(T0), state.encode()))
    loaded = Loaded(world)
    await loaded.topics.load(["t", "unknown"])
    assert list(loaded.cluster.topics) == ["t"]
    assert loaded.cluster.assignment(T0) == ReplicaAssignment((1, 2))
    assert loaded.cluster.leaders == {T0: LeaderIsr(2, 3, (2,), 1, 0)}
    await world.admin.set(topic_nodes.topic_path("t"), b"{}")
    await brokers.settled()
    assert loaded.news == ["t"]


async def test_settings_are_what_the_nodes_say_now() -> None:
    world = await brokers.Cluster.create(1)
    for name in ("t", "plain", "broken"):
        await world.create_topic(name, (1,))
    loaded = Loaded(world)
    await world.set_unclean("t", "true")
    await world.admin.set(ConfigEntity.topic("broken").path, b"?")
    assert await loaded.topics.settings(["t", "plain", "broken", "without a node"]) == {
        "t": {brokers.UNCLEAN: "true"},
        "plain": {},
        "broken": None,
        "without a node": {},
    }
