"""ListPartitionReassignments: what is on the move."""

from moldau.controller.cluster import ReplicaAssignment
from moldau.errors import ErrorCode
from moldau.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    ListPartitionReassignmentsTopics,
)
from unit.broker.world import World


async def ask(
    world: World, partitions: dict[str, list[int]] | None = None
) -> ListPartitionReassignmentsResponse:
    topics = None
    if partitions is not None:
        topics = [
            ListPartitionReassignmentsTopics(name=name, partition_indexes=numbers)
            for name, numbers in partitions.items()
        ]
    response: ListPartitionReassignmentsResponse = await world.ask(
        ListPartitionReassignmentsRequest(topics=topics), 0
    )
    return response


async def test_where_nothing_moves_the_list_is_empty(world: World) -> None:
    await world.create_topic("t")
    response = await ask(world)
    assert (response.error_code, response.topics) == (ErrorCode.NONE, [])


async def test_a_move_is_listed_for_all_and_for_whom_asks_for_it(world: World) -> None:
    await world.create_topic("t", 2)
    topic = world.broker.controller.machine.cluster.topics["t"]
    topic.partitions[1] = ReplicaAssignment((0, 1), adding=(1,), removing=(0,))
    (listed,) = (await ask(world)).topics
    (partition,) = listed.partitions
    assert (listed.name, partition.partition_index, partition.replicas) == ("t", 1, [0, 1])
    assert (partition.adding_replicas, partition.removing_replicas) == ([1], [0])
    assert (await ask(world, {"t": [1]})).topics == [listed]
    assert (await ask(world, {"t": [0]})).topics == []


async def test_only_the_controller_knows(world: World) -> None:
    world.broker.controller._term = None
    assert (await ask(world)).error_code == ErrorCode.NOT_CONTROLLER
