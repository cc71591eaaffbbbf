"""Reassignments over a tree: begun, resumed, turned, cancelled, ended."""

from moldau.controller.cluster import LeaderIsr, LiveBroker, ReplicaAssignment, Topic
from moldau.controller.controller import Controller, Plan
from moldau.controller.reassigning import Reassigning
from moldau.controller.service import ControllerService
from moldau.controller.state_nodes import StateNodes
from moldau.controller.tree_reader import TreeReader
from moldau.coordination.layout import controller as controller_nodes
from moldau.coordination.layout import partitions as partition_lists
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.topics import PartitionAssignment
from moldau.coordination.tree import Create
from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.protocol.messages.leader_and_isr import LeaderAndIsrRequest
from moldau.protocol.messages.stop_replica import StopReplicaRequest
from unit.controller.brokers import Cluster, settled

T0 = TopicPartition("t", 0)


async def assignment(cluster: Cluster) -> PartitionAssignment:
    node = await cluster.admin.get(topic_nodes.topic_path("t"))
    return topic_nodes.decode_topic(node.data).partitions[0]


async def reassign(
    service: ControllerService, target: tuple[int, ...] | None, partition: TopicPartition = T0
) -> ErrorCode:
    refused = await service.perform(lambda term: term.reassign({partition: target}))
    await settled()
    return refused[partition].code if partition in refused else ErrorCode.NONE


async def join_isr(cluster: Cluster, isr: tuple[int, ...]) -> None:
    """As the leader does when replicas have caught up."""
    state = await cluster.state("t")
    changed = topic_nodes.PartitionStateNode(
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        isr=isr,
        controller_epoch=state.controller_epoch,
    )
    await cluster.admin.set(topic_nodes.state_path(T0), changed.encode())
    data = partition_lists.encode_partitions([T0])
    await cluster.admin.create(Create(partition_lists.ISR_CHANGE_PREFIX, data, is_sequential=True))
    await settled()


def stopped(cluster: Cluster, broker: int) -> list[bool]:
    """Whether each replica that a broker was to give up was to be deleted."""
    return [
        state.delete_partition
        for request in cluster.brokers.sent_to(broker, StopReplicaRequest)
        for topic in request.topic_states
        for state in topic.partition_states
    ]


async def test_a_partition_moves_when_its_new_replicas_are_in_sync() -> None:
    cluster = await Cluster.create(1, 2, 3, 4)
    async with cluster.controller(1) as service:
        await cluster.create_topic("t", (1, 2))
        await settled()
        assert await reassign(service, (3, 4)) is ErrorCode.NONE
        moving = PartitionAssignment(replicas=(3, 4, 1, 2), adding=(3, 4), removing=(1, 2))
        assert await assignment(cluster) == moving
        (told,) = cluster.brokers.sent_to(3, LeaderAndIsrRequest)
        (state,) = told.topic_states[0].partition_states
        assert (state.leader, state.leader_epoch, state.is_new) == (1, 1, True)
        await join_isr(cluster, (1, 2, 3))
        assert await assignment(cluster) == moving
        await join_isr(cluster, (1, 2, 3, 4))
        assert await assignment(cluster) == PartitionAssignment(replicas=(3, 4))
        after = await cluster.state("t")
        assert (after.leader, after.isr, after.leader_epoch) == (3, (3, 4), 2)
        assert (stopped(cluster, 1), stopped(cluster, 2)) == ([True], [True])
        assert service.machine.cluster.assignment(T0) == ReplicaAssignment((3, 4))


async def test_a_leader_that_stays_goes_on_leading() -> None:
    cluster = await Cluster.create(1, 2, 3)
    async with cluster.controller(1) as service:
        await cluster.create_topic("t", (1, 2))
        await settled()
        await reassign(service, (3, 1))
        await join_isr(cluster, (1, 2, 3))
        after = await cluster.state("t")
        assert (after.leader, after.isr) == (1, (1, 3))
        assert stopped(cluster, 2) == [True]


async def test_the_next_controller_goes_on_with_a_move() -> None:
    cluster = await Cluster.create(1, 2, 3)
    async with cluster.controller(1) as service:
        await cluster.create_topic("t", (2,))
        await settled()
        await reassign(service, (3,))
    cluster.leave(1)
    async with cluster.controller(2):
        await join_isr(cluster, (2, 3))
        assert await assignment(cluster) == PartitionAssignment(replicas=(3,))
        assert (await cluster.state("t")).leader == 3


async def test_a_move_can_be_turned_elsewhere() -> None:
    cluster = await Cluster.create(1, 2, 3)
    async with cluster.controller(1) as service:
        await cluster.create_topic("t", (1,))
        await settled()
        await reassign(service, (2,))
        await reassign(service, (3,))
        moving = PartitionAssignment(replicas=(3, 1), adding=(3,), removing=(1,))
        assert await assignment(cluster) == moving
        assert stopped(cluster, 2) == [True]
        await join_isr(cluster, (1, 3))
        assert await assignment(cluster) == PartitionAssignment(replicas=(3,))


