"""The parts of replication, joined to the rest of a broker."""

from collections.abc import AsyncIterator

import pytest

from moldau.broker.membership.following import make_fetching, make_in_sync_sets
from moldau.config.broker.startup import read_startup
from moldau.metadata.image import BrokerEndpoint, BrokerNode, ClusterImage
from moldau.net.channel import Channel
from unit.broker.world import World, broker_world


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world() as made:
        yield made


async def test_leaders_are_found_under_the_listener_for_brokers(world: World) -> None:
    settings = {
        "log.dirs": "/logs",
        "listeners": "CLIENTS://:9092,BROKERS://:9093",
        "listener.security.protocol.map": "CLIENTS:PLAINTEXT,BROKERS:PLAINTEXT",
        "inter.broker.listener.name": "BROKERS",
    }
    fetching = make_fetching(world.broker, read_startup(settings))
    endpoints = {"CLIENTS": BrokerEndpoint("front", 9092), "BROKERS": BrokerEndpoint("back", 9093)}
    world.broker.metadata.image = ClusterImage(brokers={5: BrokerNode(5, endpoints)})
    channel = fetching.terms.open_channel(5)
    assert isinstance(channel, Channel)
    assert (channel.host, channel.port) == ("back", 9093)
    assert fetching.terms.open_channel(6) is None


async def test_the_in_sync_sets_are_those_of_the_brokers_partitions(world: World) -> None:
    await world.create_topic("t")
    sets = make_in_sync_sets(world.broker, world.tree)
    await sets.look_at_all()
    assert world.partition("t").state.isr == (0,)
