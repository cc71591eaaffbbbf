"""A task writes its rows to a real broker."""

import pyarrow as pa
import pytest

from moldau.errors import KafkaError
from moldau.records.murmur import murmur2
from moldau.spark.sink_columns import SinkColumns
from moldau.spark.sink_options import SinkOptions
from moldau.spark.writing import write_rows
from moldau.testing.broker import EmbeddedBroker
from unit.client.topics import create_topic


def options(kafka: EmbeddedBroker, topic: str | None, **client: str) -> SinkOptions:
    return SinkOptions.read(
        {"kafka.bootstrap.servers": kafka.bootstrap_servers, **client}
        | ({} if topic is None else {"topic": topic})
    )


def test_keys_decide_unless_a_row_names_its_partition(kafka: EmbeddedBroker) -> None:
    create_topic(kafka, "t", 3)
    keys = [b"k%d" % number for number in range(20)]
    numbers = [2 if row % 5 == 0 else None for row in range(20)]
    batch = pa.record_batch(
        {
            "key": keys,
            "value": [f"v{row}" for row in range(20)],
            "partition": pa.array(numbers, pa.int32()),
            "headers": pa.array(
                [[{"key": "row", "value": b"%d" % row}] for row in range(20)],
                pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())])),
            ),
        }
    )
    columns = SinkColumns(("key", "value", "partition", "headers"), "t")
    assert write_rows(iter([batch.slice(0, 7), batch.slice(7)]), options(kafka, "t"), columns) == 20
    found = kafka.records("t")
    expected: dict[int, set[bytes]] = {0: set(), 1: set(), 2: set()}
    for key, number in zip(keys, numbers, strict=True):
        expected[(murmur2(key) & 0x7FFFFFFF) % 3 if number is None else number].add(key)
    assert {each: {record.key for record in found[each]} for each in found} == expected
    for record in (record for records in found.values() for record in records):
        assert record.value is not None
        assert record.headers == ((b"row", record.value[1:]),)


def test_topics_may_be_a_column(kafka: EmbeddedBroker) -> None:
    batch = pa.record_batch({"value": ["a", "b", "c"], "topic": ["x", "y", "x"]})
    assert write_rows(iter([batch]), options(kafka, None), SinkColumns(("value", "topic"), None))
    found = {name: kafka.records(name)[0] for name in ("x", "y")}
    assert [record.value for record in found["x"]] == [b"a", b"c"]
    assert [record.value for record in found["y"]] == [b"b"]


def test_a_partition_that_is_not_there_fails_the_task(kafka: EmbeddedBroker) -> None:
    create_topic(kafka, "t", 3)
    batch = pa.record_batch({"value": ["a"], "partition": pa.array([7], pa.int32())})
    with pytest.raises(KafkaError, match="t has no partition 7; it has 3"):
        write_rows(iter([batch]), options(kafka, "t"), SinkColumns(("value", "partition"), "t"))
