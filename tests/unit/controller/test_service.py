"""The controller service over a tree in memory: elections, topics, brokers, deletions."""

import asyncio

import pytest

from moldau.controller.term import Term
from moldau.coordination.layout import brokers as broker_nodes
from moldau.coordination.layout import controller as controller_nodes
from moldau.coordination.layout import partitions as partition_lists
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.topics import PartitionAssignment, TopicAssignment
from moldau.coordination.tree import Create, Delete, Operation, SessionLost, SetData
from moldau.errors import ErrorCode, KafkaError
from moldau.metadata.image import LEADER_DURING_DELETE
from moldau.model import TopicPartition
from moldau.protocol.messages.leader_and_isr import LeaderAndIsrRequest
from moldau.protocol.messages.stop_replica import StopReplicaRequest
from moldau.protocol.messages.update_metadata import UpdateMetadataRequest
from unit.controller.brokers import Cluster, settled


async def epoch_of(cluster: Cluster) -> int:
    node = await cluster.admin.get(controller_nodes.EPOCH_PATH)
    return controller_nodes.decode_epoch(node.data)


# Election


async def test_a_broker_elects_itself_and_tells_everyone() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1) as service:
        assert service.is_controller
        service.require_office()
        assert await epoch_of(cluster) == service.machine.epoch == 1
        for broker in (1, 2):
            request = cluster.brokers.sent_to(broker, UpdateMetadataRequest)[0]
            assert (request.controller_id, request.controller_epoch) == (1, 1)
            assert [one.id for one in request.live_brokers] == [1, 2]


async def test_only_one_of_two_is_elected_and_the_other_takes_over() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1) as first, cluster.controller(2) as second:
        assert first.is_controller
        assert not second.is_controller
        with pytest.raises(KafkaError) as refused:
            second.require_office()
        assert refused.value.code == ErrorCode.NOT_CONTROLLER
        cluster.leave(1)
        await settled(lambda: second.is_controller)
        assert await epoch_of(cluster) == second.machine.epoch == 2
    assert not first.is_controller


async def test_a_lost_session_ends_the_service_and_the_next_one_is_elected() -> None:
    cluster = await Cluster.create(1)
    service = cluster.service(1)
    running = asyncio.create_task(service.run())
    await settled(lambda: service.is_controller)
    cluster.leave(1)
    with pytest.raises(SessionLost):
        await running
    assert not service.is_controller
    await cluster.join(1)
    async with cluster.controller(1) as next_service:
        assert next_service.is_controller
        assert next_service.machine.epoch == 2


async def test_whoever_waits_for_something_hears_that_the_session_was_lost_meanwhile() -> None:
    cluster = await Cluster.create(1)
    service = cluster.service(1)
    running = asyncio.create_task(service.run())
    await settled(lambda: service.is_controller)

    async def lose(_term: Term) -> None:
        raise SessionLost

    with pytest.raises(KafkaError) as refused:
        await service.perform(lose)
    assert refused.value.code == ErrorCode.NOT_CONTROLLER
    with pytest.raises(SessionLost):
        await running


async def test_a_deleted_controller_node_means_a_new_election() -> None:
    cluster = await Cluster.create(1)
    async with cluster.controller(1) as service:
        await cluster.admin.delete(controller_nodes.PATH)
        await settled(lambda: service.is_controller and service.machine.epoch == 2)
        assert service.machine.epoch == 2


async def test_after_a_broken_connection_the_office_is_kept_and_everything_read_anew() -> None:
    cluster = await Cluster.create(1)
    async with cluster.controller(1) as service:
        cluster.sessions[1].suspend()
        await settled()
        await cluster.create_topic("t", (1,))
        await settled()
        cluster.sessions[1].resume()
        await settled(lambda: cluster.brokers.leader_of(1, "t") is not None)
        assert service.machine.epoch == 1
        assert cluster.brokers.leader_of(1, "t") == (1, 0)


