"""Topics written by Spark: what exactly once costs over at least once, and how soon rows are there.

bin/bench spark_writes [rounds] [rows]

The same rows, read from a topic of 6 partitions in several micro-batches, go to another one by
`writeStream.format("moldau")` and by `write_stream`, in turns and in one session: without keys,
which takes no shuffle, and with keys. The first micro-batch, with the start of the query, does not
count. Then a trickle of rows passes from and to topics of 2 partitions through a query of each
kind: the median time of its triggers, and of the rows from one topic to the other.
"""

import itertools
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.brokers import moldau
from bench.measure import end, print_table
from bench.spark import PARTITIONS, Figures, fill, session, spark_cpu, topic_of
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from moldau.client.admin.topics import NewTopic
from moldau.client.blocking import Admin, Consumer, Producer
from moldau.spark import write_stream

ROUNDS = 5
ROWS = 2_000_000
WARM_UP_ROUNDS = 1
STEPS = 6
SIZE = "100 B"
ALO, EOS = "at least once", "exactly once"
COLUMNS = {
    "without keys": ("value",),
    "with keys": ("CAST(CAST(offset AS STRING) AS BINARY) AS key", "value"),
}
OVERHEAD_AIMS = {"without keys": 1.2, "with keys": 1.25}
TRIGGER_MS_AIM = {ALO: 250, EOS: 400}
TRICKLE_ROWS_PER_S, TRICKLE_S, TRICKLE_WARM_UP = 1000, 25, 8
TRICKLE_PARTITIONS = 2  # as many as there are cores


@dataclass(frozen=True, slots=True)
class Pipeline:
    """From one topic to another, by one of the two ways."""

    spark: SparkSession
    bootstrap: str
    way: str
    checkpoint: str

    def start(
        self, frame: DataFrame, topic: str, trigger: Mapping[str, object] | None = None
    ) -> StreamingQuery:
        """The running query."""
        options = {
            "kafka.bootstrap.servers": self.bootstrap,
            "topic": topic,
            "checkpointLocation": self.checkpoint,
        }
        if self.way == EOS:
            return write_stream(frame, options, trigger=trigger)
        writer = frame.writeStream.format("moldau").options(**options)
        if trigger is not None:
            writer = writer.trigger(**trigger)  # type: ignore[call-overload]
        return writer.start()

    def source(self, topic: str, **options: str) -> DataFrame:
        """The rows of a topic as they come."""
        stream = self.spark.readStream.format("moldau").options(**options)
        stream = stream.option("kafka.bootstrap.servers", self.bootstrap)
        return stream.option("subscribe", topic).load()


