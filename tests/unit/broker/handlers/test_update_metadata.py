"""UpdateMetadata: the picture of the cluster in every version, and who may change it."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from moldau.errors import ErrorCode
from moldau.metadata.image import LEADER_DURING_DELETE
from moldau.protocol.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from moldau.runtime import turns
from unit.broker.world import World, broker_world

CONTROLLER_EPOCH = 5


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world() as world:
        yield world


def request(
    version: int,
    *,
    leader: int = 9,
    controller_epoch: int = CONTROLLER_EPOCH,
    broker_epoch: int = -1,
) -> UpdateMetadataRequest:
    """Broker 9 is there, is controller, and leads the topic `far`."""
    state = UpdateMetadataPartitionState(
        topic_name="far" if version < 5 else "",
        partition_index=0,
        controller_epoch=controller_epoch,
        leader=leader,
        leader_epoch=2,
        isr=[9],
        zk_version=0,
        replicas=[9],
    )
    broker = UpdateMetadataBroker(id=9)
    if version == 0:
        broker.v0_host, broker.v0_port = "nine", 99
    else:
        listener = "PLAINTEXT" if version >= 3 else ""
        broker.endpoints = [
            UpdateMetadataEndpoint(port=99, host="nine", listener=listener, security_protocol=0)
        ]
    made = UpdateMetadataRequest(
        controller_id=9,
        controller_epoch=controller_epoch,
        broker_epoch=broker_epoch,
        live_brokers=[broker],
    )
    if version < 5:
        made.ungrouped_partition_states = [state]
    else:
        made.topic_states = [UpdateMetadataTopicState(topic_name="far", partition_states=[state])]
    return made


@pytest.mark.parametrize("version", range(9))
async def test_every_version_changes_the_picture(world: World, version: int) -> None:
    waiting = asyncio.create_task(world.broker.topics.until_led("far", 1, timeout_s=60))
    await asyncio.sleep(0)
    response = await world.ask(request(version), version)
    assert response.error_code == ErrorCode.NONE
    image = world.broker.metadata.image
    assert image.controller_id == 9
    partition = image.partition("far", 0)
    assert partition is not None
    assert (partition.leader, partition.leader_epoch) == (9, 2)
    endpoint = image.endpoint(9, "PLAINTEXT")
    assert endpoint is not None
    assert (endpoint.host, endpoint.port) == ("nine", 99)
    assert await waiting


async def test_a_topic_that_is_deleted_is_forgotten(world: World) -> None:
    await world.ask(request(8), 8)
    world.broker.traffic.of("far").bytes_in.add(1)
    await world.ask(request(8, leader=LEADER_DURING_DELETE), 8)
    assert "far" not in world.broker.metadata.image.topics
    assert "far" not in world.broker.metrics.text()


async def test_who_is_not_the_controller_of_this_life_is_refused(world: World) -> None:
    await world.ask(request(8), 8)
    before = world.broker.metadata.image
    response = await world.ask(request(8, controller_epoch=CONTROLLER_EPOCH - 1), 8)
    assert response.error_code == ErrorCode.STALE_CONTROLLER_EPOCH
    epoch = world.broker.registration.epoch
    response = await world.ask(request(8, broker_epoch=epoch - 1), 8)
    assert response.error_code == ErrorCode.STALE_BROKER_EPOCH
    assert world.broker.metadata.image is before


def long_update(name: str, controller_epoch: int) -> UpdateMetadataRequest:
    made = request(8, controller_epoch=controller_epoch)
    (topic,) = made.topic_states
    topic.topic_name = name
    topic.topic_id = name.encode() * 16
    topic.partition_states = topic.partition_states * 50
    return made


async def test_two_updates_at_the_same_time_both_take_effect(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "TURN_S", 0)
    answers = await asyncio.gather(
        world.ask(long_update("a", CONTROLLER_EPOCH), 8),
        world.ask(long_update("b", CONTROLLER_EPOCH), 8),
    )
    assert [answer.error_code for answer in answers] == [ErrorCode.NONE, ErrorCode.NONE]
    assert {"a", "b"} <= set(world.broker.metadata.image.topics)


async def test_an_update_of_the_past_does_not_take_effect_after_a_newer_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "TURN_S", 0)
    old = asyncio.create_task(world.ask(long_update("a", CONTROLLER_EPOCH), 8))
    for _ in range(5):
        await asyncio.sleep(0)
    new = await world.ask(request(8, controller_epoch=CONTROLLER_EPOCH + 1), 8)
    assert new.error_code == ErrorCode.NONE
    assert (await old).error_code == ErrorCode.STALE_CONTROLLER_EPOCH
    assert "a" not in world.broker.metadata.image.topics
