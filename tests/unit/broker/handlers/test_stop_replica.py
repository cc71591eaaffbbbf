"""StopReplica: replicas given up in every version, and who may ask for it."""

from collections.abc import AsyncIterator

import pytest

from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.protocol.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaPartitionV0,
    StopReplicaRequest,
    StopReplicaTopicState,
    StopReplicaTopicV1,
)
from unit.broker.world import World, broker_world

CONTROLLER_EPOCH = 5
T0 = TopicPartition("t", 0)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world() as world:
        await world.create_topic("t")
        yield world


def request(
    version: int,
    *,
    is_deletion: bool = True,
    leader_epoch: int = 0,
    controller_epoch: int = CONTROLLER_EPOCH,
    broker_epoch: int = -1,
) -> StopReplicaRequest:
    made = StopReplicaRequest(
        controller_id=0, controller_epoch=controller_epoch, broker_epoch=broker_epoch
    )
    if version < 3:
        made.delete_partitions = is_deletion
    if version == 0:
        made.ungrouped_partitions = [StopReplicaPartitionV0(topic_name="t", partition_index=0)]
    elif version < 3:
        made.topics = [StopReplicaTopicV1(name="t", partition_indexes=[0])]
    else:
        state = StopReplicaPartitionState(
            partition_index=0, leader_epoch=leader_epoch, delete_partition=is_deletion
        )
        made.topic_states = [StopReplicaTopicState(topic_name="t", partition_states=[state])]
    return made


@pytest.mark.parametrize("version", range(5))
async def test_every_version_stops_and_deletes(world: World, version: int) -> None:
    response = await world.ask(request(version, is_deletion=False), version)
    assert response.error_code == ErrorCode.NONE
    assert world.broker.logs.get(T0) is not None
    response = await world.ask(request(version), version)
    (error,) = response.partition_errors
    assert (error.topic_name, error.partition_index, error.error_code) == ("t", 0, ErrorCode.NONE)
    assert world.broker.logs.get(T0) is None
    assert world.broker.replicas.find(T0) is None


async def test_older_epochs_are_refused(world: World) -> None:
    world.partition("t").state = world.partition("t").state._replace(leader_epoch=4)
    response = await world.ask(request(4, leader_epoch=3), 4)
    assert response.partition_errors[0].error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert world.broker.logs.get(T0) is not None


async def test_who_is_not_the_controller_of_this_life_is_refused(world: World) -> None:
    await world.ask(request(4, is_deletion=False), 4)
    response = await world.ask(request(4, controller_epoch=CONTROLLER_EPOCH - 1), 4)
    assert response.error_code == ErrorCode.STALE_CONTROLLER_EPOCH
    epoch = world.broker.registration.epoch
    response = await world.ask(request(4, broker_epoch=epoch - 1), 4)
    assert response.error_code == ErrorCode.STALE_BROKER_EPOCH
    assert world.broker.logs.get(T0) is not None
