"""Moldau's broker against Apache Kafka 3.9: throughput, CPU, latency, start, memory.

bin/bench broker [pairs]

Both brokers run side by side and take turns; each row is the median over the pairs, with
the spread of Apache against itself (largest by smallest) beside it. The clients are
librdkafka's, from a C program, and Java's own perf tools. Broker CPU is the processor time
of the broker's process alone.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from bench.brokers import Contestant, contestants
from bench.comparison import Figures, Row, Workload, medians, print_rows, take_turns
from bench.librdkafka import run_load

from conformance.apache.jars import class_path
from conformance.apache.jvm import java_command

PAIRS = 5
STARTS = 3
BULK = (
    "linger.ms=5",
    "batch.size=1000000",
    "batch.num.messages=100000",
    "queue.buffering.max.kbytes=1000000",
    "queue.buffering.max.messages=1000000",
)
SINGLE = ("linger.ms=0", "batch.num.messages=1", "max.in.flight.requests.per.connection=5")
CONSUME = ("fetch.message.max.bytes=10000000", "queued.min.messages=1000000")


def bulk(size: int, count: int, codec: str = "none") -> list[Workload]:
    """Produce a topic and read it again."""
    gigabytes = size * count / 1e9

    def produce(broker: Contestant, topic: str) -> Figures:
        before = broker.cpu_s()
        result = run_load(
            *("produce", topic, str(size), str(count), "1", "1"),
            *(f"bootstrap.servers={broker.bootstrap}", "acks=1", f"compression.codec={codec}"),
            *BULK,
        )
        cpu = broker.cpu_s() - before
        return {"MB/s": gigabytes * 1e3 / result["seconds"], "CPU s/GB": cpu / gigabytes}

    def consume(broker: Contestant, topic: str) -> Figures:
        before = broker.cpu_s()
        result = run_load(
            *("consume", topic.replace("consume", "produce"), str(count)),
            f"bootstrap.servers={broker.bootstrap}",
            *CONSUME,
        )
        cpu = broker.cpu_s() - before
        broker.delete_topic(topic.replace("consume", "produce"))
        return {"MB/s": gigabytes * 1e3 / result["seconds"], "CPU s/GB": cpu / gigabytes}

    label = f"{size} B" + ("" if codec == "none" else f" {codec}")
    return [Workload(f"produce {label}", produce), Workload(f"consume {label}", consume)]


def single(clients: int, count: int) -> Workload:
    """One record in each request."""

    def run(broker: Contestant, topic: str) -> Figures:
        before = broker.cpu_s()
        result = run_load(
            *("produce", topic, "100", str(count), str(clients), "1"),
            *(f"bootstrap.servers={broker.bootstrap}", "acks=1"),
            *SINGLE,
        )
        cpu = broker.cpu_s() - before
        broker.delete_topic(topic)
        return {"requests/s": count / result["seconds"], "CPU us/request": cpu / count * 1e6}

    return Workload(f"single records, {clients} connections", run)


def latency(count: int) -> Workload:
    """From produce to consume, one record at a time."""

    def run(broker: Contestant, topic: str) -> Figures:
        result = run_load("latency", topic, "100", str(count), broker.bootstrap)
        broker.delete_topic(topic)
        return {"p50 us": result["p50_us"], "p99 us": result["p99_us"]}

    return Workload("end to end", run)


def java_produce(count: int) -> Workload:
    """Java's producer as its perf tool runs it, with default batches."""

    def run(broker: Contestant, topic: str) -> Figures:
        before = broker.cpu_s()
        output = subprocess.run(
            java_command(
                class_path("kafka-3.9"),
                "org.apache.kafka.tools.ProducerPerformance",
                *("--topic", topic, "--num-records", str(count), "--record-size", "1024"),
                *("--throughput", "-1", "--producer-props", "acks=1"),
                f"bootstrap.servers={broker.bootstrap}",
                options=(),
            ),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        cpu = broker.cpu_s() - before
        broker.delete_topic(topic)
        megabytes = float(output.strip().splitlines()[-1].split("(")[1].split()[0])
        return {"MB/s": megabytes * 1.048576, "CPU s/GB": cpu / (count * 1024 / 1e9)}

    return Workload("Java produce 1024 B", run)


def workloads() -> list[Workload]:
    """All of them, the cheap ones last."""
    return [
        *bulk(1024, 500_000),
        *bulk(100, 3_000_000),
        *bulk(1024, 300_000, "lz4"),
        *bulk(1024, 300_000, "zstd"),
        single(1, 30_000),
        single(50, 30_000),
        single(200, 30_000),
        latency(2_000),
        java_produce(300_000),
    ]


def started_rows() -> list[Row]:
    """What a start on an empty directory takes, and how much memory is used then."""
    with (
        tempfile.TemporaryDirectory() as directory,
        contestants(Path(directory)) as (apache, moldau),
    ):
        return [
            Row("start to first Metadata, s", apache.start_s, moldau.start_s),
            Row("memory idle, MB", apache.memory_mb(), moldau.memory_mb()),
        ]


def compare(pairs: int) -> None:
    """Run everything and print the table."""
    started = [row for _ in range(STARTS) for row in started_rows()]
    with (
        tempfile.TemporaryDirectory() as directory,
        contestants(Path(directory)) as (apache, moldau),
    ):
        rows = [
            *medians(started),
            *take_turns(apache, moldau, workloads(), pairs),
            Row("memory after load, MB", apache.memory_mb(), moldau.memory_mb()),
        ]
    print_rows(f"Medians of {pairs} pairs", rows)


if __name__ == "__main__":
    compare(int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS)
