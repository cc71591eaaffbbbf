"""The source as Spark drives it, without a session: plans, offsets, and reading tasks."""

import pickle
from datetime import UTC, datetime

import pytest
from pyspark.sql.datasource import (
    DataSourceReader,
    EqualTo,
    Filter,
    GreaterThanOrEqual,
    InputPartition,
    LessThan,
)
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows, ReadMinRows
from pyspark.sql.types import BinaryType, StructField, StructType

from moldau.client.admin.topics import NewTopic
from moldau.client.blocking.admin import Admin
from moldau.client.blocking.producer import Producer
from moldau.errors import KafkaError
from moldau.spark.offsets import JsonOffsets
from moldau.spark.source import MoldauDataSource, StreamReader
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Call

COUNT = 30


@pytest.fixture
def options(kafka: EmbeddedBroker) -> dict[str, str]:
    address = kafka.bootstrap_servers
    with Admin(bootstrap_servers=address) as admin:
        admin.create_topics([NewTopic("t", partitions=2)]).check()
    with Producer[bytes, bytes](bootstrap_servers=address) as producer:
        for number in range(COUNT):
            producer.send("t", b"%d" % number, partition=number % 2)
    return {
        "kafka.bootstrap.servers": address,
        "subscribe": "t",
        "startingOffsets": "earliest",
    }


def schema(*names: str) -> StructType:
    """Columns as Spark hands them in; their types are not looked at."""
    return StructType([StructField(name, BinaryType()) for name in names])


def stream_of(options: dict[str, str]) -> StreamReader:
    source = MoldauDataSource(options)
    return source.streamReader(schema=schema("value", "partition", "offset", "timestampType"))


def values(reader: StreamReader, start: object, end: object) -> list[bytes]:
    found = []
    for task in reader.partitions(start, end):  # type: ignore[arg-type]
        copy, carried = pickle.loads(pickle.dumps((reader, task)))
        for batch in copy.read(carried):
            found += batch.column("value").to_pylist()
    return sorted(found, key=int)


def test_a_batch_is_planned_and_read(options: dict[str, str]) -> None:
    source = MoldauDataSource({**options, "minPartitions": "6"})
    reader = source.reader(schema=schema("value", "offset"))
    tasks = reader.partitions()
    assert len(tasks) == 6
    batches = [batch for task in tasks for batch in reader.read(task)]
    assert {*batches[0].schema.names} == {"value", "offset"}
    found = [value for batch in batches for value in batch.column("value").to_pylist()]
    assert sorted(found, key=int) == [b"%d" % number for number in range(COUNT)]


def test_a_stream_goes_on_where_it_was(options: dict[str, str]) -> None:
    reader = stream_of({**options, "maxOffsetsPerTrigger": "10"})
    limit = reader.getDefaultReadLimit()
    assert limit == ReadMaxRows(10)
    start = reader.initialOffset()
    assert start == {"t": {"0": 0, "1": 0}}
    end = reader.latestOffset(start, limit)
    assert end == {"t": {"0": 5, "1": 5}}
    assert values(reader, start, end) == [b"%d" % number for number in range(10)]
    last = reader.latestOffset(end, ReadAllAvailable())
    assert values(reader, end, last) == [b"%d" % number for number in range(10, COUNT)]
    assert reader.reportLatestOffset() == last == {"t": {"0": 15, "1": 15}}
    assert reader.latestOffset(last, ReadAllAvailable()) == last
    reader.stop()


def test_new_partitions_are_read_from_their_beginning(options: dict[str, str]) -> None:
    reader = stream_of(options)
    start = reader.latestOffset(reader.initialOffset(), ReadAllAvailable())
    address = options["kafka.bootstrap.servers"]
    with Admin(bootstrap_servers=address) as admin:
        admin.create_partitions({"t": 3}).check()
    with Producer[bytes, bytes](bootstrap_servers=address) as producer:
        producer.send("t", b"100", partition=2)
    end = reader.latestOffset(start, ReadAllAvailable())
    assert end == {"t": {"0": 15, "1": 15, "2": 1}}
    assert values(reader, start, end) == [b"100"]
    reader.stop()


