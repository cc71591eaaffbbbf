"""A driver that has Spark's own source for Kafka beside ours: reads the same with both.

python spark_connector.py JARS BOOTSTRAP FILE
"""

import json
import os
import sys
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from conformance.spark_topics import EVERYTHING, PLAIN
from moldau.spark import register

FORMATS = ("kafka", "moldau")
BROUGHT_ALONG = {
    "kafka.receive.buffer.bytes": "65536",
    "kafka.reconnect.backoff.ms": "50",
    "kafka.connections.max.idle.ms": "540000",
    "kafka.default.api.timeout.ms": "60000",
    "groupIdPrefix": "job",
    "minPartitions": "5",
}
REFUSED: tuple[dict[str, str], ...] = (
    {"kafka.key.deserializer": "x"},
    {"kafka.value.deserializer": "x"},
    {"kafka.auto.offset.reset": "earliest"},
    {"kafka.enable.auto.commit": "true"},
    {"kafka.interceptor.classes": "x"},
    {"startingTimestamp": "9000000000000"},
    {"startingTimestamp": "1", "startingOffsetsByTimestampStrategy": "first"},
)


def read(spark: SparkSession, name: str, options: dict[str, str]) -> list[str]:
    """Every row with all its columns, in the order of the log."""
    frame = spark.read.format(name).options(**options).load()
    rows = sorted(frame.collect(), key=lambda row: (row.topic, row.partition, row.offset))
    return [frame.schema.simpleString(), *(repr(row.asDict(recursive=True)) for row in rows)]


def is_refused(spark: SparkSession, name: str, options: dict[str, str]) -> bool:
    try:
        spark.read.format(name).options(**options).load().collect()
    except (PySparkException, Py4JJavaError):
        return True
    return False


def main(jars: str, bootstrap: str, file: str) -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.jars", jars)
    builder = builder.config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    spark = builder.config("spark.sql.warehouse.dir", f"{file}-warehouse").getOrCreate()
    register(spark)
    servers = {"kafka.bootstrap.servers": bootstrap}
    java = spark.sparkContext._jvm.org.apache.kafka.clients  # type: ignore[union-attr]
    found: dict[str, object] = {
        "refused": [
            [is_refused(spark, name, {**servers, "subscribe": PLAIN, **each}) for name in FORMATS]
            for each in REFUSED
        ],
        "consumer": [*java.consumer.ConsumerConfig.configNames()],
        "producer": [*java.producer.ProducerConfig.configNames()],
    }
    for isolation in ("read_committed", "read_uncommitted"):
        # Of the group, since Spark's own source keeps consumers by its name.
        own = {"kafka.isolation.level": isolation, "kafka.group.id": isolation}
        options = {**EVERYTHING, **servers, **BROUGHT_ALONG, **own}
        found[isolation] = [read(spark, name, options) for name in FORMATS]
    spark.stop()
    Path(file).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
