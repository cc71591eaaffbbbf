"""The producer without `await`."""

import pytest

from moldau.client.blocking import Producer
from moldau.errors import ErrorCode, InvalidRecord, NetworkException
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Fail


def test_records_are_stored_and_futures_know_where(kafka: EmbeddedBroker) -> None:
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        futures = [producer.send("t", b"%d" % number) for number in range(100)]
        assert [future.result(10).offset for future in futures] == list(range(100))
        assert producer.send_and_wait("t", b"v", key=b"k").offset == 100
        assert producer.partitions_of("t") == [0]


def test_flush_and_close_lose_nothing(kafka: EmbeddedBroker) -> None:
    servers = kafka.bootstrap_servers
    with Producer[bytes, bytes](bootstrap_servers=servers, linger_ms=60_000) as producer:
        producer.send("t", b"1")
        producer.flush()
        assert len(kafka.records("t")[0]) == 1
        producer.send("t", b"2", headers=[("h", b"x")], timestamp_ms=5, partition=0)
    assert [record.value for record in kafka.records("t")[0]] == [b"1", b"2"]
    producer.close()


def test_a_failure_comes_out_of_the_future(kafka: EmbeddedBroker) -> None:
    kafka.control("Produce", lambda _: Fail(ErrorCode.INVALID_RECORD))
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        with pytest.raises(InvalidRecord):
            producer.send("t", b"v").result(10)
        producer.send("t", b"v").cancel()


def test_nobody_there_is_an_error_that_says_what_was_tried() -> None:
    with pytest.raises(NetworkException, match=r"127\.0\.0\.1:1"):
        Producer(bootstrap_servers="127.0.0.1:1")
