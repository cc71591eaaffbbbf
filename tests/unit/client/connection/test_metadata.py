"""What a client knows of the cluster."""

import pytest

from moldau.client.connection.metadata import ClusterMetadata
from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

T0 = TopicPartition("t", 0)


def answer(leader: int = 1, epoch: int = 5, error: ErrorCode = ErrorCode.NONE) -> MetadataResponse:
    partition = MetadataResponsePartition(
        error_code=0,
        partition_index=0,
        leader_id=leader,
        leader_epoch=epoch,
        replica_nodes=[1],
        isr_nodes=[1],
    )
    partitions = [] if error else [partition]
    return MetadataResponse(
        brokers=[MetadataResponseBroker(node_id=node, host="h", port=node) for node in (1, 2)],
        controller_id=2,
        cluster_id="c",
        topics=[MetadataResponseTopic(error_code=error, name="t", partitions=partitions)],
    )


@pytest.fixture
def metadata() -> ClusterMetadata:
    known = ClusterMetadata(age_max_ms=1000)
    known.update(answer(), now_ms=0)
    return known


def test_nothing_is_known_before_an_answer() -> None:
    metadata = ClusterMetadata(age_max_ms=1000)
    assert metadata.is_stale([], now_ms=0)
    assert metadata.leader_of(T0) is None
    assert metadata.leader_epoch_of(T0) == -1
    assert metadata.partitions_of("t") == []


def test_an_answer_tells_who_leads(metadata: ClusterMetadata) -> None:
    assert metadata.leader_of(T0) == 1
    assert metadata.leader_epoch_of(T0) == 5
    assert metadata.partitions_of("t") == [0]
    assert metadata.controller_id == 2
    assert metadata.cluster_id == "c"
    assert not metadata.is_stale(["t"], now_ms=999)


def test_a_topic_that_was_created_again_begins_with_its_own_epochs(
    metadata: ClusterMetadata,
) -> None:
    for number, (leader, epoch) in enumerate([(1, 5), (2, 0), (1, 1)]):
        again = answer(leader, epoch)
        again.topics[0].topic_id = bytes(15) + bytes([1 + min(number, 1)])
        metadata.update(again, now_ms=0)
        assert metadata.leader_of(T0) == leader
        assert metadata.leader_epoch_of(T0) == epoch
    assert metadata.names_by_id == {bytes(15) + b"\x02": "t"}


def test_age_and_unknown_topics_make_it_stale(metadata: ClusterMetadata) -> None:
    assert metadata.is_stale(["t"], now_ms=1000)
    assert metadata.is_stale(["other"], now_ms=0)


def test_a_leader_in_doubt_is_none_until_the_next_answer(metadata: ClusterMetadata) -> None:
    metadata.doubt(T0)
    assert metadata.leader_of(T0) is None
    assert metadata.is_stale(["t"], now_ms=0)
    metadata.update(answer(leader=2, epoch=6), now_ms=0)
    assert metadata.leader_of(T0) == 2


def test_doubt_about_the_unknown_asks_again(metadata: ClusterMetadata) -> None:
    metadata.doubt(TopicPartition("other", 7))
    assert metadata.is_stale(["t"], now_ms=0)
    assert metadata.partitions_of("other") == []


def test_a_broker_that_lags_behind_does_not_bring_back_an_old_leader(
    metadata: ClusterMetadata,
) -> None:
    metadata.update(answer(leader=2, epoch=4), now_ms=0)
    assert metadata.leader_of(T0) is None
    assert metadata.leader_epoch_of(T0) == 5
    assert metadata.is_stale(["t"], now_ms=0)


def test_a_leader_that_is_no_broker_of_the_cluster_is_none(metadata: ClusterMetadata) -> None:
    metadata.update(answer(leader=9, epoch=6), now_ms=0)
    assert metadata.leader_of(T0) is None


def test_a_topic_without_a_name_is_passed_over(metadata: ClusterMetadata) -> None:
    unnamed = answer()
    unnamed.topics[0].name = None
    metadata.update(unnamed, now_ms=0)
    assert list(metadata.topics) == ["t"]


def test_a_passing_error_keeps_what_was_known(metadata: ClusterMetadata) -> None:
    metadata.update(answer(error=ErrorCode.LEADER_NOT_AVAILABLE), now_ms=0)
    assert metadata.partitions_of("t") == [0]
    metadata.update(answer(error=ErrorCode.TOPIC_AUTHORIZATION_FAILED), now_ms=0)
    assert metadata.partitions_of("t") == []