async def test_a_connection_that_breaks_in_the_middle_of_a_job_is_survived() -> None:
    cluster = await Cluster.create(1)
    async with cluster.controller(1) as service:
        for turns in range(12):
            name = f"t{turns}"
            await cluster.create_topic(name, (1,))
            for _ in range(turns):
                await asyncio.sleep(0)
            cluster.sessions[1].suspend()
            await settled()
            cluster.sessions[1].resume()
            await settled()
            assert cluster.brokers.leader_of(1, name) == (1, 0)
        assert service.machine.epoch == 1


async def test_a_broken_epoch_node_keeps_brokers_from_standing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    cluster = await Cluster.create(1)
    await cluster.admin.create(Create(controller_nodes.EPOCH_PATH, b"many"))
    async with cluster.controller(1) as service:
        assert not service.is_controller
        assert "Failed to parse the controller epoch" in caplog.text


@pytest.mark.parametrize("is_topic_first", [True, False])
async def test_a_controller_that_was_replaced_writes_nothing(is_topic_first: bool) -> None:
    cluster = await Cluster.create(1)
    async with cluster.controller(1) as service:
        other = cluster.ensemble.connect()
        registration = controller_nodes.ControllerRegistration(2, 0).encode()
        usurp: list[Operation] = [
            Delete(controller_nodes.PATH),
            Create(controller_nodes.PATH, registration, is_ephemeral=True),
            SetData(controller_nodes.EPOCH_PATH, controller_nodes.encode_epoch(2)),
        ]
        if is_topic_first:
            # Its job is under way when the other comes.
            creating = asyncio.create_task(cluster.create_topic("t", (1,)))
            await asyncio.sleep(0)
            await other.multi(usurp)
            await creating
        else:
            await other.multi(usurp)
            await cluster.create_topic("t", (1,))
        await settled()
        assert not service.is_controller
        assert not await cluster.has(topic_nodes.partitions_path("t"))
        assert cluster.brokers.leader_of(1, "t") is None
        await other.close()
        await settled(lambda: cluster.brokers.leader_of(1, "t") is not None)
        assert service.machine.epoch == 3
        assert (await cluster.state("t")).controller_epoch == 3


# Topics


async def test_a_new_topic_gets_leaders_and_then_everyone_hears_of_it() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1):
        del cluster.brokers.requests[:]
        await cluster.create_topic("t", (2, 1), (1, 2))
        await settled()
        assert (await cluster.state("t", 0)).isr == (2, 1)
        assert (await cluster.state("t", 1)).leader == 1
        assert cluster.brokers.leader_of(1, "t", 0) == (2, 0)
        kinds = [type(request) for receiver, request in cluster.brokers.requests if receiver == 2]
        assert kinds == [LeaderAndIsrRequest, UpdateMetadataRequest]
        (request,) = cluster.brokers.sent_to(2, LeaderAndIsrRequest)
        assert all(one.is_new for one in request.topic_states[0].partition_states)


async def test_added_partitions_get_leaders_too() -> None:
    cluster = await Cluster.create(1)
    async with cluster.controller(1):
        await cluster.create_topic("t", (1,))
        await settled()
        grown = TopicAssignment(
            partitions=dict.fromkeys(range(3), PartitionAssignment(replicas=(1,))),
            topic_id=topic_nodes.decode_topic(
                (await cluster.admin.get(topic_nodes.topic_path("t"))).data
            ).topic_id,
        )
        await cluster.admin.set(topic_nodes.topic_path("t"), grown.encode())
        await settled()
        assert [cluster.brokers.leader_of(1, "t", number) for number in range(3)] == [(1, 0)] * 3


async def test_many_topics_are_served(caplog: pytest.LogCaptureFixture) -> None:
    cluster = await Cluster.create(1)
    for number in range(250):
        await cluster.create_topic(f"t{number}", (1,), (1,))
    async with cluster.controller(1) as service:
        await settled(lambda: cluster.brokers.leader_of(1, "t249", 1) is not None)
        assert len(service.machine.cluster.leaders) == 500
    assert caplog.records == [] or all(one.levelname == "INFO" for one in caplog.records)


