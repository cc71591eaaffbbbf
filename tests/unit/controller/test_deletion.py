"""Deletion step by step; how it goes with brokers and time is in test_service.py."""

from moldau.controller.cluster import (
    ClusterPicture,
    LeaderIsr,
    LiveBroker,
    ReplicaAssignment,
    Topic,
)
from moldau.controller.deletion import Deletions, nodes_of
from moldau.controller.outbox import Outbox
from moldau.errors import ErrorCode
from moldau.metadata.image import EPOCH_DURING_DELETE, LEADER_DURING_DELETE
from moldau.model import TopicPartition
from moldau.protocol.messages.stop_replica import (
    StopReplicaPartitionError,
    StopReplicaRequest,
    StopReplicaResponse,
)
from moldau.protocol.messages.update_metadata import UpdateMetadataRequest

T0 = TopicPartition("t", 0)


def deletions(*live: int) -> tuple[ClusterPicture, Outbox, Deletions]:
    cluster = ClusterPicture(brokers={one: LiveBroker(one, 1, ()) for one in live})
    cluster.topics["t"] = Topic(b"i" * 16, {0: ReplicaAssignment((1, 2))})
    cluster.leaders[T0] = LeaderIsr(1, 0, (1, 2), 1)
    cluster.deleting["t"] = None
    outbox = Outbox(cluster, controller_id=1, controller_epoch=1)
    return cluster, outbox, Deletions(cluster, outbox)


def answer(code: ErrorCode, top: ErrorCode = ErrorCode.NONE) -> StopReplicaResponse:
    error = StopReplicaPartitionError(topic_name="t", partition_index=0, error_code=code)
    return StopReplicaResponse(error_code=top, partition_errors=[error])


def test_everyone_forgets_and_replicas_are_deleted_whatever_their_epoch() -> None:
    _, outbox, made = deletions(1, 2, 3)
    made.begin()
    metadata, stop = (one.message for one in outbox.requests(1))
    assert isinstance(metadata, UpdateMetadataRequest)
    assert metadata.topic_states[0].partition_states[0].leader == LEADER_DURING_DELETE
    assert isinstance(stop, StopReplicaRequest)
    (state,) = stop.topic_states[0].partition_states
    assert (state.leader_epoch, state.delete_partition) == (EPOCH_DURING_DELETE, True)
    assert [type(one.message) for one in outbox.requests(3)] == [UpdateMetadataRequest]


def test_a_topic_is_finished_when_every_replica_has_gone() -> None:
    cluster, outbox, made = deletions(1, 2)
    made.note_answer(1, answer(ErrorCode.NONE))
    assert made.finished() == []
    made.begin()
    outbox.requests(2)
    assert [type(one.message) for one in outbox.requests(1)] == [UpdateMetadataRequest]
    made.note_answer(2, answer(ErrorCode.NONE))
    assert made.finished() == ["t"]
    made.forget("t")
    assert (cluster.topics, cluster.deleting, cluster.leaders) == ({}, {}, {})
    assert made.finished() == []


def test_a_refusal_keeps_the_topic() -> None:
    _, _, made = deletions(1, 2)
    made.note_answer(1, answer(ErrorCode.NONE, top=ErrorCode.STALE_CONTROLLER_EPOCH))
    made.note_answer(2, answer(ErrorCode.KAFKA_STORAGE_ERROR))
    assert made.finished() == []


def test_answers_about_topics_that_stay_are_of_no_interest() -> None:
    cluster, _, made = deletions(1, 2)
    cluster.deleting.clear()
    made.note_answer(1, answer(ErrorCode.NONE))
    cluster.deleting["t"] = None
    made.note_answer(2, answer(ErrorCode.NONE))
    assert made.finished() == []


def test_a_broker_that_is_away_holds_its_topics_up() -> None:
    cluster, _, made = deletions(1)
    assert not made.is_under_way("t")
    cluster.brokers[2] = LiveBroker(2, 2, ())
    assert made.is_under_way("t")
    assert not made.is_under_way("other")


def test_the_mark_of_a_deletion_is_the_last_node_to_go() -> None:
    paths = nodes_of("t", [T0])
    assert paths[-1] == "/admin/delete_topics/t"
    assert paths.index("/brokers/topics/t/partitions/0/state") < paths.index("/brokers/topics/t")


def test_a_refused_request_says_nothing_of_its_partitions() -> None:
    _, _, made = deletions(1, 2)
    for broker in (1, 2):
        made.note_answer(broker, answer(ErrorCode.NONE, top=ErrorCode.STALE_BROKER_EPOCH))
    assert made.finished() == []


def test_a_topic_that_is_made_anew_has_its_replicas_before_it() -> None:
    cluster, _, made = deletions(1, 2)
    for broker in (1, 2):
        made.note_answer(broker, answer(ErrorCode.NONE))
    cluster.topics["u"] = Topic(b"u" * 16, {0: ReplicaAssignment((1,))})
    cluster.deleting["u"] = None
    made.forget("u")
    assert made.finished() == ["t"], "of which nothing is forgotten with another one"
    made.forget("t")
    cluster.topics["t"] = Topic(b"j" * 16, {0: ReplicaAssignment((1, 2))})
    cluster.deleting["t"] = None
    assert made.finished() == []
