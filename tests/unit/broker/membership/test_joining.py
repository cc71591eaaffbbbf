"""What joins a broker to its cluster: where it finds the others, and by which rules it rules."""

import asyncio

import pytest

from moldau.broker.membership.joining import (
    make_controller_peers,
    make_peers,
    make_registration,
    open_zookeeper,
)
from moldau.config.broker.broker import read_broker_config
from moldau.config.broker.startup import read_startup
from moldau.controller.cluster import Listening, LiveBroker
from moldau.coordination.layout import partitions as partition_lists
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.cluster import FEATURE_PATH, FeatureNode, decode_features
from moldau.coordination.tree import ConnectionLost, Create
from moldau.errors import InvalidConfig
from moldau.log.directory import LogDirectory
from moldau.log.shared import Shared
from moldau.log.volume import Volume
from moldau.metadata.image import BrokerEndpoint, BrokerNode, ClusterImage
from moldau.model import TopicPartition
from moldau.testing.cluster import RunningCluster, running_cluster
from moldau.testing.disk import MemoryDisk
from unit.broker.world import broker_world

TWO = {
    "listeners": "INSIDE://127.0.0.1:1,OUTSIDE://127.0.0.1:2",
    "listener.security.protocol.map": "INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT",
    "inter.broker.listener.name": "INSIDE",
}


async def test_others_are_found_by_the_listener_of_brokers() -> None:
    async with broker_world() as world:
        node = BrokerNode(5, {"OUTSIDE": BrokerEndpoint("o", 1), "INSIDE": BrokerEndpoint("i", 2)})
        world.broker.metadata.image = ClusterImage(0, {5: node})
        made = make_peers(world.broker, read_startup(TWO), world.dispatcher)
        channel = made._channel(5)
        assert (channel.host, channel.port) == ("i", 2)
        with pytest.raises(ConnectionError):
            made._channel(6)


async def test_a_controller_finds_brokers_that_nobody_was_told_of() -> None:
    async with broker_world() as world:
        cluster = world.broker.controller.machine.cluster
        endpoints = (Listening("OUTSIDE", "o", 1, 0), Listening("INSIDE", "i", 2, 0))
        cluster.brokers[5] = LiveBroker(5, 1, endpoints)
        cluster.brokers[6] = LiveBroker(6, 1, ())
        made = make_controller_peers(world.broker, read_startup(TWO), world.dispatcher)
        channel = made._channel(5)
        assert (channel.host, channel.port) == ("i", 2)
        for nobody in (6, 7):
            with pytest.raises(ConnectionError):
                made._channel(nobody)
        world.broker.controller._term = None
        with pytest.raises(ConnectionError):
            made._channel(5)


@pytest.mark.parametrize(
    ("is_known", "is_online", "setting", "may_replace"),
    [
        (True, True, "true", True),
        (False, True, "true", False),
        (True, False, "true", False),
        (True, True, "false", False),
    ],
)
def test_only_who_holds_its_earlier_life_s_data_takes_its_place(
    is_known: bool, is_online: bool, setting: str, may_replace: bool
) -> None:
    directories = [LogDirectory(Volume(MemoryDisk(), f"/{number}"), Shared()) for number in (1, 2)]
    directories[1].is_known_to_owner = is_known
    if not is_online:
        directories[1].volume.fail(OSError("broken"))
    config = read_broker_config({"moldau.failover.on.connection.loss": setting})
    assert make_registration(3, config, directories)._may_replace is may_replace


@pytest.mark.parametrize("setting", [True, False])
async def test_brokers_are_watched_if_the_settings_say_so(setting: bool) -> None:
    settings = {"moldau.failover.on.connection.loss": str(setting).lower()}
    async with broker_world(settings) as world:
        assert (world.broker.controller._rules.open_contact is not None) is setting


@pytest.mark.parametrize("is_enabled", [True, False])
async def test_a_controller_deletes_topics_if_its_settings_say_so(is_enabled: bool) -> None:
    async with broker_world({"delete.topic.enable": str(is_enabled).lower()}) as world:
        await world.create_topic("t")
        mark = partition_lists.delete_topic_path("t")
        await world.tree.create(Create(mark))
        async with asyncio.timeout(10):
            while await world.tree.exists(mark) is not None:
                await asyncio.sleep(0)
        assert (await world.tree.exists(topic_nodes.topic_path("t")) is None) == is_enabled


async def test_an_ensemble_that_is_not_there_is_an_error() -> None:
    settings = {
        "zookeeper.connect": "127.0.0.1:1",
        "zookeeper.connection.timeout.ms": "50",
        "listeners": "PLAINTEXT://127.0.0.1:0",
    }
    with pytest.raises(ConnectionLost, match=r"to ZooKeeper at 127\.0\.0\.1:1: connection refused"):
        await open_zookeeper(read_startup(settings))


async def test_nodes_cannot_belong_to_a_broker_that_nobody_knows() -> None:
    settings = {"zookeeper.connect": "127.0.0.1:1", "zookeeper.set.acl": "true"}
    with pytest.raises(InvalidConfig, match=r"moldau\.zookeeper\.sasl\.jaas\.config"):
        await open_zookeeper(read_startup(settings))


@pytest.mark.parametrize(
    ("protocol", "features"),
    [
        ("2.6", FeatureNode(is_enabled=False, version=1)),
        ("2.7-IV0", FeatureNode(is_enabled=True, version=1)),
        ("3.2", FeatureNode(is_enabled=True, version=1)),
        ("3.3-IV0", FeatureNode(is_enabled=True, version=2)),
    ],
)
async def test_a_controller_says_how_its_protocol_knows_features(
    protocol: str, features: FeatureNode
) -> None:
    async with broker_world({"inter.broker.protocol.version": protocol}) as world:
        assert decode_features((await world.tree.get(FEATURE_PATH)).data) == features


NO_LEADER = -1
UNCLEAN = "unclean.leader.election.enable"


@pytest.mark.parametrize("is_allowed", [True, False])
def test_a_controller_asks_the_tree_who_may_lead_a_topic_that_it_has_no_replica_of(
    is_allowed: bool,
) -> None:
    """Of a new topic nobody is notified: what was read at the start says nothing about it."""
    with running_cluster(3, {UNCLEAN: str(not is_allowed).lower()}) as cluster:
        assert controller_of(cluster) == 0
        settings = {UNCLEAN: str(is_allowed).lower()}
        cluster.create_topic("t", replicas={0: (1, 2)}, settings=settings)
        cluster[2].kill()
        cluster.wait_for_in_sync("t", 0, 1)
        cluster[1].kill()
        cluster[2].start()
        cluster.call(until_all_jobs_are_done(cluster))
        state = cluster.call(state_of(cluster, "t"))
        expected = (2, (2,)) if is_allowed else (NO_LEADER, (1,))
        assert (state.leader, state.isr) == expected


def controller_of(cluster: RunningCluster) -> int:
    return cluster.look(
        lambda _: next(one.id for one in cluster if one.broker.controller.is_controller)
    )


async def until_all_jobs_are_done(cluster: RunningCluster) -> None:
    """Wait until the controller has done what was due when this is asked."""

    async def nothing(_term: object) -> None:
        pass

    await cluster[0].broker.controller.perform(nothing)


async def state_of(cluster: RunningCluster, topic: str) -> topic_nodes.PartitionStateNode:
    node = await cluster.ensemble.connect().get(topic_nodes.state_path(TopicPartition(topic, 0)))
    return topic_nodes.decode_state(node.data)
