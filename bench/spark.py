"""Topics read by Spark: our source against the JVM connector, in one session and in turns.

bin/bench spark [rounds] [rows]

Topics of 6 partitions, with records of 100 bytes and of 1 KiB, all columns to `noop`, as a batch
and as a stream of several micro-batches, of which the first, with the start of the query, does
not count; two rounds before the first that counts. The processor time is that of the JVM
and of all Python workers, those that have ended among them, without the broker's. The ceiling is
a Python source that yields one prebuilt Arrow batch over and over: what is left when nothing has
to be fetched. Ours and the ceiling are there twice: with a task for each partition, as for the
connector, and with tasks that share partitions, as many as there are cores (`maxPartitions`).
Workers are on Unix sockets, and files of checkpoints are written in the way of
`moldau.spark.local`. The connector is Spark's own, from Maven; without it there is no
ratio, only the part of the ceiling.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from bench.brokers import moldau
from bench.measure import end, print_table
from bench.spark_ceiling import Ceiling
from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from conformance.apache.jars import jar_paths
from moldau.client.admin.topics import NewTopic
from moldau.client.blocking import Producer
from moldau.client.blocking.admin import Admin
from moldau.spark.local import CHECKPOINTS
from moldau.spark.source import register

ROUNDS = 5
ROWS = 3_000_000
WARM_UP_ROUNDS = 2
PARTITIONS = 6
STREAM_STEPS = 6
SIZES = {"100 B": 100, "1 KiB": 1024}
CPU_AIMS = {
    ("batch", "100 B"): 1.5,
    ("batch", "1 KiB"): 1.2,
    ("stream", "100 B"): 1.2,
    ("stream", "1 KiB"): 1.0,
}
CLOCK_AIM, CEILING_AIM = 1.5, 0.6
OURS, CONNECTOR, CEILING = "moldau", "kafka", Ceiling.name()
SHARED = ", shared tasks"
CORES = 2
_SLICE_BYTES = 8 << 20
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")

Turn = tuple[str, str, str]
"""How it is read, the size of records, and the format of the source."""


class CpuTime(NamedTuple):
    """Processor time that Spark has used, by the kind of process."""

    jvm_s: float
    python_s: float


@dataclass(frozen=True, slots=True)
class Figures:
    """What one turn gave."""

    rows_per_s: float
    rows_per_cpu_s: float
    python_share: float
    """Of the processor time."""

    @classmethod
    def since(cls, began: float, cpu_began: CpuTime, count: int) -> "Figures":
        """Of so many rows from then to now."""
        took_s, cpu = time.perf_counter() - began, spark_cpu()
        python_s = cpu.python_s - cpu_began.python_s
        cpu_s = max(cpu.jvm_s - cpu_began.jvm_s + python_s, 1 / _TICKS_PER_S)
        return cls(count / took_s, count / cpu_s, python_s / cpu_s)


def compare(rounds: int, rows: int) -> None:
    """Run everything and print the table."""
    counts = {"100 B": rows, "1 KiB": max(rows // 6, PARTITIONS)}
    settings = {"log.segment.bytes": "268435456"}
    connector = connector_jars()
    formats = [OURS, OURS + SHARED, CEILING, CEILING + SHARED]
    formats = formats if connector is None else [CONNECTOR, *formats]
    found: dict[Turn, list[Figures]] = {}
    with (
        tempfile.TemporaryDirectory() as directory,
        moldau(Path(directory, "moldau"), settings) as broker,
        session(Path(directory, "spark"), connector) as spark,
    ):
        for size, count in counts.items():
            fill(broker.bootstrap, size, count)
        for number in range(-WARM_UP_ROUNDS, rounds):
            for kind in ("batch", "stream"):
                for size, count in counts.items():
                    # Who begins changes, since the second finds a warmer machine.
                    for name in formats if number % 2 else reversed(formats):
                        options = options_of(broker.bootstrap, size, count)
                        checkpoint = f"{directory}/{kind}-{size}-{name}-{number}"
                        figures = measured(spark, name, options, kind, checkpoint)
                        if number >= 0:
                            found.setdefault((kind, size, name), []).append(figures)
            print(f"round {number + 1} of {rounds} done", file=sys.stderr, flush=True)
    report(rounds, found)


def connector_jars() -> tuple[Path, ...] | None:
    """The connector that fits this Spark, or None where it cannot be had."""
    try:
        return jar_paths("spark-connector-4.2")
    except (OSError, RuntimeError) as error:
        print(f"without the JVM connector: {error}", file=sys.stderr)
        return None


@contextmanager
def session(directory: Path, connector: tuple[Path, ...] | None) -> Iterator[SparkSession]:
    """Spark on two cores, quiet."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    builder = (
        SparkSession.builder.master(f"local[{CORES}]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.python.unix.domain.socket.enabled", "true")
        .config(map=CHECKPOINTS)
        .config("spark.local.dir", str(directory))
        .config("spark.sql.warehouse.dir", str(directory / "warehouse"))
    )
    if connector is not None:
        builder = builder.config("spark.jars", ",".join(map(str, connector)))
    spark = builder.getOrCreate()
    register(spark)
    spark.dataSource.register(Ceiling)
    yield spark
    spark.stop()


def topic_of(size: str) -> str:
    """The topic with records of this size."""
    return f"rows-{SIZES[size]}"


