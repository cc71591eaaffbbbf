"""Spark's writers are made from options, and refuse what they cannot do."""

import pickle

import pyarrow as pa
import pytest
from pyspark.sql.types import BinaryType, StructField, StructType

from moldau.spark.sink import BatchWriter, StreamWriter, Written
from moldau.testing.broker import EmbeddedBroker

SCHEMA = StructType([StructField("value", BinaryType())])
OPTIONS = {"kafka.bootstrap.servers": "localhost:9092", "topic": "t"}


def test_exactly_once_is_refused_with_the_way_to_have_it() -> None:
    with pytest.raises(ValueError, match=r"moldau\.spark\.write_stream"):
        StreamWriter.of({**OPTIONS, "exactlyOnce": "true"}, SCHEMA)
    with pytest.raises(ValueError, match=r"moldau\.spark\.write_stream"):
        BatchWriter.of({**OPTIONS, "exactlyOnce": "TRUE"}, SCHEMA, overwrite=False)
    StreamWriter.of({**OPTIONS, "exactlyOnce": "false"}, SCHEMA)


def test_a_topic_is_not_overwritten() -> None:
    with pytest.raises(ValueError, match=r"mode\('append'\)"):
        BatchWriter.of(OPTIONS, SCHEMA, overwrite=True)


def test_writers_travel_to_executors_and_write_there(kafka: EmbeddedBroker) -> None:
    options = {**OPTIONS, "kafka.bootstrap.servers": kafka.bootstrap_servers}
    for writer in (
        BatchWriter.of(options, SCHEMA, overwrite=False),
        StreamWriter.of(options, SCHEMA),
    ):
        there = pickle.loads(pickle.dumps(writer))
        assert there.write(iter([pa.record_batch({"value": [b"a", b"b"]})])) == Written(2)
    (records,) = kafka.records("t").values()
    assert [record.value for record in records] == [b"a", b"b"] * 2
    StreamWriter.of(options, SCHEMA).commit([Written(2)], 0)
    StreamWriter.of(options, SCHEMA).abort([None], 0)
