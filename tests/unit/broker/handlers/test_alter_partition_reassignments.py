"""AlterPartitionReassignments: a broker that is alone keeps its replicas."""

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)
from unit.broker.world import World


async def reassign(
    world: World, replicas: list[int] | None, *, topic: str = "t", number: int = 0
) -> AlterPartitionReassignmentsResponse:
    partition = ReassignablePartition(partition_index=number, replicas=replicas)
    request = AlterPartitionReassignmentsRequest(
        topics=[ReassignableTopic(name=topic, partitions=[partition])]
    )
    response: AlterPartitionReassignmentsResponse = await world.ask(request, 0)
    return response


async def test_what_is_so_already_is_granted(world: World) -> None:
    await world.create_topic("t")
    response = await reassign(world, [0])
    assert response.error_code == ErrorCode.NONE
    assert response.responses[0].partitions[0].error_code == ErrorCode.NONE


@pytest.mark.parametrize("replicas", [[], [0, 0], [-1], [0, 7]])
async def test_replicas_that_cannot_be_are_refused(world: World, replicas: list[int]) -> None:
    await world.create_topic("t")
    (result,) = (await reassign(world, replicas)).responses[0].partitions
    assert result.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert result.error_message


async def test_where_nothing_moves_there_is_nothing_to_cancel(world: World) -> None:
    await world.create_topic("t")
    (result,) = (await reassign(world, None)).responses[0].partitions
    assert result.error_code == ErrorCode.NO_REASSIGNMENT_IN_PROGRESS


async def test_a_partition_that_is_not_there_is_unknown(world: World) -> None:
    (result,) = (await reassign(world, [0])).responses[0].partitions
    assert result.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def test_only_the_controller_reassigns(world: World) -> None:
    world.broker.controller._term = None
    assert (await reassign(world, [0])).error_code == ErrorCode.NOT_CONTROLLER
