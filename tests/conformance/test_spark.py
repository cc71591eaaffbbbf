"""Spark reads what was produced: one session, our broker, batches and a stream."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from moldau.client.admin.topics import NewTopic
from moldau.client.blocking.admin import Admin
from moldau.client.blocking.producer import Producer
from moldau.model import TopicPartition
from moldau.spark.source import PUSH_DOWN, register
from moldau.testing.broker import EmbeddedBroker, running_broker
from moldau.testing.control import Call

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
    writer = (
        stream.selectExpr("cast(value as string) as value")
        .writeStream.format("memory")
        .queryName("events")
        .option("checkpointLocation", str(tmp_path))
        .trigger(availableNow=True)
    )
    query = started(writer)
    query.awaitTermination()
    assert len([each for each in query.recentProgress if each["numInputRows"]]) >= 3
    found = [row.value for row in spark.table("events").collect()]
    assert sorted(found) == sorted(expected())


@pytest.mark.parametrize("is_pushed_down", [True, False])
def test_filters_find_the_same_rows_whether_they_are_pushed_down_or_not(
    spark: SparkSession, broker: EmbeddedBroker, is_pushed_down: bool
) -> None:
    register(spark)
    spark.conf.set(PUSH_DOWN, str(is_pushed_down).lower())
    fetched: set[tuple[int, int]] = set()

    def note(call: Call) -> None:
        for topic in call.request.topics:
            fetched.update((each.partition, each.fetch_offset) for each in topic.partitions)

    is_over = broker.control("Fetch", note)
    wanted = "partition = 1 and offset >= 40 and offset < 50"
    recent = "timestamp > timestamp'2020-01-01 00:00:00'"
    frame = read(spark, broker).where(f"{wanted} and {recent}")
    rows = frame.select("partition", "offset").collect()
    is_over()
    assert sorted(map(tuple, rows)) == [(1, offset) for offset in range(40, 50)]
    assert (min(fetched) == (1, 40)) == is_pushed_down


def test_values_are_read_by_a_schema(spark: SparkSession, broker: EmbeddedBroker) -> None:
    with Producer[bytes, bytes](bootstrap_servers=broker.bootstrap_servers) as producer:
        producer.send("people", b'{"name":"Ada","born":{"year":1815}}')
        producer.send("people", None)
    frame = (
        spark.read.format("moldau")
        .schema("value struct<name:string,born:struct<year:int>>")
        .option("kafka.bootstrap.servers", broker.bootstrap_servers)
        .option("subscribe", "people")
        .option("valueFormat", "json")
        .load()
    )
    rows = frame.selectExpr("value.name", "value.born.year").collect()
    assert sorted(map(tuple, rows), key=str) == [("Ada", 1815), (None, None)]


def test_a_running_stream_notices_what_appears_and_tells_a_group(
    spark: SparkSession, broker: EmbeddedBroker, tmp_path: Path
) -> None:
    with Admin(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("grows-1", partitions=1)]).check()
        stream = (
            spark.readStream.format("moldau")
            .option("kafka.bootstrap.servers", broker.bootstrap_servers)
            .option("subscribePattern", "grows-.*")
            .option("commitGroup", "jobs")
            .load()
        )
        values = stream.selectExpr("cast(value as string) as value").writeStream.format("memory")
        query = started(values.queryName("grown").option("checkpointLocation", str(tmp_path)))
        try:
            until(query, lambda: query.lastProgress is not None)
            admin.create_partitions({"grows-1": 2}).check()
            admin.create_topics([NewTopic("grows-2", partitions=1)]).check()
            with Producer[bytes, bytes](bootstrap_servers=broker.bootstrap_servers) as producer:
                producer.send("grows-1", b"partition", partition=1)
                producer.send("grows-2", b"topic", partition=0)
            until(query, lambda: spark.table("grown").count() == 2)
            ends = {TopicPartition("grows-1", 1): 1, TopicPartition("grows-2", 0): 1}
            until(query, lambda: ends.items() <= committed(admin, "jobs").items())
            progress = query.lastProgress
            assert progress is not None
            assert json.loads(progress["sources"][0]["latestOffset"])["grows-2"] == {"0": 1}
        finally:
            query.stop()


def started(writer: DataStreamWriter) -> StreamingQuery:
    """Spark gives its Python workers ten seconds to start, which a busy machine may not have."""
    while True:
        query = writer.start()
        while query.isActive and query.lastProgress is None:
            time.sleep(0.05)
        if "connect back" not in str(query.exception() or ""):
            return query


def until(query: StreamingQuery, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert query.isActive, query.exception()
        assert time.monotonic() < deadline, query.status
        time.sleep(0.05)


def committed(admin: Admin, group: str) -> dict[TopicPartition, int]:
    offsets = admin.list_group_offsets(group)[group]
    return {partition: each.offset for partition, each in offsets.items()}