def copied(pipeline: Pipeline, columns: Sequence[str], count: int, topic: str) -> Figures:
    """Copy a whole topic; from the end of the first micro-batch to the end of the last."""
    limit = str(max(count // STEPS, 1))
    rows = pipeline.source(topic_of(SIZE), startingOffsets="earliest", maxOffsetsPerTrigger=limit)
    query = pipeline.start(rows.selectExpr(*columns), topic, {"availableNow": True})
    while query.lastProgress is None and query.isActive:
        time.sleep(0.01)
    began, cpu_began = time.perf_counter(), spark_cpu()
    query.awaitTermination()
    steps = [progress["numInputRows"] for progress in query.recentProgress]
    assert sum(steps) == count, f"{sum(steps)} of {count} rows were read"
    figures = Figures.since(began, cpu_began, count - steps[0])
    expect(pipeline.bootstrap, topic, count)
    return figures


def expect(bootstrap: str, topic: str, count: int) -> None:
    """All rows are there, once."""
    found = 0
    with Consumer[bytes, bytes](
        bootstrap_servers=bootstrap, isolation_level="read_committed", auto_offset_reset="earliest"
    ) as consumer:
        consumer.assign([*consumer.partitions_of(topic)])
        while found < count:
            found += consumer.poll_table(30).num_rows
        found += consumer.poll_table(0.2).num_rows
    assert found == count, f"{found} of {count} rows in {topic}"


@dataclass(frozen=True, slots=True)
class Trickle:
    """What a query of one kind does with a few rows at a time."""

    trigger_ms: float
    end_to_end_ms: float


def trickle(pipeline: Pipeline, name: str) -> Trickle:
    """Send rows that hold their own time, and look when they come out."""
    source, target = f"{name}-in", f"{name}-out"
    create(pipeline.bootstrap, source, target, partitions=TRICKLE_PARTITIONS)
    rows = pipeline.source(source, startingOffsets="earliest").select("value")
    query = pipeline.start(rows, target)
    is_over = threading.Event()
    sending = threading.Thread(target=send_times, args=(pipeline.bootstrap, source, is_over))
    taken_ms: list[float] = []
    with Consumer[bytes, bytes](
        bootstrap_servers=pipeline.bootstrap,
        isolation_level="read_committed",
        auto_offset_reset="earliest",
    ) as consumer:
        consumer.assign([*consumer.partitions_of(target)])
        sending.start()
        until_s = time.monotonic() + TRICKLE_S
        while time.monotonic() < until_s:
            records = consumer.poll(0.1)
            now_ns = time.time_ns()
            taken_ms += [(now_ns - int(record.value or 0)) / 1e6 for record in records]
    is_over.set()
    sending.join()
    triggers = [one["durationMs"]["triggerExecution"] for one in query.recentProgress]
    query.stop()
    steady = [*itertools.islice(triggers, TRICKLE_WARM_UP, None)]
    late = taken_ms[len(taken_ms) // 3 :]  # the first ones waited for the start of the query
    return Trickle(statistics.median(steady), statistics.median(late))


def send_times(bootstrap: str, topic: str, is_over: threading.Event) -> None:
    """A row every millisecond, until told to end."""
    with Producer[bytes, bytes](bootstrap_servers=bootstrap, linger_ms=1) as producer:
        while not is_over.wait(1 / TRICKLE_ROWS_PER_S):
            producer.send(topic, str(time.time_ns()).encode())


def create(bootstrap: str, *topics: str, partitions: int = PARTITIONS) -> None:
    with Admin(bootstrap_servers=bootstrap) as admin:
        admin.create_topics([NewTopic(each, partitions=partitions) for each in topics]).check()


def compare(rounds: int, rows: int) -> None:
    """Run everything and print the tables."""
    found: dict[tuple[str, str], list[Figures]] = {}
    trickles: dict[str, list[Trickle]] = {}
    names = map("target-{}".format, itertools.count())
    with (
        tempfile.TemporaryDirectory() as directory,
        moldau(Path(directory, "moldau"), {"log.segment.bytes": "268435456"}) as broker,
        session(Path(directory, "spark"), None) as spark,
    ):
        fill(broker.bootstrap, SIZE, rows)

        def pipeline(way: str, name: str) -> Pipeline:
            return Pipeline(spark, broker.bootstrap, way, f"{directory}/checkpoint-{name}")

        for number in range(-WARM_UP_ROUNDS, rounds):
            ways = (ALO, EOS) if number % 2 else (EOS, ALO)
            for kind, columns in COLUMNS.items():
                for way in ways:
                    name = next(names)
                    create(broker.bootstrap, name)
                    figures = copied(pipeline(way, name), columns, rows, name)
                    if number >= 0:
                        found.setdefault((kind, way), []).append(figures)
            print(f"round {number + 1} of {rounds} done", file=sys.stderr, flush=True)
        for number in range(max(1, rounds // 2)):
            for way in (ALO, EOS):
                one = trickle(pipeline(way, f"trickle-{number}-{way}"), next(names))
                trickles.setdefault(way, []).append(one)
    report(rounds, found, trickles)


def report(
    rounds: int,
    found: Mapping[tuple[str, str], list[Figures]],
    trickles: Mapping[str, list[Trickle]],
) -> None:
    """Print medians, and end badly if an aim was missed."""
    rows, misses = [], []

    def middle(kind: str, way: str, figure: Callable[[Figures], float]) -> float:
        return statistics.median(map(figure, found[kind, way]))

    for kind, way in found:
        per_s = middle(kind, way, lambda each: each.rows_per_s)
        per_cpu_s = middle(kind, way, lambda each: each.rows_per_cpu_s)
        cost = middle(kind, ALO, lambda each: each.rows_per_cpu_s) / per_cpu_s
        time_ratio = middle(kind, ALO, lambda each: each.rows_per_s) / per_s
        share = middle(kind, way, lambda each: each.python_share)
        cells = (f"{per_s:,.0f}", f"{per_cpu_s:,.0f}", f"{time_ratio:.2f}", f"{cost:.2f}")
        rows.append((f"{kind}, {way}", *cells, f"{share:.0%}"))
        if way == EOS and time_ratio > OVERHEAD_AIMS[kind]:
            misses.append(f"{kind}, exactly once takes {time_ratio:.2f} times as long")
    columns = ("", "rows/s", "rows/CPU s", "time", "CPU", "Python's part")
    title = f"Medians of {rounds} rounds; time and CPU against at least once"
    print_table(title, columns, sorted(rows))
    steady = []
    for way, each in trickles.items():
        trigger_ms = statistics.median(one.trigger_ms for one in each)
        end_to_end_ms = statistics.median(one.end_to_end_ms for one in each)
        steady.append((way, f"{trigger_ms:.0f}", f"{end_to_end_ms:.0f}"))
        if trigger_ms > TRIGGER_MS_AIM[way]:
            misses.append(f"{way}: {trigger_ms:.0f} ms")
    columns = (f"{TRICKLE_ROWS_PER_S} rows a second", "trigger, ms", "end to end p50, ms")
    print_table("Steady state", columns, steady)
    end(misses)


if __name__ == "__main__":
    numbers = [int(each) for each in sys.argv[1:]]
    compare(*(numbers + [ROUNDS, ROWS][len(numbers) :]))