async def test_a_cancelled_move_leaves_things_as_they_were() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1) as service:
        await cluster.create_topic("t", (1,))
        await settled()
        await reassign(service, (2,))
        assert await reassign(service, None) is ErrorCode.NONE
        assert await assignment(cluster) == PartitionAssignment(replicas=(1,))
        assert (await cluster.state("t")).isr == (1,)
        assert stopped(cluster, 2) == [True]
        assert await reassign(service, None) is ErrorCode.NO_REASSIGNMENT_IN_PROGRESS


async def test_a_move_is_cancelled_at_once_whoever_is_away() -> None:
    cluster = await Cluster.create(1, 2, 3)
    async with cluster.controller(1) as service:
        await cluster.create_topic("t", (1, 2))
        await settled()
        await reassign(service, (1, 3))
        cluster.leave(2)
        await join_isr(cluster, (1,))
        assert await reassign(service, None) is ErrorCode.NONE
        assert await assignment(cluster) == PartitionAssignment(replicas=(1, 2))
        assert stopped(cluster, 3) == [True]


async def test_a_partition_without_a_leader_can_be_moved_and_have_that_cancelled() -> None:
    cluster = await Cluster.create(1, 2, 3)
    async with cluster.controller(1) as service:
        await cluster.create_topic("t", (2,))
        await settled()
        cluster.leave(2)
        await settled()
        assert await reassign(service, (3,)) is ErrorCode.NONE
        assert await reassign(service, None) is ErrorCode.NONE
        assert await assignment(cluster) == PartitionAssignment(replicas=(2,))
        assert (await cluster.state("t")).isr == (2,)


async def test_a_move_is_not_cancelled_when_only_new_replicas_are_in_sync() -> None:
    cluster = await Cluster.create(1, 2, 3)
    async with cluster.controller(1) as service:
        await cluster.create_topic("t", (2,))
        await settled()
        await reassign(service, (3, 1))
        await join_isr(cluster, (2, 3))
        cluster.leave(2)
        await settled()
        assert (await cluster.state("t")).leader == 3
        moving = await assignment(cluster)
        assert await reassign(service, None) is ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
        assert await reassign(service, (1,)) is ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
        assert await assignment(cluster) == moving
        assert stopped(cluster, 3) == []


async def test_a_replica_that_is_dropped_on_the_way_is_no_longer_in_sync() -> None:
    cluster = await Cluster.create(1, 2, 3)
    async with cluster.controller(1) as service:
        await cluster.create_topic("t", (1,))
        await settled()
        await reassign(service, (2, 3))
        await join_isr(cluster, (1, 2))
        await reassign(service, (3,))
        assert (await cluster.state("t")).isr == (1,)
        assert stopped(cluster, 2) == [True]


async def test_a_move_ends_only_when_one_of_the_new_replicas_can_lead() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1) as service:
        await cluster.create_topic("t", (1,))
        await settled()
        await reassign(service, (2,))
        moving = await assignment(cluster)
        service.machine.cluster.stopping.add(2)
        await join_isr(cluster, (1, 2))
        assert await assignment(cluster) == moving
        state = await cluster.state("t")
        assert (state.leader, state.isr, stopped(cluster, 1)) == (1, (1, 2), [])
        cluster.leave(2)
        await settled()
        await cluster.join(2)
        await settled()
        assert stopped(cluster, 1) == []
        await join_isr(cluster, (1, 2))
        assert await assignment(cluster) == PartitionAssignment(replicas=(2,))
        assert ((await cluster.state("t")).leader, stopped(cluster, 1)) == (2, [True])


async def test_the_next_controller_begins_a_move_that_was_only_written() -> None:
    cluster = await Cluster.create(1, 2, 3)
    async with cluster.controller(1):
        await cluster.create_topic("t", (2,))
        await settled()
    cluster.leave(1)
    path = topic_nodes.topic_path("t")
    topic = topic_nodes.decode_topic((await cluster.admin.get(path)).data)
    moving = PartitionAssignment(replicas=(3, 2), adding=(3,), removing=(2,))
    written = topic_nodes.TopicAssignment(partitions={0: moving}, topic_id=topic.topic_id)
    await cluster.admin.set(path, written.encode())
    async with cluster.controller(2):
        assert cluster.brokers.leader_of(2, "t") == (2, 1)
        assert cluster.brokers.leader_of(3, "t") == (2, 1)


