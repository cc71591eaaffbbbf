"""A follower's requests to its leader, made from what it follows, and the answers taken apart."""

from collections.abc import Iterable, Iterator

from moldau.log.leader_epochs import EpochEnd
from moldau.model import NO_LEADER_EPOCH, TopicPartition
from moldau.protocol.messages.fetch import FetchResponse, PartitionData
from moldau.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from moldau.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from moldau.protocol.primitives import NO_UUID
from moldau.replication.fetch_session import FetchPosition, Key
from moldau.replication.fetcher import Following, LeaderAnswer
from moldau.runtime.file_range import FileRange

LATEST = -1
EARLIEST = -2


def epoch_ends_request(asked: Iterable[Following], replica_id: int) -> OffsetForLeaderEpochRequest:
    """Where did the newest epoch of each of these logs end at the leader?"""
    topics = {
        topic: OffsetForLeaderTopic(
            topic=topic,
            partitions=[
                OffsetForLeaderPartition(
                    partition=one.name.partition,
                    current_leader_epoch=one.leader_epoch,
                    leader_epoch=one.last_epoch,
                )
                for one in some
            ],
        )
        for topic, some in _by_topic(asked).items()
    }
    return OffsetForLeaderEpochRequest(replica_id=replica_id, topics=list(topics.values()))


def epoch_ends(
    response: OffsetForLeaderEpochResponse,
) -> Iterator[tuple[TopicPartition, int, EpochEnd]]:
    """Partition, error code and answer."""
    for topic in response.topics:
        for end in topic.partitions:
            name = TopicPartition(topic.topic, end.partition)
            yield name, end.error_code, EpochEnd(end.leader_epoch, end.end_offset)


def offsets_request(
    asked: Iterable[Following], replica_id: int, timestamp: int
) -> ListOffsetsRequest:
    """Where does the leader's log of each of these begin, or end?"""
    topics = [
        ListOffsetsTopic(
            name=topic,
            partitions=[
                ListOffsetsPartition(
                    partition_index=one.name.partition,
                    current_leader_epoch=one.leader_epoch,
                    timestamp=timestamp,
                )
                for one in some
            ],
        )
        for topic, some in _by_topic(asked).items()
    ]
    return ListOffsetsRequest(replica_id=replica_id, topics=topics)


def offsets(response: ListOffsetsResponse) -> Iterator[tuple[TopicPartition, int, int]]:
    """Partition, error code and offset."""
    for topic in response.topics:
        for found in topic.partitions:
            name = TopicPartition(topic.name, found.partition_index)
            yield name, found.error_code, found.offset


def wanted(following: Following, max_bytes: int, *, says_epoch: bool = True) -> FetchPosition:
    """From where a partition is to be fetched; `says_epoch`: also the epoch of what is there."""
    log = following.partition.log
    return FetchPosition(
        following.leader_epoch,
        log.segments.end_offset,
        following.last_epoch if says_epoch else NO_LEADER_EPOCH,
        log.log_start_offset,
        max_bytes,
    )


def fetched(response: FetchResponse) -> Iterator[tuple[Key, PartitionData]]:
    """What was sent, by the names that the request used."""
    for topic in response.responses:
        name: str | bytes = topic.topic if topic.topic_id == NO_UUID else topic.topic_id
        for data in topic.partitions:
            yield Key(name, data.partition_index), data


def answer(data: PartitionData, fetch_offset: int) -> LeaderAnswer:
    """What a partition's part of a response says."""
    diverging, records = data.diverging_epoch, data.records or b""
    assert not isinstance(records, FileRange), "what was received is in memory"
    return LeaderAnswer(
        fetch_offset,
        records,
        data.high_watermark,
        data.log_start_offset,
        None if diverging is None else EpochEnd(diverging.epoch, diverging.end_offset),
    )


def _by_topic(asked: Iterable[Following]) -> dict[str, list[Following]]:
    topics: dict[str, list[Following]] = {}
    for one in asked:
        topics.setdefault(one.name.topic, []).append(one)
    return topics
