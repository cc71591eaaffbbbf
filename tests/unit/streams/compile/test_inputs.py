"""Inputs of a cluster are read by the source of this package, as one would by hand."""

import pytest
from pyspark.sql import SparkSession

from moldau.client.blocking.producer import Producer
from moldau.spark import register
from moldau.streams.compile.inputs import KafkaInputs
from moldau.testing.broker import EmbeddedBroker

pytestmark = pytest.mark.needs("java")


def test_a_topic_is_read_with_all_columns(spark: SparkSession, kafka: EmbeddedBroker) -> None:
    register(spark)
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        producer.send("rivers", b"Vltava", key=b"k", headers=[("h", b"x")])
    servers = {"kafka.bootstrap.servers": kafka.bootstrap_servers}
    inputs = KafkaInputs(spark, {"failOnDataLoss": "false", **servers})
    snapshot = inputs.snapshot("rivers")
    assert snapshot.columns == [
        *("key", "value", "topic", "partition", "offset", "timestamp", "headers")
    ]
    (row,) = snapshot.collect()
    assert (bytes(row.value), row.offset, row.headers[0].key) == (b"Vltava", 0, "h")
    stream = inputs.stream(("rivers",))
    assert stream.isStreaming
    assert stream.schema == snapshot.schema
