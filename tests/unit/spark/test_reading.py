"""A task reads its range, whatever the log looks like."""

import pyarrow as pa
import pytest

from moldau.client.blocking.admin import Admin
from moldau.client.blocking.producer import Producer
from moldau.errors import KafkaError
from moldau.model import TopicPartition
from moldau.spark.options import SourceOptions
from moldau.spark.planning import Range
from moldau.spark.reading import read_range
from moldau.testing.broker import EmbeddedBroker

NAME = TopicPartition("t", 0)


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
    assert {*map(tuple, table["headers"].to_pylist())} == {()}


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