async def test_what_was_there_before_is_taken_over_as_it_is() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1):
        await cluster.create_topic("t", (1, 2))
        await settled()
    cluster.leave(1)
    del cluster.brokers.requests[:]
    async with cluster.controller(2):
        await settled()
        assert cluster.brokers.leader_of(2, "t") == (2, 1)
        assert (await cluster.state("t")).isr == (2,)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"version":3}'])
async def test_broken_nodes_are_logged_and_left_out(
    data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    cluster = await Cluster.create(1)
    await cluster.admin.create(Create(topic_nodes.topic_path("broken"), data))
    await cluster.admin.create(Create(broker_nodes.IDS_PATH + "/7", data))
    await cluster.admin.create(Create(broker_nodes.IDS_PATH + "/seven", data))
    async with cluster.controller(1):
        await cluster.create_topic("t", (1,))
        await settled()
        assert cluster.brokers.leader_of(1, "t") == (1, 0)
        assert cluster.brokers.leader_of(1, "broken") is None
    assert "Failed to parse topic node broken" in caplog.text
    assert "Failed to parse broker node seven" in caplog.text


async def test_a_broken_state_concerns_only_its_partition(
    caplog: pytest.LogCaptureFixture,
) -> None:
    cluster = await Cluster.create(1)
    await cluster.create_topic("t", (1,), (1,), (1,))
    broken = TopicPartition("t", 1)
    await cluster.admin.multi(
        [
            Create(topic_nodes.partitions_path("t")),
            Create(topic_nodes.partition_path(broken)),
            Create(topic_nodes.state_path(broken), b"?"),
        ]
    )
    async with cluster.controller(1):
        assert cluster.brokers.leader_of(1, "t", 0) == (1, 0)
        assert cluster.brokers.leader_of(1, "t", 1) is None
        assert cluster.brokers.leader_of(1, "t", 2) == (1, 0)
    assert "Failed to parse state of t-1" in caplog.text


async def test_partitions_of_which_a_controller_made_half_the_nodes_get_leaders() -> None:
    cluster = await Cluster.create(1)
    await cluster.create_topic("t", (1,), (1,))
    await cluster.admin.create(Create(topic_nodes.partitions_path("t")))
    await cluster.admin.create(Create(topic_nodes.partition_path(TopicPartition("t", 0))))
    async with cluster.controller(1):
        assert cluster.brokers.leader_of(1, "t", 0) == (1, 0)
        assert cluster.brokers.leader_of(1, "t", 1) == (1, 0)


# Brokers


async def test_a_broker_that_leaves_is_replaced_as_leader() -> None:
    cluster = await Cluster.create(1, 2, 3)
    async with cluster.controller(1):
        await cluster.create_topic("t", (2, 3), (3, 2), (2,))
        await settled()
        cluster.leave(2)
        await settled()
        assert cluster.brokers.leader_of(3, "t", 0) == (3, 1)
        first, second, third = [await cluster.state("t", number) for number in range(3)]
        assert (first.leader, first.isr, first.leader_epoch) == (3, (3,), 1)
        assert (second.leader, second.isr, second.leader_epoch) == (3, (3,), 1)
        assert (third.leader, third.isr, third.leader_epoch) == (-1, (2,), 1)
        last = cluster.brokers.sent_to(3, UpdateMetadataRequest)[-1]
        assert [one.id for one in last.live_brokers] == [1, 3]


async def test_a_broker_that_comes_is_told_everything_and_leads_what_waited_for_it() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1):
        await cluster.create_topic("t", (2,), (1, 2))
        await settled()
        cluster.leave(2)
        await settled()
        assert (await cluster.state("t", 0)).leader == -1
        del cluster.brokers.requests[:]
        await cluster.join(2)
        await settled()
        assert cluster.brokers.leader_of(2, "t", 0) == (2, 2)
        assert cluster.brokers.leader_of(2, "t", 1) == (1, 1)
        first = next(request for receiver, request in cluster.brokers.requests if receiver == 2)
        assert isinstance(first, UpdateMetadataRequest)
        assert [one.id for one in first.live_brokers] == [1, 2]
        last = cluster.brokers.sent_to(1, UpdateMetadataRequest)[-1]
        assert [one.id for one in last.live_brokers] == [1, 2]


