"""Deletion step by step; how it goes with brokers and time is in test_service.py."""

import pytest

from moldau.controller.cluster import Assignment, LeaderIsr, LiveBroker, Topic
from moldau.controller.controller import Controller
from moldau.controller.deletion import TopicDeletion
from moldau.controller.outbox import Letter
from moldau.controller.state_nodes import StateNodes
from moldau.coordination.layout import controller as controller_nodes
from moldau.coordination.layout import partitions as partition_lists
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.configs import ConfigEntity
from moldau.coordination.tree import BadVersion, Create
from moldau.errors import ErrorCode
from moldau.metadata.image import EPOCH_DURING_DELETE
from moldau.model import TopicPartition
from moldau.protocol.messages.stop_replica import StopReplicaRequest, StopReplicaResponse
from unit.controller.brokers import Cluster

T0 = TopicPartition("t", 0)


class Office:
    """A controller whose letters are answered by one function."""

    def __init__(self, cluster: Cluster, epoch_version: int) -> None:
        self.machine = Controller(1, 1, is_unclean_allowed=lambda _topic: False)
        known = self.machine.cluster
        known.brokers.update({number: LiveBroker(number, 1, ()) for number in (1, 2)})
        known.topics["t"] = Topic(b"i" * 16, {0: Assignment((1, 2))})
        known.leaders[T0] = LeaderIsr(1, 0, (1, 2), 1)
        known.deleting["t"] = None
        self.answer: object = StopReplicaResponse(error_code=ErrorCode.NONE, partition_errors=[])
        self.letters: list[Letter] = []
        nodes = StateNodes(cluster.admin, epoch_version)
        self.deletion = TopicDeletion(nodes, self.machine, self.deliver)

    async def deliver(self) -> list[tuple[Letter, object]]:
        letters = self.machine.outbox.letters()
        self.letters += letters
        return [(letter, self.answer) for letter in letters]


async def office() -> tuple[Cluster, Office]:
    cluster = await Cluster.create()
    created = await cluster.admin.create(
        Create(controller_nodes.EPOCH_PATH, controller_nodes.encode_epoch(1))
    )
    await cluster.create_topic("t", (1, 2))
    await cluster.mark_for_deletion("t")
    return cluster, Office(cluster, created.stat.version)


async def test_a_deleted_topic_leaves_nothing_behind() -> None:
    cluster, made = await office()
    assert await made.deletion.delete("t")
    for path in (
        topic_nodes.topic_path("t"),
        ConfigEntity.topic("t").path,
        partition_lists.delete_topic_path("t"),
    ):
        assert not await cluster.has(path)
    assert (made.machine.cluster.topics, made.machine.cluster.deleting) == ({}, {})


async def test_replicas_are_deleted_whatever_their_epoch() -> None:
    _, made = await office()
    await made.deletion.delete("t")
    stops = [one.request for one in made.letters if isinstance(one.request, StopReplicaRequest)]
    assert len(stops) == 2
    (state,) = stops[0].topic_states[0].partition_states
    assert (state.leader_epoch, state.delete_partition) == (EPOCH_DURING_DELETE, True)


@pytest.mark.parametrize(
    "answer",
    [None, StopReplicaResponse(error_code=ErrorCode.STALE_CONTROLLER_EPOCH, partition_errors=[])],
)
async def test_without_a_good_answer_the_topic_stays(answer: object) -> None:
    cluster, made = await office()
    made.answer = answer
    assert not await made.deletion.delete("t")
    assert await cluster.has(topic_nodes.topic_path("t"))
    assert "t" in made.machine.cluster.deleting


async def test_a_controller_of_the_past_removes_nothing() -> None:
    cluster, made = await office()
    await cluster.admin.set(controller_nodes.EPOCH_PATH, controller_nodes.encode_epoch(2))
    with pytest.raises(BadVersion):
        await made.deletion.delete("t")
    assert await cluster.has(topic_nodes.topic_path("t"))
