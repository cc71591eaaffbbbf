"""The outbox: requests by broker, for live brokers only."""

from moldau.controller.cluster import (
    ClusterPicture,
    LeaderIsr,
    Listening,
    LiveBroker,
    ReplicaAssignment,
    Topic,
)
from moldau.controller.outbox import Outbox, ReplicaStop
from moldau.metadata.image import LEADER_DURING_DELETE
from moldau.model import TopicPartition
from moldau.protocol.codec import decode, encode
from moldau.protocol.messages.leader_and_isr import LeaderAndIsrRequest
from moldau.protocol.messages.stop_replica import StopReplicaRequest
from moldau.protocol.messages.update_metadata import UpdateMetadataRequest

T0 = TopicPartition("t", 0)


def outbox() -> tuple[ClusterPicture, Outbox]:
    endpoint = Listening("PLAINTEXT", "h", 9092, 0)
    cluster = ClusterPicture(brokers={1: LiveBroker(1, 7, (endpoint,), "r1")})
    cluster.topics["t"] = Topic(b"i" * 16, {0: ReplicaAssignment((1, 2))})
    cluster.leaders[T0] = LeaderIsr(1, 3, (1,), 4, zk_version=9)
    return cluster, Outbox(cluster, controller_id=1, controller_epoch=5)


def test_nothing_is_sent_to_brokers_that_are_not_live() -> None:
    _, made = outbox()
    made.add_leader_and_isr([2], T0)
    made.add_update_metadata([2], [T0])
    made.add_stop_replica([2], T0, ReplicaStop(3, is_deletion=True))
    assert made.waiting() == []


def test_what_was_to_be_told_goes_with_its_broker() -> None:
    _, made = outbox()
    made.add_live_brokers([1])
    assert made.waiting() == [1]
    made.drop(1)
    made.drop(9)
    assert made.waiting() == []
    assert made.requests(1) == []


def test_brokers_are_told_first_and_stops_last() -> None:
    _, made = outbox()
    other = TopicPartition("t", 1)
    made.add_stop_replica([1], T0, ReplicaStop(3, is_deletion=True))
    made.add_stop_replica([1], other, ReplicaStop(3, is_deletion=False))
    made.add_update_metadata([1], [T0])
    made.add_live_brokers([1])
    requests = [one.message for one in made.requests(1)]
    assert [type(one) for one in requests] == [
        UpdateMetadataRequest,
        UpdateMetadataRequest,
        StopReplicaRequest,
        StopReplicaRequest,
    ]
    first, second, *stops = requests
    assert isinstance(first, UpdateMetadataRequest)
    assert isinstance(second, UpdateMetadataRequest)
    assert (len(first.topic_states), len(second.topic_states)) == (0, 1)
    deletions = [
        state.delete_partition
        for stop in stops
        if isinstance(stop, StopReplicaRequest)
        for topic in stop.topic_states
        for state in topic.partition_states
    ]
    assert deletions == [False, True]


def test_a_newcomer_hears_of_all_topics_with_the_first_word() -> None:
    """Else it would know brokers, and answer clients that there are no such topics."""
    _, made = outbox()
    made.add_leader_and_isr([1], T0)
    made.add_everything([1])
    metadata, leaders = [one.message for one in made.requests(1)]
    assert isinstance(metadata, UpdateMetadataRequest)
    assert [one.id for one in metadata.live_brokers] == [1]
    assert [one.topic_name for one in metadata.topic_states] == ["t"]
    assert isinstance(leaders, LeaderAndIsrRequest)
    # From then on leaders are told before clients hear of them.
    made.add_update_metadata([1], [T0])
    made.add_leader_and_isr([1], T0)
    kinds = [type(one.message) for one in made.requests(1)]
    assert kinds == [LeaderAndIsrRequest, UpdateMetadataRequest]


def test_a_slow_broker_hears_the_latest_once() -> None:
    cluster, made = outbox()
    made.add_leader_and_isr([1], T0, is_new=True)
    cluster.leaders[T0] = LeaderIsr(2, 4, (2,), 5)
    made.add_leader_and_isr([1], T0)
    (one,) = made.requests(1)
    assert isinstance(one.message, LeaderAndIsrRequest)
    (state,) = one.message.topic_states[0].partition_states
    assert (state.leader, state.leader_epoch, state.is_new) == (2, 4, True)


