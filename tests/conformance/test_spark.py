"""Spark reads what was produced: one session, our broker, batches and a stream."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from google.protobuf import descriptor_pb2
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from conformance.spark_topics import CLEANING, EVERYTHING, Row, produce_all, rows_of
from moldau.client.admin.topics import NewTopic
from moldau.client.arrow.avro_values import Avro
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
    with running_broker({"num.partitions": "3", **CLEANING}) as broker:
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


@pytest.fixture(scope="module")
def produced(broker: EmbeddedBroker) -> set[Row]:
    return produce_all(broker)


def expected() -> set[str]:
    return {f"{codec}-{number}" for codec in CODECS for number in range(PER_CODEC)}


def read(spark: SparkSession, broker: EmbeddedBroker, **options: str) -> DataFrame:
    reader = spark.read.format("moldau").options(**options)
    reader = reader.option("kafka.bootstrap.servers", broker.bootstrap_servers)
    return reader.option("subscribe", options.get("subscribe", "events")).load()


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
    spark.conf.set(PUSH_DOWN, "true")
    fetched: set[tuple[int, int]] = set()

    def note(call: Call) -> None:
        for topic in call.request.topics:
            fetched.update((each.partition, each.fetch_offset) for each in topic.partitions)

    is_over = broker.control("Fetch", note)
    wanted = "partition = 1 and offset >= 40 and offset < 50"
    recent = "timestamp > timestamp'2020-01-01 00:00:00'"
    frame = read(spark, broker, pushDownFilters=str(is_pushed_down).lower())
    frame = frame.where(f"{wanted} and {recent}")
    rows = frame.select("partition", "offset").collect()
    is_over()
    assert sorted(map(tuple, rows)) == [(1, offset) for offset in range(40, 50)]
    assert (min(fetched) == (1, 40)) == is_pushed_down
    spark.conf.unset(PUSH_DOWN)


def test_a_session_that_does_not_allow_push_down_is_named(
    spark: SparkSession, broker: EmbeddedBroker
) -> None:
    register(spark)
    with pytest.raises(AnalysisException, match=PUSH_DOWN):
        read(spark, broker, pushDownFilters="true").where("partition = 1").collect()


def test_a_frame_that_was_filtered_before_has_all_its_rows(
    spark: SparkSession, broker: EmbeddedBroker
) -> None:
    register(spark)
    frame = read(spark, broker)
    count = frame.count()
    assert 0 < frame.where("partition = 1 and offset >= 40").count() < count
    assert frame.count() == count


HOUR_MS = 3_600_000
NOON_IN_TOKYO_MS = int(datetime(2026, 1, 1, 3, tzinfo=UTC).timestamp() * 1000)


@pytest.fixture
def in_tokyo(spark: SparkSession) -> Iterator[None]:
    """A session whose times are those of another zone than this process has."""
    register(spark)
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    spark.conf.set(PUSH_DOWN, "true")
    yield
    spark.conf.unset(PUSH_DOWN)
    spark.conf.unset("spark.sql.session.timeZone")


@pytest.fixture(scope="module")
def hours(broker: EmbeddedBroker) -> str:
    """A topic with a record for every hour of two days, and the noon of Tokyo at offset 24."""
    with Admin(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("hours", partitions=1)]).check()
    with Producer[bytes, bytes](bootstrap_servers=broker.bootstrap_servers) as producer:
        for hour in range(48):
            time_ms = NOON_IN_TOKYO_MS + (hour - 24) * HOUR_MS
            producer.send("hours", b"%d" % hour, timestamp_ms=time_ms)
    return "hours"


@pytest.mark.usefixtures("in_tokyo")
@pytest.mark.parametrize(
    ("condition", "first"),
    [
        (">= timestamp'2026-01-01 12:00:00'", 24),
        ("> timestamp'2026-01-01 12:00:00'", 25),
        (">= timestamp'1970-01-01 08:59:59.999'", 0),
    ],
)
def test_times_in_filters_are_those_of_the_sessions_zone(
    spark: SparkSession, broker: EmbeddedBroker, hours: str, condition: str, first: int
) -> None:
    fetched: set[int] = set()

    def note(call: Call) -> None:
        fetched.update(each.fetch_offset for each in call.request.topics[0].partitions)

    is_over = broker.control("Fetch", note)
    frame = read(spark, broker, subscribe=hours, pushDownFilters="true")
    frame = frame.where(f"timestamp {condition}")
    found = [row.offset for row in frame.select("offset").collect()]
    is_over()
    assert sorted(found) == list(range(first, 48))
    assert min(fetched) == min(first, 24)  # brokers know no "later than"


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


def test_avro_values_are_read_by_a_schema(spark: SparkSession, broker: EmbeddedBroker) -> None:
    born = {"name": "born", "type": {"type": "long", "logicalType": "timestamp-millis"}}
    schema: dict[str, object] = {
        "type": "record",
        "name": "Person",
        "fields": [{"name": "name", "type": "string"}, born],
    }
    avro = Avro(schema)
    rows = pa.array([{"name": "Ada", "born": 1000}, None], avro.type)
    with Producer[bytes, bytes](bootstrap_servers=broker.bootstrap_servers) as producer:
        for value in avro.encode(rows).to_pylist():
            producer.send("avro", value)
    typed = {"valueFormat": "avro", "valueSchema": json.dumps(schema)}
    frame = read(spark, broker, subscribe="avro", **typed)
    assert frame.schema["value"].dataType.simpleString() == "struct<name:string,born:timestamp>"
    found = frame.selectExpr("value.name", "unix_millis(value.born)").collect()
    assert sorted(map(tuple, found), key=str) == [("Ada", 1000), (None, None)]


def test_protobuf_values_are_read_by_a_schema(
    spark: SparkSession, broker: EmbeddedBroker, tmp_path: Path
) -> None:
    file = descriptor_pb2.FileDescriptorProto(name="m.proto", package="p", syntax="proto3")
    message = file.message_type.add(name="Meter")
    field = descriptor_pb2.FieldDescriptorProto
    for number, kind in enumerate((field.TYPE_UINT32, field.TYPE_STRING), 1):
        message.field.add(name=f"f{number}", number=number, type=kind, label=field.LABEL_OPTIONAL)
    descriptors = tmp_path / "meters.desc"
    descriptors.write_bytes(descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString())
    with Producer[bytes, bytes](bootstrap_servers=broker.bootstrap_servers) as producer:
        producer.send("protobuf", bytes([0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0x12, 1, ord("l")]))
        producer.send("protobuf", None)
    typed = {"valueFormat": "protobuf", "valueSchema": str(descriptors), "valueMessage": "p.Meter"}
    found = read(spark, broker, subscribe="protobuf", **typed).selectExpr("value.*").collect()
    assert sorted(map(tuple, found), key=str) == [(2**32 - 1, "l"), (None, None)]


def test_a_batch_has_the_rows_that_were_produced(
    spark: SparkSession, broker: EmbeddedBroker, produced: set[Row]
) -> None:
    assert rows_of(read(spark, broker, **EVERYTHING)) == produced


def test_a_stream_has_the_rows_that_were_produced(
    spark: SparkSession, broker: EmbeddedBroker, produced: set[Row], tmp_path: Path
) -> None:
    stream = (
        spark.readStream.format("moldau")
        .options(**EVERYTHING, startingOffsets="earliest", maxOffsetsPerTrigger="500")
        .option("kafka.bootstrap.servers", broker.bootstrap_servers)
    )
    writer = stream.load().writeStream.format("memory").queryName("rows")
    writer = writer.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True)
    started(writer).awaitTermination()
    assert rows_of(spark.table("rows")) == produced


def test_empty_topics_have_no_rows_until_there_are_some(
    spark: SparkSession, broker: EmbeddedBroker, tmp_path: Path
) -> None:
    with Admin(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("empty", partitions=2)]).check()
    assert read(spark, broker, subscribe="empty").collect() == []
    stream = spark.readStream.format("moldau").option("subscribe", "empty")
    stream = stream.option("kafka.bootstrap.servers", broker.bootstrap_servers)
    for count in (0, 1):
        writer = stream.load().writeStream.format("noop").trigger(availableNow=True)
        query = started(writer.option("checkpointLocation", str(tmp_path)))
        query.awaitTermination()
        assert sum(progress["numInputRows"] for progress in query.recentProgress) == count
        with Producer[bytes, bytes](bootstrap_servers=broker.bootstrap_servers) as producer:
            producer.send("empty", b"v", partition=1)


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
