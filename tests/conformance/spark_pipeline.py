"""A query that copies one topic to another exactly once, and what must come out of it.

As a program it is a driver that can be killed:

    python -m conformance.spark_pipeline '{"servers": "localhost:9092", ...}'
"""

import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from conformance.spark_killing import end_of
from moldau.client.blocking.consumer import Consumer
from moldau.client.blocking.producer import Producer
from moldau.model import TopicPartition
from moldau.spark import register, write_stream

KEY_COUNT = 50


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Where a query reads and writes, and in which steps."""

    servers: str
    source: str
    target: str
    checkpoint: str
    per_batch: int = 500
    has_keys: bool = True
    pause_s: float = 0.0
    """How long a task waits now and then, so that others overtake it."""
    master: str = "local[2,4]"
    configuration: dict[str, str] = field(default_factory=dict)

    def rows(self, spark: SparkSession) -> DataFrame:
        """All records of the source, in another order each time."""
        columns = "key binary, value binary" if self.has_keys else "value binary"
        pause_s = self.pause_s

        def shuffled(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return in_any_order(batches, pause_s)

        return (
            spark.readStream.format("moldau")
            .option("kafka.bootstrap.servers", self.servers)
            .option("subscribe", self.source)
            .option("startingOffsets", "earliest")
            .option("maxOffsetsPerTrigger", str(self.per_batch))
            .load()
            .select(*(["key", "value"] if self.has_keys else ["value"]))
            .mapInArrow(shuffled, columns)
        )

    def start(self, rows: DataFrame) -> StreamingQuery:
        """Write rows until all that is there now is written."""
        options = {
            "kafka.bootstrap.servers": self.servers,
            "topic": self.target,
            "checkpointLocation": self.checkpoint,
        }
        return write_stream(rows, options, trigger={"availableNow": True})


def in_any_order(batches: Iterator[pa.RecordBatch], pause_s: float) -> Iterator[pa.RecordBatch]:
    """The rows in an order that no other attempt has; every fourth batch comes late."""
    for batch in batches:
        if pause_s and random.random() < 0.25:
            time.sleep(pause_s)
        order = list(range(batch.num_rows))
        random.shuffle(order)
        yield batch.take(pa.array(order, pa.int64()))


def session(master: str, configuration: dict[str, str]) -> SparkSession:
    """A session whose workers have this interpreter and these packages."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    for name, value in {"spark.sql.shuffle.partitions": "2", **configuration}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    register(spark)
    return spark


def fill(servers: str, topic: str, row_count: int, *, size: int = 6) -> Counter[bytes]:
    """Produce numbered records of so many bytes; returns what must come out."""
    values = [b"%0*d" % (size, number) for number in range(row_count)]
    with Producer[bytes, bytes](bootstrap_servers=servers) as producer:
        for number, value in enumerate(values):
            producer.send(topic, value, key=b"%d" % (number % KEY_COUNT))
    return Counter(values)


def committed(servers: str, topic: str) -> Counter[bytes]:
    """What readers of committed records find in a topic."""
    return written(servers, topic, "read_committed")


def written(servers: str, topic: str, isolation: str = "read_uncommitted") -> Counter[bytes]:
    """What is in a topic, also of transactions that were aborted."""
    settings = {
        "bootstrap.servers": servers,
        "isolation.level": isolation,
        "fetch.max.wait.ms": "20",
    }
    found: Counter[bytes] = Counter()
    with Consumer[bytes, bytes](settings) as consumer:
        partitions: list[TopicPartition] = consumer.partitions_of(topic)
        ends = consumer.end_offsets(partitions)
        consumer.assign(dict.fromkeys(partitions, 0))
        while any(consumer.position(each) < ends[each] for each in partitions):
            found.update(consumer.poll_table(0.1, columns=["value"]).column("value").to_pylist())
    return found


def size_of(pipeline: Pipeline) -> int:
    """How much was written, committed or not."""
    return end_of(pipeline.target, pipeline.servers)


def as_argument(pipeline: Pipeline) -> str:
    """What the program is called with."""
    return json.dumps(asdict(pipeline))


def main(argument: str) -> None:
    pipeline = Pipeline(**json.loads(argument))
    spark = session(pipeline.master, pipeline.configuration)
    pipeline.start(pipeline.rows(spark)).awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
