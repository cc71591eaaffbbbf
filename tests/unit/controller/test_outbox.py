"""The outbox: requests by broker, for live brokers only."""

from moldau.controller.cluster import Assignment, Cluster, LeaderIsr, Listening, LiveBroker, Topic
from moldau.controller.outbox import Outbox, Stop
from moldau.metadata.image import LEADER_DURING_DELETE
from moldau.model import TopicPartition
from moldau.protocol.codec import decode, encode
from moldau.protocol.messages.leader_and_isr import LeaderAndIsrRequest
from moldau.protocol.messages.stop_replica import StopReplicaRequest
from moldau.protocol.messages.update_metadata import UpdateMetadataRequest

T0 = TopicPartition("t", 0)


def outbox() -> tuple[Cluster, Outbox]:
    endpoint = Listening("PLAINTEXT", "h", 9092, 0)
    cluster = Cluster(brokers={1: LiveBroker(1, 7, (endpoint,), "r1")})
    cluster.topics["t"] = Topic(b"i" * 16, {0: Assignment((1, 2))})
    cluster.leaders[T0] = LeaderIsr(1, 3, (1,), 4, zk_version=9)
    return cluster, Outbox(cluster, controller_id=1, controller_epoch=5)


def test_nothing_is_sent_to_brokers_that_are_not_live() -> None:
    _, made = outbox()
    made.tell_leader([2], T0)
    made.tell_metadata([2], [T0])
    made.tell_stop([2], T0, Stop(3, is_deletion=True))
    assert made.letters() == []


def test_metadata_names_leaders_replicas_and_brokers() -> None:
    _, made = outbox()
    made.tell_metadata([1], [T0])
    (letter,) = made.letters()
    request = letter.request
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
    made.tell_metadata([1], [T0])
    (letter,) = made.letters()
    assert isinstance(letter.request, UpdateMetadataRequest)
    (state,) = letter.request.topic_states[0].partition_states
    assert state.leader == LEADER_DURING_DELETE


def test_a_partition_without_a_state_is_not_told() -> None:
    cluster, made = outbox()
    cluster.leaders.clear()
    made.tell_metadata([1], [T0])
    (letter,) = made.letters()
    assert isinstance(letter.request, UpdateMetadataRequest)
    assert letter.request.topic_states == []


def test_every_request_can_be_sent_in_its_oldest_and_newest_layout_with_topics() -> None:
    _, made = outbox()
    made.tell_leader([1], T0, is_new=True)
    made.tell_stop([1], T0, Stop(3, is_deletion=True))
    leader_and_isr, stop = (letter.request for letter in made.letters())
    for request, versions in ((leader_and_isr, (2, 7)), (stop, (3, 4))):
        for version in versions:
            copy, _ = decode(type(request), version, encode(request, version))
            assert type(copy) is type(request)
    assert isinstance(leader_and_isr, LeaderAndIsrRequest)
    assert leader_and_isr.live_leaders[0].host_name == "h"
    assert isinstance(stop, StopReplicaRequest)
    assert stop.topic_states[0].partition_states[0].delete_partition
