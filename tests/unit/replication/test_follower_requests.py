"""A follower's requests, and the answers taken apart."""

import pytest

from moldau.log.leader_epochs import EpochEnd
from moldau.model import TopicPartition
from moldau.protocol.messages.fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from moldau.protocol.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from moldau.protocol.messages.offset_for_leader_epoch import EpochEndOffset as EpochEndAnswer
from moldau.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)
from moldau.replication import follower_requests
from moldau.replication.fetch_session import Key
from moldau.replication.fetcher import FetchPhase, Following
from unit.replication.replica_set import T0, ReplicaSet


def following() -> Following:
    """A partition with a record of epoch 0, followed in epoch 4."""
    replicas = ReplicaSet(count=2)
    replicas.append(1, b"v")
    replicas.settle()
    return Following(replicas.members[2].partition, 4, FetchPhase.TRUNCATING)


def test_the_newest_epoch_of_each_log_is_asked_for() -> None:
    request = follower_requests.epoch_ends_request([following()], 7)
    assert request.replica_id == 7
    (topic,) = request.topics
    (partition,) = topic.partitions
    assert (topic.topic, partition.partition) == T0
    assert (partition.current_leader_epoch, partition.leader_epoch) == (4, 0)


def test_the_answer_about_epochs_is_by_partition() -> None:
    end = EpochEndAnswer(error_code=3, partition=2, leader_epoch=1, end_offset=9)
    topics = [OffsetForLeaderTopicResult(topic="t", partitions=[end])]
    response = OffsetForLeaderEpochResponse(topics=topics)
    assert list(follower_requests.epoch_ends(response)) == [
        (TopicPartition("t", 2), 3, EpochEnd(1, 9))
    ]


@pytest.mark.parametrize(
    ("end", "timestamp"), [(follower_requests.EARLIEST, -2), (follower_requests.LATEST, -1)]
)
def test_either_end_of_a_log_is_asked_for_in_the_epoch_that_is_known(
    end: int, timestamp: int
) -> None:
    request = follower_requests.offsets_request([following()], 7, end)
    (partition,) = request.topics[0].partitions
    assert (request.replica_id, request.topics[0].name) == (7, "t")
    assert (partition.current_leader_epoch, partition.timestamp) == (4, timestamp)


def test_a_fetch_says_where_the_log_ends_and_in_which_epoch() -> None:
    followed = following()
    assert follower_requests.wanted(followed, 100) == (4, 1, 0, 0, 100)
    assert follower_requests.wanted(followed, 100, says_epoch=False) == (4, 1, -1, 0, 100)


def test_the_answer_about_offsets_is_by_partition() -> None:
    found = ListOffsetsPartitionResponse(partition_index=2, error_code=0, offset=5)
    topics = [ListOffsetsTopicResponse(name="t", partitions=[found])]
    response = ListOffsetsResponse(topics=topics)
    assert list(follower_requests.offsets(response)) == [(TopicPartition("t", 2), 0, 5)]


def data(diverging_epoch: EpochEndOffset | None = None) -> PartitionData:
    return PartitionData(
        partition_index=1,
        error_code=0,
        high_watermark=3,
        log_start_offset=2,
        diverging_epoch=diverging_epoch,
        records=None,
    )


def test_what_was_sent_is_found_by_name_or_by_id() -> None:
    by_name = FetchableTopicResponse(topic="t", partitions=[data()])
    by_id = FetchableTopicResponse(topic_id=b"i" * 16, partitions=[data()])
    response = FetchResponse(responses=[by_name, by_id])
    assert [key for key, _ in follower_requests.fetched(response)] == [
        Key("t", 1),
        Key(b"i" * 16, 1),
    ]


def test_nothing_sent_is_an_empty_answer() -> None:
    answer = follower_requests.answer(data(), 5)
    assert (answer.fetch_offset, answer.records, answer.high_watermark) == (5, b"", 3)
    assert (answer.log_start_offset, answer.diverging) == (2, None)


def test_a_leader_may_say_where_the_logs_part() -> None:
    parted = data(EpochEndOffset(epoch=1, end_offset=8))
    assert follower_requests.answer(parted, 5).diverging == EpochEnd(1, 8)