def test_a_stream_waits_until_there_is_enough(options: dict[str, str]) -> None:
    reader = stream_of({**options, "minOffsetsPerTrigger": "10", "maxTriggerDelay": "1h"})
    limit = reader.getDefaultReadLimit()
    assert limit == ReadMinRows(10)
    first = reader.latestOffset(reader.initialOffset(), limit)
    assert first == {"t": {"0": 15, "1": 15}}
    send(options, 9)
    assert reader.latestOffset(first, limit) == first
    send(options, 1)
    assert reader.latestOffset(first, limit) == {"t": {"0": 25, "1": 15}}
    assert reader.reportLatestOffset() == {"t": {"0": 25, "1": 15}}
    reader.stop()


def send(options: dict[str, str], count: int) -> None:
    with Producer[bytes, bytes](bootstrap_servers=options["kafka.bootstrap.servers"]) as producer:
        for _ in range(count):
            producer.send("t", b"7", partition=0)


def test_what_is_done_is_told_to_a_group_once(
    options: dict[str, str], kafka: EmbeddedBroker
) -> None:
    commits: list[Call] = []
    kafka.control("OffsetCommit", commits.append)
    reader = stream_of({**options, "commitGroup": "jobs"})
    for _ in range(2):
        reader.latestOffset({"t": {"0": 15, "1": 7}}, ReadAllAvailable())
    reader.stop()
    with Admin(bootstrap_servers=options["kafka.bootstrap.servers"]) as admin:
        offsets = admin.list_group_offsets("jobs")["jobs"]
    assert {each.partition: at.offset for each, at in offsets.items()} == {0: 15, 1: 7}
    assert len(commits) == 1


@pytest.mark.parametrize(
    ("start", "reason"),
    [
        ({"t": {"0": 15, "1": 99}}, "t-1 ends at 15, and was read to 99: was the topic deleted"),
        ({"t": {"0": 15, "1": 15}, "gone": {"0": 3}}, "gone-0 is gone: was the topic deleted"),
    ],
)
def test_a_topic_that_was_deleted_meanwhile_fails_the_query_unless_told_otherwise(
    options: dict[str, str], start: JsonOffsets, reason: str
) -> None:
    reader = stream_of(options)
    with pytest.raises(KafkaError, match=reason):
        reader.latestOffset(start, ReadAllAvailable())
    reader.stop()
    reader = stream_of({**options, "failOnDataLoss": "false"})
    assert reader.latestOffset(start, ReadAllAvailable())["t"] == {"0": 15, "1": 15}
    reader.stop()


def test_filters_are_taken_where_that_is_asked_for(options: dict[str, str]) -> None:
    plain = MoldauDataSource(options).reader(schema=schema("value", "offset"))
    assert plain.pushFilters.__func__ is DataSourceReader.pushFilters  # type: ignore[attr-defined]
    source = MoldauDataSource({**options, "pushDownFilters": "true"})
    reader = source.reader(schema=schema("value", "offset"))
    since = GreaterThanOrEqual(("timestamp",), datetime(2020, 1, 1, tzinfo=UTC))
    filters: list[Filter] = [since, EqualTo(("partition",), 1), LessThan(("offset",), 4)]
    assert list(reader.pushFilters(filters)) == [since]
    (task,) = reader.partitions()
    values = [each for batch in reader.read(task) for each in batch.column("value").to_pylist()]
    assert values == [b"1", b"3", b"5", b"7"]


def test_a_batch_of_nothing_has_one_empty_task(options: dict[str, str]) -> None:
    reader = MoldauDataSource({**options, "startingOffsets": "latest"}).reader(schema("value"))
    assert reader.partitions() == []
    assert list(reader.read(InputPartition(None))) == []


def test_available_now_ends_where_the_topic_ended(options: dict[str, str]) -> None:
    reader = stream_of(options)
    reader.prepareForTriggerAvailableNow()
    with Producer[bytes, bytes](bootstrap_servers=options["kafka.bootstrap.servers"]) as producer:
        producer.send("t", b"late", partition=0)
    end = reader.latestOffset(reader.initialOffset(), ReadAllAvailable())
    assert end == {"t": {"0": 15, "1": 15}}
    reader.stop()
