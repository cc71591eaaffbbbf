"""ControlledShutdown: what still needs another leader."""

import pytest

from moldau.controller.cluster import ReplicaAssignment
from moldau.errors import ErrorCode
from moldau.protocol.messages.controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
)
from unit.broker.world import World

NEWEST = 3


async def ask(
    world: World, broker_id: int = 0, epoch: int = -1, *, version: int = NEWEST
) -> ControlledShutdownResponse:
    request = ControlledShutdownRequest(broker_id=broker_id, broker_epoch=epoch)
    response: ControlledShutdownResponse = await world.ask(request, version)
    return response


@pytest.mark.parametrize("version", range(1, NEWEST + 1))
async def test_a_broker_that_is_alone_may_stop_at_once(world: World, version: int) -> None:
    await world.create_topic("t")
    response = await ask(world, version=version)
    assert (response.error_code, response.remaining_partitions) == (ErrorCode.NONE, [])


async def test_what_others_could_lead_remains(world: World) -> None:
    await world.create_topic("t", 2)
    topic = world.broker.controller.machine.cluster.topics["t"]
    topic.partitions[1] = ReplicaAssignment((0, 1))
    (remaining,) = (await ask(world)).remaining_partitions
    assert (remaining.topic_name, remaining.partition_index) == ("t", 1)


async def test_a_broker_that_is_not_there_cannot_stop(world: World) -> None:
    assert (await ask(world, 7)).error_code == ErrorCode.BROKER_NOT_AVAILABLE


async def test_an_earlier_life_of_a_broker_cannot_stop_this_one(world: World) -> None:
    epoch = world.broker.registration.epoch
    assert (await ask(world, epoch=epoch)).error_code == ErrorCode.NONE
    assert (await ask(world, epoch=epoch - 1)).error_code == ErrorCode.STALE_BROKER_EPOCH


async def test_only_the_controller_is_asked(world: World) -> None:
    world.broker.controller._term = None
    assert (await ask(world)).error_code == ErrorCode.NOT_CONTROLLER