async def test_what_is_there_already_or_does_not_exist_is_not_moved() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1) as service:
        await cluster.create_topic("t", (1, 2))
        await settled()
        assert await reassign(service, (1, 2)) is ErrorCode.NONE
        assert (await cluster.state("t")).leader_epoch == 0
        unknown = TopicPartition("t", 7)
        assert await reassign(service, (1,), unknown) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        await cluster.admin.delete(topic_nodes.state_path(T0))
        await cluster.admin.delete(topic_nodes.partition_path(T0))
        await cluster.admin.delete(topic_nodes.partitions_path("t"))
        await cluster.admin.delete(topic_nodes.topic_path("t"))
        term = service._term
        assert term is not None
        refused = await term.reassign({T0: (2,)})
        assert refused[T0].code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def test_a_replica_that_stays_may_be_away_when_a_move_begins() -> None:
    cluster = await Cluster.create(1, 2, 3)
    async with cluster.controller(1) as service:
        await cluster.create_topic("t", (1, 2))
        await settled()
        cluster.leave(2)
        await settled()
        assert await reassign(service, (2, 3)) is ErrorCode.NONE
        assert await reassign(service, (2, 9)) is ErrorCode.INVALID_REPLICA_ASSIGNMENT
        moving = PartitionAssignment(replicas=(2, 3, 1), adding=(3,), removing=(1,))
        assert await assignment(cluster) == moving


async def test_a_new_order_of_replicas_needs_no_move() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1) as service:
        await cluster.create_topic("t", (1, 2))
        await settled()
        await reassign(service, (2, 1))
        assert await assignment(cluster) == PartitionAssignment(replicas=(2, 1))
        assert (await cluster.state("t")).leader == 1


class Steps:
    """Moves whose plans may come to nothing, and what the tree says whenever one is made."""

    def __init__(self, replicas: tuple[int, ...], *, is_carried_out: bool = True) -> None:
        self.machine = Controller(1, 5, is_unclean_allowed=lambda _topic, _settings: False)
        self.picture = self.machine.cluster
        self.picture.brokers = {one: LiveBroker(one, 100 + one, ()) for one in (1, 2, 3)}
        self.picture.topics["t"] = Topic(b"i" * 16, {0: ReplicaAssignment(replicas)})
        self.written: list[PartitionAssignment] = []
        self._replicas = replicas
        self._is_carried_out = is_carried_out

    async def moves(self) -> Reassigning:
        self.cluster = await Cluster.create()
        await self.cluster.create_topic("t", self._replicas)
        node = Create(controller_nodes.EPOCH_PATH, controller_nodes.encode_epoch(5))
        version = (await self.cluster.admin.create(node)).stat.version
        nodes = StateNodes(self.cluster.admin, version)
        return Reassigning(self.machine, TreeReader(self.cluster.admin), nodes, self._carry_out)

    async def _carry_out(self, plan: Plan) -> None:
        self.written.append(await assignment(self.cluster))
        for write in plan() if self._is_carried_out else ():
            self.machine.note_written(write, 1)


async def test_a_move_is_written_before_it_begins_and_forgotten_after_it_ends() -> None:
    steps = Steps((1,))
    steps.picture.leaders[T0] = LeaderIsr(1, 0, (1,), 5)
    moves = await steps.moves()
    assert await moves.start({T0: (2,)}) == {}
    moving = PartitionAssignment(replicas=(2, 1), adding=(2,), removing=(1,))
    assert steps.written == [moving]
    assert await moves.start({T0: None}) == {}
    assert steps.written == [moving, moving]
    assert await assignment(steps.cluster) == PartitionAssignment(replicas=(1,))


async def test_a_replica_that_still_leads_is_not_given_up() -> None:
    steps = Steps((2, 1), is_carried_out=False)
    steps.picture.assign(T0, ReplicaAssignment((2, 1), adding=(2,), removing=(1,)))
    steps.picture.leaders[T0] = LeaderIsr(2, 0, (2, 1), 5)
    moves = await steps.moves()
    assert await moves.start({T0: (3,)}) == {}
    assert steps.picture.assignment(T0).replicas == (3, 1)
    assert steps.machine.outbox.requests(2) == []


async def test_all_brokers_learn_where_a_partition_is_though_nothing_was_left_to_do() -> None:
    steps = Steps((1, 2), is_carried_out=False)
    steps.picture.assign(T0, ReplicaAssignment((1, 2), removing=(2,)))
    steps.picture.leaders[T0] = LeaderIsr(1, 0, (1,), 5)
    await (await steps.moves()).finish()
    assert sorted(steps.machine.outbox.waiting()) == [1, 2, 3]


async def test_partitions_of_a_topic_that_is_deleted_move_no_further() -> None:
    steps = Steps((1, 2))
    steps.picture.assign(T0, ReplicaAssignment((1, 2), removing=(2,)))
    steps.picture.leaders[T0] = LeaderIsr(1, 0, (1,), 5)
    steps.picture.deleting["t"] = None
    await (await steps.moves()).finish()
    assert steps.written == []
    assert steps.picture.assignment(T0).removing == (2,)
