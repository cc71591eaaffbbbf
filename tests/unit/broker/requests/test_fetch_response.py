"""The message that answers a Fetch request."""

from moldau.broker.requests.fetch_request import PartitionKey, Wanted
from moldau.broker.requests.fetch_response import ResponseBuilder
from moldau.broker.requests.reads import PartitionRead
from moldau.errors import ErrorCode, KafkaError
from moldau.log.leader_epochs import EpochEnd
from moldau.log.transaction_index import AbortedTransaction
from moldau.metadata.image import ClusterImage
from moldau.model import TopicPartition
from moldau.protocol.messages.fetch import EpochEndOffset, FetchResponse
from unit.broker.world import CLIENT

TOPIC_ID = bytes(range(16))


def read(topic: str | bytes = "t", number: int = 0) -> PartitionRead:
    name = TopicPartition("t" if isinstance(topic, bytes) else topic, number)
    return PartitionRead(PartitionKey(topic, number), name, Wanted(-1, 0, -1, -1, 9))


def response(*reads: PartitionRead, version: int = 12) -> FetchResponse:
    building = ResponseBuilder(
        7, version, image=ClusterImage(), client=CLIENT, find_replica=lambda _: None
    )
    for one in reads:
        building.add(one)
    return building.finish()


def test_partitions_that_follow_each_other_share_a_topic() -> None:
    found = response(read("t", 1), read("t", 0), read("u"), read("t", 2))
    assert [(one.topic, len(one.partitions)) for one in found.responses] == [
        ("t", 2),
        ("u", 1),
        ("t", 1),
    ]
    assert found.session_id == 7


def test_topics_are_named_as_the_client_names_them() -> None:
    (topic,) = response(read(TOPIC_ID), version=13).responses
    assert (topic.topic, topic.topic_id) == ("", TOPIC_ID)


def test_a_topic_that_is_not_known_has_no_leader_to_hint_at() -> None:
    unknown = PartitionRead(PartitionKey(TOPIC_ID, 0), None, Wanted(-1, 0, -1, -1, 9))
    unknown.fail(KafkaError(ErrorCode.UNKNOWN_TOPIC_ID))
    (data,) = response(unknown, version=16).responses[0].partitions
    assert (data.error_code, data.current_leader) == (ErrorCode.UNKNOWN_TOPIC_ID, None)


def test_an_error_comes_without_bounds() -> None:
    failed = read()
    failed.records = b"x"
    failed.fail(KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE))
    (data,) = response(failed).responses[0].partitions
    assert (data.error_code, data.high_watermark) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    assert (data.records, data.aborted_transactions) == (b"", None)


def test_a_partition_says_all_that_came_of_it() -> None:
    full = read()
    full.high_watermark, full.last_stable_offset, full.log_start_offset = 9, 8, 1
    full.records, full.preferred_replica = b"abc", 3
    full.aborted = [AbortedTransaction(5, 2, 3, 4)]
    full.diverging = EpochEnd(4, 6)
    (data,) = response(full).responses[0].partitions
    assert (data.high_watermark, data.last_stable_offset, data.log_start_offset) == (9, 8, 1)
    assert (data.records, data.preferred_read_replica) == (b"abc", 3)
    (aborted,) = data.aborted_transactions or []
    assert (aborted.producer_id, aborted.first_offset) == (5, 2)
    assert data.diverging_epoch == EpochEndOffset(epoch=4, end_offset=6)
    assert data.current_leader is None
