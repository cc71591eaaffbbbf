"""Spark reads what was produced: one session, our broker, batches and a stream."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from moldau.client.blocking.producer import Producer
from moldau.testing.broker import EmbeddedBroker, running_broker

pytestmark = pytest.mark.needs("java")
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
PER_CODEC = 200


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    with running_broker({"num.partitions": "3"}) as broker:
        for codec in CODECS:
            with Producer[bytes, bytes](
                bootstrap_servers=broker.bootstrap_servers, compression_type=codec
            ) as producer:
                for number in range(PER_CODEC):
                    producer.send(
                        "events",
                        f"{codec}-{number}".encode(),
                        key=f"{number % 10}".encode(),
                        headers=[("codec", codec.encode())],
                    )
        yield broker


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    # Workers are processes of their own: they need this interpreter and these packages.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        paths = [path for path in sys.path if path]
        patch.setenv("PYTHONPATH", os.pathsep.join(paths))
        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
            .getOrCreate()
        )
        yield session
        session.stop()


def expected() -> set[str]:
    return {f"{codec}-{number}" for codec in CODECS for number in range(PER_CODEC)}


def read(spark: SparkSession, broker: EmbeddedBroker, **options: str) -> DataFrame:
    reader = spark.read.format("moldau").options(**options)
    return (
        reader.option("kafka.bootstrap.servers", broker.bootstrap_servers)
        .option("subscribe", "events")
        .load()
    )


def test_a_batch_has_every_row_with_all_its_columns(
    spark: SparkSession, broker: EmbeddedBroker
) -> None:
    frame = read(spark, broker, includeHeaders="true", minPartitions="5")
    assert frame.columns == [
        *("key", "value", "topic", "partition", "offset", "timestamp", "timestampType"),
        "headers",
    ]
    rows = frame.collect()
    assert sorted(bytes(row.value).decode() for row in rows) == sorted(expected())
    for row in rows:
        codec, _, number = bytes(row.value).decode().partition("-")
        assert (row.topic, row.timestampType) == ("events", 0)
        assert bytes(row.key).decode() == str(int(number) % 10)
        assert [(each.key, bytes(each.value)) for each in row.headers] == [
            ("codec", codec.encode())
        ]
    places = {(row.partition, row.offset) for row in rows}
    assert len(places) == len(rows)


def test_columns_are_chosen_by_a_schema(spark: SparkSession, broker: EmbeddedBroker) -> None:
    frame = (
        spark.read.format("moldau")
        .schema("offset bigint, value binary")
        .option("kafka.bootstrap.servers", broker.bootstrap_servers)
        .option("subscribe", "events")
        .load()
    )
    assert frame.columns == ["offset", "value"]
    assert frame.count() == len(expected())


def test_a_stream_in_small_steps_reads_every_row_once(
    spark: SparkSession, broker: EmbeddedBroker, tmp_path: Path
) -> None:
    stream = (
        spark.readStream.format("moldau")
        .option("kafka.bootstrap.servers", broker.bootstrap_servers)
        .option("subscribe", "events")
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", "400")
        .load()
    )
    query = (
        stream.selectExpr("cast(value as string) as value")
        .writeStream.format("memory")
        .queryName("events")
        .option("checkpointLocation", str(tmp_path))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    assert len([each for each in query.recentProgress if each["numInputRows"]]) >= 3
    found = [row.value for row in spark.table("events").collect()]
    assert sorted(found) == sorted(expected())
