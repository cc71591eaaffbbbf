"""Three brokers each, Moldau's and Apache Kafka 3.9's: replicated throughput, CPU, latency.

bin/bench cluster [pairs] [scale]

Both clusters run side by side on one ZooKeeper and take turns. Topics have three replicas,
two of which must be in sync; producers ask for all. CPU is that of the three brokers
together, and of one gigabyte produced, which they then store three times. `scale` makes the
workloads smaller, such as 0.1 to try the command out.
"""

import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.broker import BULK, SINGLE
from bench.brokers import Contestant, moldau, until_metadata
from bench.comparison import Figures, Row, Workload, print_rows, take_turns
from bench.fresh_memory import touch_free_memory
from bench.librdkafka import run_load

from conformance.apache.broker import ApacheBroker, zookeeper
from conformance.apache.cache import exclusive
from conformance.apache.jvm import AS_SHIPPED
from moldau.errors import ErrorCode
from moldau.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from moldau.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from moldau.testing.wire import WireClient

PAIRS = 5
BROKERS = (1, 2, 3)
_READY_S = 60
_SETTINGS = {
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "offsets.topic.replication.factor": "3",
    "log.segment.delete.delay.ms": "1000",
    "delete.topic.enable": "true",
}
# Kept by both, so that requests are the same.
_METADATA_VERSION, _CREATE_TOPICS_VERSION = 5, 4


@dataclass(slots=True)
class Trio(Contestant):
    """Three brokers, measured as one."""

    members: list[Contestant] = field(default_factory=list)

    @property
    def bootstrap(self) -> str:
        return ",".join(member.bootstrap for member in self.members)

    def cpu_s(self) -> float:
        return sum(member.cpu_s() for member in self.members)

    def memory_mb(self) -> float:
        return sum(member.memory_mb() for member in self.members)

    def create_topic(self, topic: str, partitions: int) -> None:
        """Create a topic with three replicas and wait until all are in sync."""
        request = CreateTopicsRequest(
            topics=[
                CreatableTopic(
                    name=topic,
                    num_partitions=partitions,
                    replication_factor=len(BROKERS),
                    assignments=[],
                    configs=[],
                )
            ],
            timeout_ms=30_000,
        )
        outcomes = []
        for member in self.members:
            with WireClient(member.bootstrap) as client:
                response = client.ask(request, _CREATE_TOPICS_VERSION)
            outcomes.append(ErrorCode(response.topics[0].error_code))
            if outcomes[-1] is ErrorCode.NONE:
                break
        else:
            raise RuntimeError(f"{topic} was not created: {outcomes}")
        deadline = time.monotonic() + _READY_S
        while not all(self._is_ready(member, topic, partitions) for member in self.members):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{topic} was not ready in {_READY_S} s")
            time.sleep(0.05)

    @staticmethod
    def _is_ready(member: Contestant, topic: str, partitions: int) -> bool:
        request = MetadataRequest(
            topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False
        )
        with WireClient(member.bootstrap) as client:
            (found,) = client.ask(request, _METADATA_VERSION).topics
        return len(found.partitions) == partitions and all(
            len(partition.isr_nodes) == len(BROKERS) for partition in found.partitions
        )

    def delete_topic(self, topic: str) -> None:
        for member in self.members:  # only the controller does it
            member.delete_topic(topic)


@contextmanager
def clusters(directory: Path) -> Iterator[tuple[Trio, Trio]]:
    """Apache's cluster and ours, both running."""
    touch_free_memory()
    with ExitStack() as stack:
        stack.enter_context(exclusive("broker"))
        port = stack.enter_context(zookeeper(directory / "zookeeper"))
        began = time.monotonic()
        apache = [_apache(directory, port, number, stack) for number in BROKERS]
        apache_s = time.monotonic() - began
        began = time.monotonic()
        ours = [
            stack.enter_context(moldau(directory / f"moldau-{number}", _ours(port, number)))
            for number in BROKERS
        ]
        moldau_s = time.monotonic() - began
        yield (
            Trio("Apache", apache[0].port, apache[0].pid, apache_s, apache),
            Trio("Moldau", ours[0].port, ours[0].pid, moldau_s, ours),
        )


