"""Ranges are fetched ahead, from whoever leads, across what logs and brokers do."""

import pytest

from moldau.client.blocking.admin import Admin
from moldau.client.blocking.producer import Producer
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.records.columns import decode_columns
from moldau.spark.fetching import RangeFetch
from moldau.spark.link import Link
from moldau.spark.planning import Range
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Call, Fail

NAME = TopicPartition("t", 0)
COUNT = 50


@pytest.fixture
def filled(kafka: EmbeddedBroker) -> EmbeddedBroker:
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for number in range(COUNT):
            producer.send("t", b"%d" % number)
            producer.flush()
    return kafka


def link_to(kafka: EmbeddedBroker) -> Link:
    """With answers so small that each has one batch."""
    small = ("max.partition.fetch.bytes", "1")
    return Link([("bootstrap.servers", kafka.bootstrap_servers), small])


def offsets(kafka: EmbeddedBroker, wanted: Range, *, fails_on_data_loss: bool = True) -> list[int]:
    link = link_to(kafka)
    try:
        fetch = RangeFetch(link, wanted, fails_on_data_loss=fails_on_data_loss)
        return [
            offset
            for fetched in fetch
            for offset in decode_columns(fetched.data, fetched.selection).offsets
        ]
    finally:
        link.close()


def test_every_offset_of_a_range_is_fetched_once(filled: EmbeddedBroker) -> None:
    assert offsets(filled, Range(NAME, 3, 40)) == list(range(3, 40))
    assert offsets(filled, Range(NAME, 7, 7)) == []


def test_the_next_request_is_out_before_an_answer_is_read(filled: EmbeddedBroker) -> None:
    asked: list[int] = []

    def note(call: Call) -> None:
        asked.append(call.request.topics[0].partitions[0].fetch_offset)

    filled.control("Fetch", note)
    link = Link(
        [("bootstrap.servers", filled.bootstrap_servers), ("max.partition.fetch.bytes", "1")]
    )
    fetched = iter(RangeFetch(link, Range(NAME, 0, 3), fails_on_data_loss=True))
    next(fetched)
    filled.wait_for(lambda _: asked == [0, 1])
    link.close()


def test_errors_that_pass_are_passed(filled: EmbeddedBroker) -> None:
    codes = [ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_LEADER_EPOCH]
    filled.control("Fetch", lambda _: Fail(codes.pop()) if codes else None)
    assert offsets(filled, Range(NAME, 0, COUNT)) == list(range(COUNT))
    assert not codes


def test_errors_that_stay_are_told(filled: EmbeddedBroker) -> None:
    filled.control("Fetch", lambda _: Fail(ErrorCode.TOPIC_AUTHORIZATION_FAILED))
    with pytest.raises(KafkaError, match="TOPIC_AUTHORIZATION_FAILED"):
        offsets(filled, Range(NAME, 0, COUNT))


def test_losses_fail_or_are_passed_over(filled: EmbeddedBroker) -> None:
    with Admin(bootstrap_servers=filled.bootstrap_servers) as admin:
        admin.delete_records({NAME: 20})
    with pytest.raises(KafkaError, match="t-0 was to be read from 5, but begins at 20"):
        offsets(filled, Range(NAME, 5, 30))
    assert offsets(filled, Range(NAME, 5, 30), fails_on_data_loss=False) == list(range(20, 30))
    assert offsets(filled, Range(NAME, 5, 15), fails_on_data_loss=False) == []


def test_a_log_that_ends_before_the_range_was_deleted_meanwhile(filled: EmbeddedBroker) -> None:
    with pytest.raises(KafkaError, match="was to be read from 70, but ends before that"):
        offsets(filled, Range(NAME, 70, 80))
    assert offsets(filled, Range(NAME, 70, 80), fails_on_data_loss=False) == []
