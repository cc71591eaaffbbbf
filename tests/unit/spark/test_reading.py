"""A task reads its range, whatever the log looks like."""

import time

import pyarrow as pa
import pytest

from moldau.client.admin.topics import NewTopic
from moldau.client.blocking.admin import Admin
from moldau.client.blocking.consumer import Consumer
from moldau.client.blocking.producer import Producer
from moldau.errors import KafkaError
from moldau.model import TopicPartition
from moldau.spark.options import SourceOptions
from moldau.spark.planning import Range
from moldau.spark.reading import read_range
from moldau.testing.broker import EmbeddedBroker

NAME = TopicPartition("t", 0)


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {"log.cleaner.backoff.ms": "50"}


@pytest.fixture(params=["none", "gzip", "snappy", "lz4", "zstd"])
def filled(kafka: EmbeddedBroker, request: pytest.FixtureRequest) -> EmbeddedBroker:
    with Producer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers, compression_type=request.param
    ) as producer:
        for number in range(100):
            producer.send(
                "t", b"v%d" % number, key=None if number % 3 else b"k", timestamp_ms=number
            )
            if number % 10 == 9:
                producer.flush()
    return kafka


def read(kafka: EmbeddedBroker, start: int, end: int, **options: str) -> pa.Table:
    given = {"kafka.bootstrap.servers": kafka.bootstrap_servers, "subscribe": "t", **options}
    read_options = SourceOptions.read(given, is_stream=False)
    batches = read_range(Range(NAME, start, end), read_options)
    return pa.Table.from_batches(list(batches))


def test_a_range_begins_and_ends_within_batches(filled: EmbeddedBroker) -> None:
    table = read(filled, 5, 95, includeHeaders="true")
    assert table["offset"].to_pylist() == list(range(5, 95))
    assert table["value"].to_pylist() == [b"v%d" % number for number in range(5, 95)]
    assert table["key"].to_pylist() == [None if n % 3 else b"k" for n in range(5, 95)]
    assert {*table["topic"].to_pylist()} == {"t"}
    assert table["timestamp"].type == pa.timestamp("us", tz="UTC")
    assert table["timestamp"].cast(pa.int64()).to_pylist() == [n * 1000 for n in range(5, 95)]
    assert {*table["timestampType"].to_pylist()} == {0}
    assert {*table["headers"].to_pylist()} == {None}


@pytest.mark.parametrize("filled", ["none"], indirect=True)
def test_only_the_columns_asked_for_are_read(filled: EmbeddedBroker) -> None:
    assert read(filled, 0, 3, columns="timestampType").column_names == ["timestampType"]
    assert read(filled, 0, 3, columns="value,key").column_names == ["value", "key"]


@pytest.mark.parametrize("filled", ["none"], indirect=True)
def test_records_that_are_gone_fail_the_task_or_are_passed_over(filled: EmbeddedBroker) -> None:
    with Admin(bootstrap_servers=filled.bootstrap_servers) as admin:
        assert admin.delete_records({NAME: 40}) == {NAME: 40}
    with pytest.raises(KafkaError, match="t-0 was to be read from 10, but begins at 40"):
        read(filled, 10, 50)
    table = read(filled, 10, 50, failOnDataLoss="false")
    assert table["offset"].to_pylist() == list(range(40, 50))


@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_of_transactions_only_what_was_committed_is_read(kafka: EmbeddedBroker, codec: str) -> None:
    with Producer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers, transactional_id="x", compression_type=codec
    ) as producer:
        for number in range(10):
            producer.begin_transaction()
            for each in range(3):
                producer.send("t", b"%d-%d" % (number, each), partition=0)
            producer.flush()
            if number % 2:
                producer.abort_transaction()
            else:
                producer.commit_transaction()
    committed = [b"%d-%d" % (number, each) for number in range(0, 10, 2) for each in range(3)]
    everything = [b"%d-%d" % (number, each) for number in range(10) for each in range(3)]
    setting = {"kafka.isolation.level": "read_committed"}
    # Each transaction has three records and a marker.
    assert read(kafka, 0, 40, **setting)["value"].to_pylist() == committed
    assert read(kafka, 5, 18, **setting)["value"].to_pylist() == committed[3:8]
    assert read(kafka, 0, 40)["value"].to_pylist() == everything


def test_gaps_that_compaction_left_are_passed_within_ranges_and_at_their_ends(
    kafka: EmbeddedBroker,
) -> None:
    config = {"cleanup.policy": "compact", "segment.bytes": "1024", "segment.ms": "1"}
    config |= {"min.cleanable.dirty.ratio": "0.01"}
    with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("t", partitions=1, configs=config)]).check()
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for number in range(100):
            producer.send("t", b"v" * 100, key=b"%d" % (number % 3), timestamp_ms=1)
            producer.flush()
    # The cleaner may go on between one look and the next: until it has nothing left to do.
    deadline = time.monotonic() + 60
    looks: list[list[int]] = []
    while time.monotonic() < deadline:
        found = offsets(kafka, 100)
        looks = [found, consumed(kafka), offsets(kafka, 100)]
        if len(found) < 100 and looks[1:] == [found, found]:
            break
    assert looks[1:] == [found, found]
    assert 3 <= len(found) < 100
    assert found[-1] == 99
    # A range that ends within a gap: what follows belongs to others.
    assert offsets(kafka, found[1]) in ([], found[:1])


def offsets(kafka: EmbeddedBroker, end: int) -> list[int]:
    given = {"kafka.bootstrap.servers": kafka.bootstrap_servers, "subscribe": "t"}
    options = SourceOptions.read(given, is_stream=False)
    batches = read_range(Range(NAME, 0, end), options)
    return [offset for batch in batches for offset in batch.column("offset").to_pylist()]


def consumed(kafka: EmbeddedBroker) -> list[int]:
    """What the consumer hands out of the same topic."""
    seen: list[int] = []
    with Consumer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as consumer:
        consumer.assign({NAME: 0})
        while consumer.position(NAME) < 100:
            seen += [record.offset for record in consumer.poll(1.0)]
    return seen
