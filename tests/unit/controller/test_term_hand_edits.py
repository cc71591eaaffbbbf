"""Nodes that somebody has changed by hand: the controller outlives it, and so do the topics."""

import pytest

from moldau.controller.service import ControllerService, Rules
from moldau.coordination.layout import brokers as broker_nodes
from moldau.coordination.layout import partitions as partition_lists
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.brokers import BrokerRegistration, RegisteredEndpoint
from moldau.coordination.layout.topics import PartitionAssignment, TopicAssignment
from moldau.coordination.tree import Create
from moldau.model import TopicPartition
from moldau.protocol.messages.update_metadata import UpdateMetadataRequest
from unit.controller.brokers import NOW_MS, RULES, Cluster, settled
from unit.controller.test_reassigning import join_isr, reassign, stopped

T0 = TopicPartition("t", 0)
TOPIC = topic_nodes.topic_path("t")


async def is_at_work(cluster: Cluster, service: ControllerService) -> bool:
    """Whether new topics still get leaders."""
    await cluster.create_topic("next", (1,))
    await settled()
    return service.is_controller and await cluster.has(
        topic_nodes.state_path(TopicPartition("next", 0))
    )


async def test_a_marked_topic_goes_with_nodes_that_nobody_knows() -> None:
    cluster = await Cluster.create(1)
    async with cluster.controller(1) as service:
        await cluster.create_topic("t", (1,))
        await settled()
        for path in (f"{TOPIC}/mine", f"{TOPIC}/mine/too", f"{TOPIC}/partitions/77"):
            await cluster.admin.create(Create(path))
        await cluster.mark_for_deletion("t")
        await settled()
        assert not await cluster.has(TOPIC)
        assert not await cluster.has(partition_lists.delete_topic_path("t"))
        assert await is_at_work(cluster, service)


async def test_a_marked_topic_that_is_not_understood_does_not_end_controllers() -> None:
    cluster = await Cluster.create(1)
    async with cluster.controller(1):
        await cluster.create_topic("t", (1,))
        await settled()
    await cluster.admin.set(TOPIC, b"?")
    await cluster.mark_for_deletion("t")
    async with cluster.controller(1) as service:
        assert not await cluster.has(TOPIC)
        assert await is_at_work(cluster, service)


async def test_partitions_that_vanish_from_a_topic_stay_where_they_are() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1) as service:
        await cluster.create_topic("t", (1, 2), (2, 1))
        await settled()
        one = TopicAssignment(partitions={0: PartitionAssignment(replicas=(2,))})
        await cluster.admin.set(TOPIC, one.encode())
        await settled()
        cluster.leave(2)
        await settled()
        states = [await cluster.state("t", number) for number in range(2)]
        assert [(state.leader, state.isr) for state in states] == [(1, (1,)), (1, (1,))]
        assert await is_at_work(cluster, service)


async def test_a_partition_without_replicas_is_left_out() -> None:
    cluster = await Cluster.create(1)
    await cluster.create_topic("t", (), (1,))
    async with cluster.controller(1) as service:
        assert not await cluster.has(topic_nodes.state_path(T0))
        assert service.machine.imbalanced(percentage=0) == []
        assert (await cluster.state("t", 1)).leader == 1


async def test_a_topic_that_is_broken_while_it_moves_stays_with_all_its_replicas(
    caplog: pytest.LogCaptureFixture,
) -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1) as service:
        await cluster.create_topic("t", (1,))
        await settled()
        await reassign(service, (2,))
        moving = (await cluster.admin.get(TOPIC)).data
        await cluster.admin.set(TOPIC, b"?")
        await join_isr(cluster, (1, 2))
        assert (stopped(cluster, 1), (await cluster.state("t")).leader) == ([], 1)
        assert "Failed to reassign" in caplog.text
        assert await is_at_work(cluster, service)
        await cluster.admin.set(TOPIC, moving)
        await join_isr(cluster, (1, 2))
        assert (stopped(cluster, 1), (await cluster.state("t")).leader) == ([True], 2)


async def test_lists_that_were_removed_are_empty_until_they_are_back() -> None:
    cluster = await Cluster.create(1)
    lists = [partition_lists.DELETE_TOPICS_PATH, partition_lists.ISR_CHANGES_PATH]
    async with cluster.controller(1) as service:
        await cluster.create_topic("t", (1,))
        for path in lists:
            await cluster.admin.delete(path)
        await settled()
        assert await is_at_work(cluster, service)
        for path in lists:
            await cluster.admin.create(Create(path))
        await cluster.mark_for_deletion("t")
        await settled()
        assert not await cluster.has(TOPIC)


async def test_marks_do_nothing_where_topics_must_not_be_deleted() -> None:
    cluster = await Cluster.create(1)
    await cluster.create_topic("t", (1,))
    await cluster.mark_for_deletion("t")
    mark = partition_lists.delete_topic_path("t")
    rules = Rules(is_unclean_allowed=RULES.is_unclean_allowed, deleted=None)
    async with cluster.running(cluster.service(1, rules)):
        assert (await cluster.has(TOPIC), await cluster.has(mark)) == (True, False)
        await cluster.mark_for_deletion("t")
        await settled()
        assert (await cluster.has(TOPIC), await cluster.has(mark)) == (True, False)
        assert (await cluster.state("t")).leader == 1
        assert stopped(cluster, 1) == []


async def test_everyone_hears_where_a_broker_listens_from_now_on() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1):
        for port in (9093, 9094):
            node = BrokerRegistration(
                endpoints=(RegisteredEndpoint("PLAINTEXT", "PLAINTEXT", "elsewhere", port),),
                timestamp_ms=NOW_MS,
            )
            await cluster.admin.set(broker_nodes.id_path(2), node.encode())
            await settled()
            for broker in (1, 2):
                told = cluster.brokers.sent_to(broker, UpdateMetadataRequest)[-1]
                (other,) = (one for one in told.live_brokers if one.id == 2)
                assert [(one.host, one.port) for one in other.endpoints] == [("elsewhere", port)]
