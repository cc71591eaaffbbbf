"""A broker that stops hands over first, if there is anyone to hand over to."""

import asyncio

import pytest

from moldau.broker.membership.leaving import hand_over
from moldau.broker.membership.peers import Peers
from moldau.controller.cluster import LiveBroker, ReplicaAssignment
from moldau.metadata.image import BrokerNode, ClusterImage
from moldau.net.channel import Channel
from unit.broker.world import World, broker_world
from unit.waiting import settled


def peers(world: World) -> Peers:
    return Peers(0, world.dispatcher, lambda _: None, protocol="3.9", open_channel=Channel)


def add_broker(world: World) -> None:
    """Another broker, as far as this one was told."""
    image = world.broker.metadata.image
    brokers = {**image.brokers, 1: BrokerNode(1, {})}
    world.broker.metadata.image = ClusterImage(
        image.controller_id, brokers, image.topics, image.names_by_id
    )


async def test_a_broker_that_is_alone_just_stops() -> None:
    async with broker_world() as world:
        assert not await hand_over(world.broker, peers(world))


async def test_it_may_be_told_to_just_stop() -> None:
    async with broker_world({"controlled.shutdown.enable": "false"}) as world:
        add_broker(world)
        assert not await hand_over(world.broker, peers(world))


async def test_the_controller_takes_over(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "moldau.broker.membership.leaving")
    async with broker_world() as world:
        await world.create_topic("t")
        add_broker(world)
        assert await hand_over(world.broker, peers(world))
        assert caplog.messages == [
            "Controlled shutdown completed: other brokers lead all partitions"
        ]
        assert world.broker.controller.machine.cluster.stopping == {0}


async def test_what_nobody_can_lead_is_asked_for_again_then_given_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    settings = {"controlled.shutdown.retry.backoff.ms": "1"}
    async with broker_world(settings) as world:
        await world.create_topic("t")
        cluster = world.broker.controller.machine.cluster
        cluster.topics["t"].partitions[0] = ReplicaAssignment((0, 1))
        cluster.brokers[1] = LiveBroker(1, 1, ())
        add_broker(world)
        assert not await hand_over(world.broker, peers(world))
    *attempts, last = caplog.messages
    assert attempts == ["Controlled shutdown waits: no other replica can lead 1 partitions"] * 3
    assert last.startswith("Controlled shutdown failed after 3 attempts: ")


async def test_another_controller_is_asked_as_soon_as_there_is_one() -> None:
    async with broker_world() as world:
        add_broker(world)
        image = world.broker.metadata.image
        world.broker.metadata.image = ClusterImage(1, image.brokers)
        leaving = asyncio.create_task(hand_over(world.broker, peers(world)))
        await settled()
        assert not leaving.done()
        world.broker.metadata.image = ClusterImage(0, image.brokers)
        world.broker.waiters.wake(world.broker.metadata)
        assert await leaving


async def test_a_refusal_is_not_the_end() -> None:
    settings = {"controlled.shutdown.retry.backoff.ms": "1"}
    async with broker_world(settings) as world:
        add_broker(world)
        world.broker.registration.epoch -= 1
        assert not await hand_over(world.broker, peers(world))


async def test_who_turns_out_to_be_the_last_does_not_wait() -> None:
    async with broker_world() as world:
        add_broker(world)
        image = world.broker.metadata.image
        world.broker.metadata.image = ClusterImage(1, image.brokers)
        leaving = asyncio.create_task(hand_over(world.broker, peers(world)))
        await settled()
        assert not leaving.done()
        world.broker.metadata.image = ClusterImage(1, {0: image.brokers[0]})
        world.broker.waiters.wake(world.broker.metadata)
        assert not await leaving
