"""Spark writes what it was given: at least once by the format, exactly once by the one call."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from conformance.apache.broker import apache_broker
from conformance.apache.marks import needs_apache
from conformance.our_broker import OurBroker, our_broker
from conformance.spark_chaos import Driver
from conformance.spark_killing import ROW_BYTES, ROWS_PER_HANDOVER, kill_once, kill_workers
from conformance.spark_pipeline import Pipeline, committed, fill, session, size_of, written
from moldau.spark import write_stream
from unit.spark.optimizations import (
    expected_optimizations,
    forget_optimizations,
    of_batches,
    optimizations,
)

pytestmark = [pytest.mark.needs("java"), pytest.mark.timeout(600)]  # when others work too
ROW_COUNT = 1000
DEADLINE_S = 300


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OurBroker]:
    settings = {
        "num.partitions": "3",
        "offsets.topic.num.partitions": "1",
        "transaction.state.log.num.partitions": "1",
    }
    with our_broker(tmp_path_factory.mktemp("broker"), settings) as broker:
        yield broker


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", "")
        patch.setenv("PYTHONPATH", "")
        warehouse = str(tmp_path_factory.mktemp("warehouse"))
        made = session("local[2,4]", {"spark.sql.warehouse.dir": warehouse})
        yield made
        made.stop()


@pytest.fixture
def pipeline(broker: OurBroker, tmp_path: Path) -> Pipeline:
    name = tmp_path.name
    return Pipeline(broker.bootstrap, f"in-{name}", f"out-{name}", str(tmp_path / "checkpoint"))


def finish(start: Callable[[], StreamingQuery]) -> int:
    """Let a query do its work; one that failed is started again, as an operator would."""
    for failures in range(5):
        try:
            query = start()
            assert query.awaitTermination(DEADLINE_S), "the query did not end"
        except StreamingQueryException:
            continue
        return failures
    raise AssertionError("the query fails again and again")


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.05)


def writing(spark: SparkSession, pipeline: Pipeline) -> StreamingQuery:
    """A query that has begun to write; on a busy machine Spark may fail before that."""
    query = pipeline.start(pipeline.rows(spark))
    wait_until(lambda: size_of(pipeline) > 0 or not query.isActive)
    return query if size_of(pipeline) > 0 else writing(spark, pipeline)


# At least once


def test_every_column_arrives_as_it_was(spark: SparkSession, broker: OurBroker) -> None:
    noon = datetime(2026, 11, 16, 12, tzinfo=UTC)
    rows = [
        (b"k%d" % n, b"v%d" % n, n % 3 if n % 2 else None, [("n", b"%d" % n)] * (n % 3), noon)
        for n in range(100)
    ]
    frame = spark.createDataFrame(
        rows,
        "key binary, value binary, partition int, "
        "headers array<struct<key:string,value:binary>>, timestamp timestamp",
    )
    options = {"kafka.bootstrap.servers": broker.bootstrap, "topic": "columns"}
    frame.write.format("moldau").options(**options).mode("append").save()
    reader = spark.read.format("moldau").options(**options, subscribe="columns")
    found = {
        bytes(row.value): row for row in reader.option("includeHeaders", "true").load().collect()
    }
    assert len(found) == len(rows)
    for key, value, partition, headers, timestamp in rows:
        row = found[value]
        assert bytes(row.key) == key
        assert partition is None or row.partition == partition
        assert [(each.key, bytes(each.value)) for each in row.headers or []] == headers
        assert row.timestamp.astimezone(UTC) == timestamp


def test_a_stream_is_written_by_the_format(spark: SparkSession, pipeline: Pipeline) -> None:
    expected = fill(pipeline.servers, pipeline.source, ROW_COUNT)
    writer = (
        pipeline.rows(spark)
        .selectExpr("key", "value", f"'{pipeline.target}' as topic")
        .writeStream.format("moldau")
        .option("kafka.bootstrap.servers", pipeline.servers)
        .option("checkpointLocation", pipeline.checkpoint)
        .trigger(availableNow=True)
    )
    failures = finish(writer.start)
    found = committed(pipeline.servers, pipeline.target)
    assert found == expected or (failures and found.keys() == expected.keys())


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ("id as value", {"topic": "t"}, "'value' must be string or binary, not bigint"),
        ("'v' as value", {}, "by the option 'topic', or by a column 'topic'"),
        ("'v' as value", {"topic": "t", "exactlyOnce": "true"}, "moldau.spark.write_stream"),
    ],
)
def test_what_cannot_be_written_is_refused(
    spark: SparkSession, columns: str, options: dict[str, str], message: str
) -> None:
    frame = spark.range(1).selectExpr(columns)
    writer = frame.write.format("moldau").option("kafka.bootstrap.servers", "localhost:1")
    with pytest.raises(AnalysisException, match=message):
        writer.options(**options).mode("append").save()


# Exactly once


def test_rows_are_written_once_though_the_broker_is_killed(
    spark: SparkSession, broker: OurBroker, pipeline: Pipeline
) -> None:
    expected = fill(pipeline.servers, pipeline.source, ROW_COUNT)
    query = writing(spark, pipeline)
    broker.kill()
    broker.start()
    try:
        assert query.awaitTermination(DEADLINE_S)
    except StreamingQueryException:
        finish(lambda: pipeline.start(pipeline.rows(spark)))
    assert committed(pipeline.servers, pipeline.target) == expected


def test_rows_are_written_once_though_the_driver_is_killed(
    spark: SparkSession, pipeline: Pipeline
) -> None:
    expected = fill(pipeline.servers, pipeline.source, ROW_COUNT)
    driver = Driver(pipeline)
    driver.start()
    try:
        wait_until(lambda: driver.is_done() or size_of(pipeline) > 0)
    finally:
        driver.kill()
    finish(lambda: pipeline.start(pipeline.rows(spark)))
    assert committed(pipeline.servers, pipeline.target) == expected


def test_rows_are_written_once_though_workers_are_killed_half_way(
    spark: SparkSession, pipeline: Pipeline, tmp_path: Path
) -> None:
    expected = fill(pipeline.servers, pipeline.source, ROW_COUNT, size=ROW_BYTES)
    free = replace(pipeline, has_keys=False)
    target, note = (free.target, free.servers), tmp_path / "killed"

    def killing(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return kill_once(batches, target, note, kill_workers)

    for name, value in ROWS_PER_HANDOVER.items():
        spark.conf.set(name, value)
    try:
        finish(lambda: free.start(free.rows(spark).mapInArrow(killing, "value binary")))
    finally:
        for name in ROWS_PER_HANDOVER:
            spark.conf.unset(name)
    assert int(note.read_text()) > 0
    assert written(free.servers, free.target).total() > ROW_COUNT, "what was aborted is in the log"
    assert committed(free.servers, free.target) == expected


def test_one_transaction_has_the_rows_of_several_topics(
    spark: SparkSession, pipeline: Pipeline
) -> None:
    fill(pipeline.servers, pipeline.source, ROW_COUNT)
    names = [f"{pipeline.target}-{number}" for number in range(2)]
    rows = pipeline.rows(spark).selectExpr(
        "value",
        "key",
        f"concat('{pipeline.target}-', cast(cast(value as string) as int) % 2) as topic",
    )
    options = {
        "kafka.bootstrap.servers": pipeline.servers,
        "checkpointLocation": pipeline.checkpoint,
    }
    finish(lambda: write_stream(rows, options, trigger={"availableNow": True}))
    for number, name in enumerate(names):
        found = committed(pipeline.servers, name)
        assert sorted(found.elements()) == [b"%06d" % n for n in range(number, ROW_COUNT, 2)]


@pytest.mark.parametrize("columns", [["value"], ["key", "value"]])
def test_a_micro_batch_is_planned_once(
    spark: SparkSession,
    pipeline: Pipeline,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    columns: list[str],
) -> None:
    rows = of_batches(spark, tmp_path / "input").select(*columns)
    options = {
        "kafka.bootstrap.servers": pipeline.servers,
        "topic": pipeline.target,
        "checkpointLocation": pipeline.checkpoint,
    }
    forget_optimizations(spark)
    query = write_stream(rows, options, trigger={"availableNow": True})
    assert query.awaitTermination(DEADLINE_S), "the query did not end"
    assert optimizations(spark) == expected_optimizations(caplog.text)


@needs_apache("kafka-3.9")
def test_rows_are_written_once_to_apache_kafka(
    spark: SparkSession, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    settings = {"auto.create.topics.enable": "true", "num.partitions": "3"}
    with apache_broker(tmp_path_factory.mktemp("apache"), settings) as apache:
        apache.start()
        pipeline = Pipeline(apache.bootstrap, "in", "out", str(tmp_path / "checkpoint"))
        expected = fill(pipeline.servers, "in", ROW_COUNT)
        stopped = writing(spark, pipeline)
        stopped.stop()
        assert stopped.exception() is None, "Spark takes it for its own doing"
        finish(lambda: pipeline.start(pipeline.rows(spark)))
        assert committed(pipeline.servers, "out") == expected
