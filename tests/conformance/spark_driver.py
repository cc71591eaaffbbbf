"""A driver of a cluster's executors: reads a topic there, copies it, and says what they have.

python -m conformance.spark_driver MASTER BOOTSTRAP TOPIC ARCHIVE DIRECTORY
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyspark.cloudpickle import register_pickle_by_value
from pyspark.sql import DataFrame, SparkSession

from conformance import spark_killing
from conformance.spark_killing import (
    ROWS_PER_HANDOVER,
    kill_executor,
    kill_once,
    wait_for_copy,
)
from moldau.spark import register, write_stream

COPY = "copy"
OVERTAKEN = "overtaken"
"""A topic that is written while a copy of a task is started beside it."""
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.multiplier": "1.2",
    "spark.speculation.quantile": "0.3",
    "spark.speculation.minTaskRuntime": "3s",
}


def where_from(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Which package, and which kernel, a task has."""
    from moldau import __file__ as package
    from moldau.records.fetched import kernel

    for _ in batches:
        yield pa.RecordBatch.from_pydict({"package": [package], "kernel": [kernel.__name__]})


def copy(rows: DataFrame, bootstrap: str, directory: str) -> None:
    """Write rows exactly once, though an executor is killed when it has written some of them."""
    note = Path(directory, "killed")

    def killing(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return kill_once(batches, (COPY, bootstrap), note, kill_executor)

    options = {
        "kafka.bootstrap.servers": bootstrap,
        "topic": COPY,
        "checkpointLocation": f"{directory}/copy",
    }
    values = rows.select("value").mapInArrow(killing, "value binary")
    write_stream(values, options, trigger={"availableNow": True}).awaitTermination()


def write_beside_copies(rows: DataFrame, bootstrap: str, directory: str) -> None:
    """Write rows exactly once, though Spark takes a task for slow and starts a copy of it."""
    note = Path(directory, "copied")

    def slow(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return wait_for_copy(batches, note)

    options = {
        "kafka.bootstrap.servers": bootstrap,
        "topic": OVERTAKEN,
        "checkpointLocation": f"{directory}/overtaken",
    }
    values = rows.select("value").mapInArrow(slow, "value binary")
    write_stream(values, options, trigger={"availableNow": True}).awaitTermination()


def main(master: str, bootstrap: str, topic: str, archive: str, directory: str) -> None:
    builder = SparkSession.builder.master(master)
    for name, value in SPECULATION.items():
        builder = builder.config(name, value)
    spark = (
        builder.config("spark.archives", f"{archive}#moldau")
        .config("spark.executorEnv.PYTHONPATH", "./moldau")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.executor.memory", "512m")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.local.dir", directory)
        .config("spark.sql.warehouse.dir", f"{directory}/warehouse")
        .getOrCreate()
    )
    register(spark)
    # Executors have Moldau, and not its tests.
    register_pickle_by_value(spark_killing)  # type: ignore[no-untyped-call]
    options = {"kafka.bootstrap.servers": bootstrap, "subscribe": topic}
    batch = spark.read.format("moldau").options(**options).load()
    stream = spark.readStream.format("moldau").options(**options, startingOffsets="earliest")
    writer = stream.load().writeStream.format("noop").option("checkpointLocation", f"{directory}/c")
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    places = spark.range(2, numPartitions=2).mapInArrow(where_from, "package string, kernel string")
    found = {
        "batch": sorted(bytes(row.value).decode() for row in batch.select("value").collect()),
        "stream": sum(progress["numInputRows"] for progress in query.recentProgress),
        "places": [[row.package, row.kernel] for row in places.collect()],
    }
    write_beside_copies(stream.load(), bootstrap, directory)
    for name, value in ROWS_PER_HANDOVER.items():
        spark.conf.set(name, value)
    copy(stream.load(), bootstrap, directory)
    spark.stop()
    Path(directory, "found.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
