"""Moves of replicas, and elections."""

import pytest

from moldau.client.admin.admin import Admin
from moldau.client.admin.reassignments import ElectionType, Reassignment
from moldau.errors import (
    ClusterAuthorizationFailed,
    ElectionNotNeeded,
    InvalidReplicaAssignment,
    NoReassignmentInProgress,
    UnknownTopicOrPartition,
)
from moldau.model import TopicPartition
from moldau.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsResponse,
)
from moldau.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from unit.client.admin.answering import Answering, admin_of

T0 = TopicPartition("t", 0)


async def test_each_move_has_its_own_outcome(admin: Admin) -> None:
    await admin.create_topics(["t"])
    outcomes = await admin.alter_partition_reassignments({T0: [0], TopicPartition("x", 0): [0]})
    assert outcomes[T0] is None
    with pytest.raises(UnknownTopicOrPartition):
        outcomes[TopicPartition("x", 0)]
    with pytest.raises(InvalidReplicaAssignment):
        (await admin.alter_partition_reassignments({T0: [7]})).check()
    with pytest.raises(NoReassignmentInProgress):
        (await admin.alter_partition_reassignments({T0: None})).check()
    assert await admin.list_partition_reassignments([T0]) == {}


async def test_moves_under_way_are_listed() -> None:
    moving = OngoingPartitionReassignment(
        partition_index=0, replicas=[1, 2], adding_replicas=[2], removing_replicas=[1]
    )
    topic = OngoingTopicReassignment(name="t", partitions=[moving])
    answer = ListPartitionReassignmentsResponse(
        throttle_time_ms=0, error_code=0, error_message=None, topics=[topic]
    )
    async with admin_of(Answering(ListPartitionReassignments=lambda _: answer)) as admin:
        assert await admin.list_partition_reassignments() == {T0: Reassignment([1, 2], [2], [1])}


async def test_who_may_not_move_anything_is_told_so_for_each() -> None:
    answer = AlterPartitionReassignmentsResponse(
        throttle_time_ms=0, error_code=31, error_message="no", responses=[]
    )
    async with admin_of(Answering(AlterPartitionReassignments=lambda _: answer)) as admin:
        with pytest.raises(ClusterAuthorizationFailed, match="no"):
            (await admin.alter_partition_reassignments({T0: [1]}))[T0]


async def test_an_election_that_is_not_needed_is_an_outcome(admin: Admin) -> None:
    await admin.create_topics(["t"])
    for election_type in ElectionType:
        outcomes = await admin.elect_leaders([T0], election_type=election_type)
        with pytest.raises(ElectionNotNeeded):
            outcomes[T0]
    assert len((await admin.elect_leaders()).succeeded) == 0