def test_of_leading_and_stopping_the_later_word_counts() -> None:
    _, made = outbox()
    made.add_stop_replica([1], T0, ReplicaStop(3, is_deletion=True))
    made.add_leader_and_isr([1], T0)
    assert [type(one.message) for one in made.requests(1)] == [LeaderAndIsrRequest]
    made.add_leader_and_isr([1], T0)
    made.add_stop_replica([1], T0, ReplicaStop(3, is_deletion=True))
    assert [type(one.message) for one in made.requests(1)] == [StopReplicaRequest]


def test_leaders_are_found_by_the_listener_of_brokers() -> None:
    cluster, _ = outbox()
    both = (Listening("OUT", "o", 1, 0), Listening("IN", "i", 2, 0))
    cluster.brokers[1] = LiveBroker(1, 7, both)
    made = Outbox(cluster, controller_id=1, controller_epoch=5, listener="IN")
    made.add_leader_and_isr([1], T0)
    (one,) = made.requests(1)
    assert isinstance(one.message, LeaderAndIsrRequest)
    assert [leader.host_name for leader in one.message.live_leaders] == ["i"]


def test_metadata_names_leaders_replicas_and_brokers() -> None:
    _, made = outbox()
    made.add_update_metadata([1], [T0])
    (one,) = made.requests(1)
    request = one.message
    assert isinstance(request, UpdateMetadataRequest)
    state = request.topic_states[0].partition_states[0]
    assert (state.leader, state.leader_epoch, state.isr, state.zk_version) == (1, 3, [1], 9)
    assert (state.replicas, state.offline_replicas) == ([1, 2], [2])
    assert request.broker_epoch == 7
    assert request.live_brokers[0].rack == "r1"
    assert request.live_brokers[0].endpoints[0].listener == "PLAINTEXT"


def test_a_topic_that_is_being_deleted_is_told_as_gone() -> None:
    cluster, made = outbox()
    cluster.deleting["t"] = None
    made.add_update_metadata([1], [T0])
    (one,) = made.requests(1)
    assert isinstance(one.message, UpdateMetadataRequest)
    (state,) = one.message.topic_states[0].partition_states
    assert state.leader == LEADER_DURING_DELETE


def test_a_partition_without_a_state_is_not_told() -> None:
    cluster, made = outbox()
    cluster.leaders.clear()
    made.add_update_metadata([1], [T0])
    assert made.requests(1) == []


def test_every_request_can_be_sent_in_its_oldest_and_newest_layout_with_topics() -> None:
    _, made = outbox()
    made.add_leader_and_isr([1], T0, is_new=True)
    made.add_stop_replica([1], TopicPartition("t", 1), ReplicaStop(3, is_deletion=True))
    leader_and_isr, stop = (one.message for one in made.requests(1))
    for request, versions in ((leader_and_isr, (2, 7)), (stop, (3, 4))):
        for version in versions:
            copy, _ = decode(type(request), version, encode(request, version))
            assert type(copy) is type(request)
    assert isinstance(leader_and_isr, LeaderAndIsrRequest)
    assert leader_and_isr.live_leaders[0].host_name == "h"
    assert isinstance(stop, StopReplicaRequest)
    assert stop.topic_states[0].partition_states[0].delete_partition


def test_replicas_are_not_new_unless_it_is_said() -> None:
    _, made = outbox()
    made.add_leader_and_isr([1], T0)
    (request,) = [
        one.message for one in made.requests(1) if isinstance(one.message, LeaderAndIsrRequest)
    ]
    assert not request.topic_states[0].partition_states[0].is_new


def test_replicas_in_a_failed_directory_are_offline() -> None:
    cluster, made = outbox()
    cluster.brokers[2] = cluster.brokers[1]._replace(id=2)
    cluster.failed[2] = {T0: None}
    made.add_update_metadata([1], [T0])
    (state,) = [
        state
        for one in made.requests(1)
        if isinstance(one.message, UpdateMetadataRequest)
        for topic in one.message.topic_states
        for state in topic.partition_states
    ]
    assert state.offline_replicas == [2]


def test_nothing_is_kept_of_a_topic_that_is_deleted() -> None:
    cluster, made = outbox()
    cluster.deleting["t"] = None
    made.add_update_metadata([1], [T0])
    assert made.requests(1)
    assert made._made == {}