def fill(bootstrap: str, size: str, count: int) -> None:
    """Write so many rows, evenly to the partitions."""
    with Admin(bootstrap_servers=bootstrap) as admin:
        admin.create_topics([NewTopic(topic_of(size), partitions=PARTITIONS)]).check()
    value = os.urandom(SIZES[size])
    slice_rows = max(_SLICE_BYTES // SIZES[size], 1)
    with Producer[bytes, bytes](bootstrap_servers=bootstrap) as producer:
        for partition in range(PARTITIONS):
            left = count // PARTITIONS + (partition < count % PARTITIONS)
            while left > 0:
                table = pa.table({"value": [value] * min(left, slice_rows)})
                producer.send_table(topic_of(size), table, partition=partition)
                left -= table.num_rows
        producer.flush()


def options_of(bootstrap: str, size: str, count: int) -> dict[str, str]:
    """For every source; the last two are for the ceiling alone."""
    return {
        "kafka.bootstrap.servers": bootstrap,
        "subscribe": topic_of(size),
        "startingOffsets": "earliest",
        "rows": str(count),
        "size": str(SIZES[size]),
    }


def measured(
    spark: SparkSession, name: str, options: Mapping[str, str], kind: str, checkpoint: str
) -> Figures:
    """Read a whole topic once."""
    read = read_batch if kind == "batch" else read_stream
    shared = {"maxPartitions": str(CORES)} if name.endswith(SHARED) else {}
    return read(spark, name.removesuffix(SHARED), {**options, **shared, "checkpoint": checkpoint})


def read_batch(spark: SparkSession, name: str, options: Mapping[str, str]) -> Figures:
    """From beginning to end, planning included."""
    began, cpu_began = time.perf_counter(), spark_cpu()
    frame = spark.read.format(name).options(**options).load()
    frame.write.format("noop").mode("overwrite").save()
    return Figures.since(began, cpu_began, int(options["rows"]))


def read_stream(spark: SparkSession, name: str, options: Mapping[str, str]) -> Figures:
    """From the end of the first micro-batch to the end of the last."""
    count = int(options["rows"])
    limit = str(max(count // STREAM_STEPS, 1))
    stream = spark.readStream.format(name).options(**options)
    writer = stream.option("maxOffsetsPerTrigger", limit).load().writeStream.format("noop")
    writer = writer.option("checkpointLocation", options["checkpoint"])
    query = started(writer.trigger(availableNow=True))
    began, cpu_began = time.perf_counter(), spark_cpu()
    query.awaitTermination()
    steps = [progress["numInputRows"] for progress in query.recentProgress]
    assert sum(steps) == count, f"{name} read {sum(steps)} of {count} rows"
    return Figures.since(began, cpu_began, count - steps[0])


def started(writer: DataStreamWriter) -> StreamingQuery:
    """The query after its first micro-batch; a busy machine may need a second start, since
    Spark gives its Python workers ten seconds to connect."""
    while True:
        query = writer.start()
        while query.lastProgress is None and query.isActive:
            time.sleep(0.01)
        if "connect back" not in str(query.exception() or ""):
            return query


def spark_cpu() -> CpuTime:
    """Processor time of the JVM and of its descendants, the Python workers, with those of them
    that have ended and were waited for."""
    gateway = SparkContext._gateway  # nothing else knows the process
    assert gateway is not None
    children: dict[int, list[int]] = {}
    own: dict[int, int] = {}
    waited_for: dict[int, int] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = file.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        pid = int(file.parent.name)
        children.setdefault(int(fields[1]), []).append(pid)
        own[pid] = sum(map(int, fields[11:13]))
        waited_for[pid] = sum(map(int, fields[13:15]))
    jvm = gateway.proc.pid
    python, waiting = waited_for[jvm], [*children.get(jvm, ())]
    while waiting:
        pid = waiting.pop()
        python += own[pid] + waited_for[pid]
        waiting += children.get(pid, ())
    return CpuTime(own[jvm] / _TICKS_PER_S, python / _TICKS_PER_S)


def report(rounds: int, found: Mapping[Turn, list[Figures]]) -> None:
    """Print medians, and end badly if an aim was missed."""
    rows, misses = [], []
    rival = CONNECTOR if any(name == CONNECTOR for _, _, name in found) else CEILING
    for (kind, size, name), turns in found.items():
        per_cpu_s = [turn.rows_per_cpu_s for turn in turns]
        clock, cpu = _medians(turns)
        their_clock, their_cpu = _medians(found[kind, size, rival])
        rows.append(
            (
                f"{kind}, {size}, {name}",
                f"{clock:,.0f}",
                f"{clock / their_clock:.2f}",
                f"{cpu:,.0f}",
                f"{cpu / their_cpu:.2f}",
                f"{statistics.median(turn.python_share for turn in turns):.0%}",
                f"{max(per_cpu_s) / min(per_cpu_s):.2f}",
            )
        )
        aim = CPU_AIMS[kind, size] if rival == CONNECTOR else CEILING_AIM
        if name.startswith(OURS) and cpu / their_cpu < aim:
            misses.append(f"{kind}, {size}, {name}: {cpu / their_cpu:.2f} of {aim} by CPU")
        if name.startswith(OURS) and rival == CONNECTOR and clock / their_clock < CLOCK_AIM:
            misses.append(f"{kind}, {size}, {name}: {clock / their_clock:.2f} of {CLOCK_AIM}")
    columns = ("", "rows/s", f"to {rival}", "rows/CPU s", f"to {rival}", "Python's part", "spread")
    print_table(f"Medians of {rounds} rounds after {WARM_UP_ROUNDS}", columns, sorted(rows))
    end(misses)


def _medians(turns: list[Figures]) -> tuple[float, float]:
    """Rows for a second by the clock, and for one of the processor."""
    by_clock = statistics.median(turn.rows_per_s for turn in turns)
    return by_clock, statistics.median(turn.rows_per_cpu_s for turn in turns)


if __name__ == "__main__":
    numbers = [int(each) for each in sys.argv[1:]]
    compare(*(numbers + [ROUNDS, ROWS][len(numbers) :]))