async def test_a_broker_that_came_back_unseen_has_lost_its_leaderships() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1):
        await cluster.create_topic("t", (2, 1))
        await settled()
        before = cluster.brokers.sent_to(2, UpdateMetadataRequest)[-1].broker_epoch
        cluster.leave(2)
        await cluster.join(2)
        await settled()
        assert cluster.brokers.sent_to(2, UpdateMetadataRequest)[-1].broker_epoch > before
        state = await cluster.state("t")
        assert (state.leader, state.leader_epoch, state.isr) == (1, 1, (1,))


# Deletion


async def deleted_nodes(cluster: Cluster, topic: str) -> bool:
    return not await cluster.has(topic_nodes.topic_path(topic))


async def test_a_marked_topic_goes_with_its_replicas_and_nodes() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1) as service:
        await cluster.create_topic("t", (1, 2), (2, 1))
        await settled()
        del cluster.brokers.requests[:]
        await cluster.mark_for_deletion("t")
        await settled()
        assert await deleted_nodes(cluster, "t")
        assert not await cluster.has(partition_lists.delete_topic_path("t"))
        assert service.machine.cluster.topics == {}
        for broker in (1, 2):
            kinds = [type(one) for to, one in cluster.brokers.requests if to == broker]
            assert kinds == [UpdateMetadataRequest, StopReplicaRequest]
            (told,) = cluster.brokers.sent_to(broker, UpdateMetadataRequest)
            states = told.topic_states[0].partition_states
            assert {state.leader for state in states} == {LEADER_DURING_DELETE}


async def test_a_topic_with_a_replica_on_a_broker_that_is_away_stays_until_it_is_back() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1):
        await cluster.create_topic("t", (1, 2))
        await settled()
        cluster.leave(2)
        await settled()
        del cluster.brokers.requests[:]
        await cluster.mark_for_deletion("t")
        await settled()
        assert not await deleted_nodes(cluster, "t")
        assert len(cluster.brokers.sent_to(1, StopReplicaRequest)) == 1
        await cluster.join(2)
        await settled()
        assert await deleted_nodes(cluster, "t")
        assert cluster.brokers.leader_of(2, "t") is None


@pytest.mark.parametrize("reason", ["error", "silence"])
async def test_a_topic_whose_replicas_cannot_be_deleted_stays(reason: str) -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1):
        await cluster.create_topic("t", (2,))
        await settled()
        if reason == "error":
            cluster.brokers.stop_error = ErrorCode.KAFKA_STORAGE_ERROR
        else:
            cluster.brokers.unreachable.add(2)
        await cluster.mark_for_deletion("t")
        await settled()
        assert not await deleted_nodes(cluster, "t")
        assert await cluster.has(partition_lists.delete_topic_path("t"))


async def test_a_deletion_is_taken_up_by_the_next_controller() -> None:
    cluster = await Cluster.create(1)
    await cluster.create_topic("t", (1,))
    await cluster.mark_for_deletion("t")
    async with cluster.controller(1) as service:
        assert service.is_controller
        assert await deleted_nodes(cluster, "t")
        assert cluster.brokers.leader_of(1, "t") is None


async def test_a_mark_for_a_topic_that_does_not_exist_is_removed() -> None:
    cluster = await Cluster.create(1)
    async with cluster.controller(1):
        await cluster.mark_for_deletion("nothing")
        await settled()
        assert not await cluster.has(partition_lists.delete_topic_path("nothing"))
