"""A term of office: answers to requests, in-sync sets, failed directories, conflicts."""

import pytest

from moldau.controller.outbox import BrokerRequest
from moldau.controller.senders import errors_of
from moldau.controller.service import ControllerService
from moldau.coordination.layout import log_dirs as log_dir_nodes
from moldau.coordination.layout import partitions as partition_lists
from moldau.coordination.tree import Create
from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
    LeaderAndIsrTopicState,
)
from moldau.protocol.messages.stop_replica import StopReplicaRequest
from moldau.protocol.messages.update_metadata import UpdateMetadataRequest
from unit.controller.brokers import Cluster, settled

T0 = TopicPartition("t", 0)
STORAGE = ErrorCode.KAFKA_STORAGE_ERROR


def request_for(*topics: str) -> LeaderAndIsrRequest:
    state = LeaderAndIsrPartitionState(
        partition_index=0,
        controller_epoch=1,
        leader=1,
        leader_epoch=0,
        isr=[1],
        partition_epoch=0,
        replicas=[1],
    )
    states = [
        LeaderAndIsrTopicState(
            topic_name=name, topic_id=name.encode() * 16, partition_states=[state]
        )
        for name in topics
    ]
    return LeaderAndIsrRequest(
        controller_id=1, controller_epoch=1, topic_states=states, live_leaders=[]
    )


def test_answers_name_topics_by_name_or_by_id() -> None:
    by_name = LeaderAndIsrPartitionError(topic_name="a", partition_index=0, error_code=STORAGE)
    old = LeaderAndIsrResponse(error_code=ErrorCode.NONE, partition_errors=[by_name])
    assert errors_of(request_for("a"), old) == {TopicPartition("a", 0): STORAGE}
    topics = [
        LeaderAndIsrTopicError(topic_id=one.encode() * 16, partition_errors=[by_name])
        for one in ("b", "c")
    ]
    new = LeaderAndIsrResponse(error_code=ErrorCode.NONE, topics=topics)
    assert errors_of(request_for("a", "b"), new) == {TopicPartition("b", 0): STORAGE}


async def test_changed_in_sync_sets_are_told_and_their_notices_removed() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1) as service:
        await cluster.create_topic("t", (1, 2))
        await settled()
        await cluster.write_isr("t", 1)
        for data in (partition_lists.encode_partitions([T0, TopicPartition("x", 0)]), b"?"):
            notice = Create(partition_lists.ISR_CHANGE_PREFIX, data, is_sequential=True)
            await cluster.admin.create(notice)
        await settled()
        assert service.machine.cluster.leaders[T0].isr == (1,)
        told = cluster.brokers.sent_to(2, UpdateMetadataRequest)[-1]
        assert told.topic_states[0].partition_states[0].isr == [1]
        assert await cluster.admin.children(partition_lists.ISR_CHANGES_PATH) == []


async def test_an_election_goes_by_what_the_leader_has_written_last() -> None:
    cluster = await Cluster.create(1, 2, 3)
    async with cluster.controller(1):
        await cluster.create_topic("t", (2, 1, 3))
        await settled()
        await cluster.write_isr("t", 2, 3)
        cluster.leave(2)
        await settled()
        state = await cluster.state("t")
        assert (state.leader, state.isr, state.leader_epoch) == (3, (3,), 1)


async def test_failed_directories_cost_leaderships() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1) as service:
        await cluster.create_topic("t", (2, 1))
        await settled()
        del cluster.brokers.requests[:]
        failure = log_dir_nodes.encode_log_dir_failure(2)
        for data in (failure, b"?"):
            notice = Create(log_dir_nodes.EVENT_PREFIX, data, is_sequential=True)
            await cluster.admin.create(notice)
        await settled()
        (request,) = cluster.brokers.sent_to(2, LeaderAndIsrRequest)
        assert await cluster.admin.children(log_dir_nodes.EVENTS_PATH) == []
        answer_with(service, request)
        await settled()
        state = await cluster.state("t")
        assert (state.leader, state.isr) == (1, (1,))


def answer_with(service: ControllerService, request: LeaderAndIsrRequest) -> None:
    topic = LeaderAndIsrTopicError(
        topic_id=request.topic_states[0].topic_id,
        partition_errors=[LeaderAndIsrPartitionError(partition_index=0, error_code=STORAGE)],
    )
    answer = LeaderAndIsrResponse(error_code=ErrorCode.NONE, topics=[topic])
    term = service._term
    assert term is not None
    term.note_answer(BrokerRequest(2, request), answer)


async def test_a_broker_that_is_about_to_stop_leads_nothing_and_stops_following() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1) as service:
        await cluster.create_topic("t", (2, 1), (1, 2), (2,))
        await settled()
        assert await service.perform(lambda term: term.shut_down(2)) == []
        await settled()
        states = [await cluster.state("t", number) for number in range(3)]
        assert [(one.leader, one.isr) for one in states] == [(1, (1,)), (1, (1,)), (2, (2,))]
        (stop,) = cluster.brokers.sent_to(2, StopReplicaRequest)
        stopped = stop.topic_states[0].partition_states
        assert [one.partition_index for one in stopped] == [0, 1]
        assert not any(one.delete_partition for one in stopped)


async def test_what_nobody_else_can_lead_remains_with_the_stopping_broker() -> None:
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1) as service:
        await cluster.create_topic("t", (2, 1))
        await settled()
        await cluster.write_isr("t", 2)
        assert await service.perform(lambda term: term.shut_down(2)) == [T0]


@pytest.mark.parametrize("way", ["stops", "dies", "disk fails"])
async def test_who_goes_leaves_in_sync_sets_that_the_controller_has_not_heard_of_yet(
    way: str,
) -> None:
    """Else nothing is acknowledged until the leader has missed it for long enough."""
    cluster = await Cluster.create(1, 2)
    async with cluster.controller(1) as service:
        await cluster.create_topic("t", (1, 2))
        await settled()
        cluster.leave(2)
        await settled()
        await cluster.join(2)
        await settled()
        assert service.machine.cluster.leaders[T0].isr == (1,)
        await cluster.write_isr("t", 1, 2)
        if way == "stops":
            await service.perform(lambda term: term.shut_down(2))
        elif way == "dies":
            cluster.leave(2)
        else:
            answer_with(service, cluster.brokers.sent_to(2, LeaderAndIsrRequest)[-1])
        await settled()
        state = await cluster.state("t")
        assert (state.leader, state.isr) == (1, (1,))