def _apache(directory: Path, port: int, number: int, stack: ExitStack) -> Contestant:
    settings = {
        **_SETTINGS,
        "broker.id": str(number),
        "zookeeper.connect": f"127.0.0.1:{port}/apache",
    }
    broker = ApacheBroker(directory / f"apache-{number}", port, settings, AS_SHIPPED)
    broker.directory.mkdir()
    began = time.monotonic()
    stack.callback(broker.kill)
    broker.start()
    until_metadata(broker.port)
    return Contestant("Apache", broker.port, broker.pid, time.monotonic() - began)


def _ours(port: int, number: int) -> Mapping[str, str]:
    return {
        **_SETTINGS,
        "broker.id": str(number),
        "zookeeper.connect": f"127.0.0.1:{port}/moldau",
    }


def produce(size: int, count: int, partitions: int) -> Workload:
    """As fast as it goes, acknowledged by all."""
    gigabytes = size * count / 1e9

    def run(cluster: Contestant, topic: str) -> Figures:
        assert isinstance(cluster, Trio)
        cluster.create_topic(topic, partitions)
        before = cluster.cpu_s()
        result = run_load(
            *("produce", topic, str(size), str(count), "1", str(partitions)),
            *(f"bootstrap.servers={cluster.bootstrap}", "acks=all"),
            *BULK,
        )
        cpu = cluster.cpu_s() - before
        cluster.delete_topic(topic)
        assert not result["failed"]
        return {"MB/s": gigabytes * 1e3 / result["seconds"], "CPU s/GB": cpu / gigabytes}

    return Workload(f"acks all {size} B, {partitions} partitions", run)


def single(count: int) -> Workload:
    """One record in each request, five of them under way."""

    def run(cluster: Contestant, topic: str) -> Figures:
        assert isinstance(cluster, Trio)
        cluster.create_topic(topic, 1)
        before = cluster.cpu_s()
        result = run_load(
            *("produce", topic, "100", str(count), "1", "1"),
            *(f"bootstrap.servers={cluster.bootstrap}", "acks=all"),
            *SINGLE,
        )
        cpu = cluster.cpu_s() - before
        cluster.delete_topic(topic)
        return {"requests/s": count / result["seconds"], "CPU us/request": cpu / count * 1e6}

    return Workload("acks all, single records", run)


def latency(count: int) -> Workload:
    """From produce to consume, which waits for all replicas."""

    def run(cluster: Contestant, topic: str) -> Figures:
        assert isinstance(cluster, Trio)
        cluster.create_topic(topic, 1)
        result = run_load("latency", topic, "100", str(count), cluster.bootstrap)
        cluster.delete_topic(topic)
        return {"p50 us": result["p50_us"], "p99 us": result["p99_us"]}

    return Workload("end to end, three replicas", run)


def compare(pairs: int, scale: float) -> None:
    """Run everything and print the table."""
    workloads = [
        produce(1024, int(500_000 * scale), 1),
        produce(1024, int(500_000 * scale), 6),
        single(int(10_000 * scale)),
        latency(int(2_000 * scale)),
    ]
    with (
        tempfile.TemporaryDirectory() as directory,
        clusters(Path(directory)) as (apache, ours),
    ):
        idle = [one.memory_mb() for one in (apache, ours)]
        rows = [
            Row("memory of three idle brokers, MB", *idle),
            *take_turns(apache, ours, workloads, pairs),
            Row("memory after load, MB", apache.memory_mb(), ours.memory_mb()),
        ]
    print_rows(f"Three brokers, medians of {pairs} pairs", rows)


if __name__ == "__main__":
    compare(
        int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS,
        float(sys.argv[2]) if len(sys.argv) > 2 else 1.0,
    )
