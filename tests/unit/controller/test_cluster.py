"""The controller's picture of the cluster."""

from moldau.controller.cluster import (
    ClusterPicture,
    LeaderIsr,
    LiveBroker,
    ReplicaAssignment,
    Topic,
)
from moldau.model import TopicPartition


def cluster() -> ClusterPicture:
    made = ClusterPicture(brokers={1: LiveBroker(1, 7, ()), 2: LiveBroker(2, 8, ())}, stopping={2})
    made.topics["t"] = Topic(None, {0: ReplicaAssignment((1, 2)), 1: ReplicaAssignment((2, 1))})
    made.leaders[TopicPartition("t", 0)] = LeaderIsr(1, 0, (1, 2), 1)
    made.deleting["t"] = None
    return made


def test_partitions_are_listed_by_topic() -> None:
    expected = [TopicPartition("t", 0), TopicPartition("t", 1)]
    assert list(cluster().partitions()) == expected
    assert cluster().partitions_of("t") == expected
    assert cluster().partitions_of("u") == []
    assert cluster().assignment(expected[1]).replicas == (2, 1)


def test_a_stopping_broker_is_live_but_not_available() -> None:
    made = cluster()
    assert made.candidates(TopicPartition("t", 0)) == {1}
    assert made.is_online(2, TopicPartition("t", 0))


def test_a_forgotten_topic_leaves_nothing_behind() -> None:
    made = cluster()
    made.failed[1] = {TopicPartition("t", 0): None}
    made.forget("t")
    made.forget("never there")
    assert (made.topics, made.leaders, made.deleting) == ({}, {}, {})
    assert made.failed == {1: {}}


def test_replicas_out_of_sync_are_found_where_there_is_a_state() -> None:
    made = cluster()
    first = TopicPartition("t", 0)
    assert made.out_of_sync_on([1, 2]) == []
    made.leaders[first] = LeaderIsr(1, 0, (1,), 1)
    assert made.out_of_sync_on([1, 2]) == made.out_of_sync_on([2]) == [first]
    assert made.out_of_sync_on([1]) == []


def test_a_state_that_was_just_created_has_version_0() -> None:
    assert LeaderIsr(1, 0, (1,), 1).zk_version == 0


def test_a_leader_that_returned_counts_until_its_lead_is_written_anew() -> None:
    made, first, state = cluster(), TopicPartition("t", 0), LeaderIsr(1, 0, (1, 2), 1)
    made.note_state(first, state, written_at=6)
    assert list(made.returned) == [first]
    made.note_state(first, state, written_at=8)
    assert list(made.returned) == []
