"""How long producers wait when a broker is killed or stopped: Moldau's cluster and Apache's.

bin/bench failover [rounds] [partitions] [contestants]

Three brokers each on one ZooKeeper, the same session timeout; contestants are some of
apache,moldau,tree, the last being Moldau's on its own tree, and the first two by default. A
producer sends a record every few milliseconds, acknowledged by all; then the leader's process is
killed, or told to stop, or killed and started again at once, or the controller's is killed. What
counts is the longest time
between two acknowledgements, records that failed, and how long a start at once takes: a broker of
Apache's ends while its last registration is there, and is started until it does not. That is
done with one partition and with two thousand, of which the last one is written to, unless
another number is given.
"""

import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from math import nan
from pathlib import Path
from statistics import median
from typing import Protocol

from bench.measure import print_table
from confluent_kafka import KafkaError, Message, Producer

from conformance.apache.broker import ApacheBroker, zookeeper
from conformance.apache.cache import exclusive
from conformance.apache.jvm import AS_SHIPPED
from conformance.our_broker import OurBroker
from conformance.our_tree import our_tree
from moldau.errors import ErrorCode
from moldau.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from moldau.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from moldau.testing.wire import WireClient

ROUNDS = 10
PARTITION_COUNTS = (1, 2_000)
CONTESTANTS = ("apache", "moldau")
_NAMES = {"apache": "Apache 3.9", "moldau": "Moldau", "tree": "Moldau, own tree"}
BROKERS = (1, 2, 3)
TOPIC = "failover"
_SETTINGS = {
    "min.insync.replicas": "2",
    "zookeeper.session.timeout.ms": "6000",
    "controlled.shutdown.enable": "true",
}
# Two thousand partitions take Apache's brokers a while to create, and to bring into sync.
_READY_S = 180
_INTERVAL_S = 0.005
_METADATA_VERSION, _CREATE_TOPICS_VERSION = 5, 4


class Member(Protocol):
    """A broker of either kind."""

    @property
    def bootstrap(self) -> str: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def kill(self) -> None: ...


class End(Enum):
    """What happens to a broker."""

    KILL = "leader, kill -9"
    CONTROLLER = "controller, kill -9"
    RESTART = "leader, kill -9 and start"
    STOP = "leader, SIGTERM"


@dataclass(slots=True)
class Load:
    """A producer at work, and when its records were acknowledged."""

    bootstrap: str
    partition: int
    acknowledged_s: list[float] = field(default_factory=list)
    failed: int = 0
    started_s: float = nan
    """How long the broker took to start again, where that was at once."""
    _is_over: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Produce until told to end."""
        producer = Producer({"bootstrap.servers": self.bootstrap, "acks": "all", "linger.ms": 0})
        while not self._is_over.is_set():
            producer.produce(
                TOPIC, b"v" * 100, partition=self.partition, on_delivery=self._answered
            )
            producer.poll(_INTERVAL_S)
        producer.flush(_READY_S)

    def end(self) -> None:
        self._is_over.set()

    def _answered(self, error: KafkaError | None, _message: Message) -> None:
        if error is None:
            self.acknowledged_s.append(time.monotonic())
        else:
            self.failed += 1

    def longest_pause_s(self) -> float:
        times = self.acknowledged_s
        return max(after - before for before, after in pairwise(times))


class Cluster:
    """Three brokers with one topic."""

    def __init__(self, name: str, members: dict[int, Member], partition_count: int) -> None:
        self.name = name
        self._partition_count = partition_count
        self._members = members
        for member in members.values():
            member.start()
        self._create_topic()

    @property
    def bootstrap(self) -> str:
        return ",".join(member.bootstrap for member in self._members.values())

    def interrupt(self, end: End) -> Load:
        """Let a producer work while a broker goes, and bring that back afterwards."""
        leader, controller = self._until_in_sync()
        victim = self._members[controller if end is End.CONTROLLER else leader]
        load = Load(self.bootstrap, self._partition_count - 1)
        working = threading.Thread(target=load.run)
        working.start()
        while len(load.acknowledged_s) < 100:
            time.sleep(_INTERVAL_S)
        if end is End.STOP:
            victim.stop()
        else:
            victim.kill()
        count = len(load.acknowledged_s)
        if end is End.RESTART:
            load.started_s = _started_in_s(victim)
        deadline = time.monotonic() + _READY_S
        while len(load.acknowledged_s) < count + 100 and time.monotonic() < deadline:
            time.sleep(_INTERVAL_S)
        load.end()
        working.join()
        if end is not End.RESTART:
            victim.start()
        return load

    def _create_topic(self) -> None:
        topic = CreatableTopic(
            name=TOPIC,
            num_partitions=self._partition_count,
            replication_factor=len(BROKERS),
            assignments=[],
            configs=[],
        )
        request = CreateTopicsRequest(topics=[topic], timeout_ms=30_000)
        for member in self._members.values():
            with WireClient(member.bootstrap, timeout_s=_READY_S) as client:
                response = client.ask(request, _CREATE_TOPICS_VERSION)
            if response.topics[0].error_code in (ErrorCode.NONE, ErrorCode.REQUEST_TIMED_OUT):
                return
        raise RuntimeError(f"nobody of {self.name} created the topic")

    def _until_in_sync(self) -> tuple[int, int]:
        """The leader and the controller, as soon as all replicas are in sync."""
        deadline = time.monotonic() + _READY_S
        request = MetadataRequest(
            topics=[MetadataRequestTopic(name=TOPIC)], allow_auto_topic_creation=False
        )
        while time.monotonic() < deadline:
            with WireClient(self._members[BROKERS[0]].bootstrap) as client:
                found = client.ask(request, _METADATA_VERSION)
            (topic,) = found.topics
            in_sync = [one for one in topic.partitions if len(one.isr_nodes) == len(BROKERS)]
            if len(in_sync) == self._partition_count and found.controller_id in BROKERS:
                leaders = {one.partition_index: one.leader_id for one in in_sync}
                return leaders[self._partition_count - 1], found.controller_id
            time.sleep(0.1)
        raise TimeoutError(f"replicas of {self.name} are not in sync")


def _started_in_s(member: Member) -> float:
    """Start a broker as often as it takes."""
    began_s = time.monotonic()
    while True:
        try:
            member.start()
        except RuntimeError:
            assert time.monotonic() < began_s + _READY_S
        else:
            return time.monotonic() - began_s


@contextmanager
def clusters(
    directory: Path, partition_count: int, contestants: Sequence[str]
) -> Iterator[list[Cluster]]:
    """The clusters, all of them running."""
    with ExitStack() as stack:
        stack.enter_context(exclusive("broker"))
        port = stack.enter_context(zookeeper(directory / "zookeeper"))
        made = []
        for name in contestants:
            place = directory / name
            place.mkdir()
            if name == "tree":
                port = stack.enter_context(our_tree(place / "tree")).port
            members = {number: _member(name, place, port, number) for number in BROKERS}
            for member in members.values():
                stack.callback(member.kill)
            made.append(Cluster(_NAMES[name], members, partition_count))
        yield made


def _member(name: str, place: Path, tree_port: int, number: int) -> Member:
    settings = {
        **_SETTINGS,
        "broker.id": str(number),
        "zookeeper.connect": f"127.0.0.1:{tree_port}/{name}",
    }
    directory = place / str(number)
    if name != "apache":
        return OurBroker(directory, settings)
    directory.mkdir()
    return ApacheBroker(directory, tree_port, settings, AS_SHIPPED)


def compare(rounds: int, partition_count: int, contestants: Sequence[str]) -> None:
    """Kill and stop brokers, and print the table."""
    rows: list[Sequence[str]] = []
    with (
        tempfile.TemporaryDirectory() as directory,
        clusters(Path(directory), partition_count, contestants) as both,
    ):
        for end in End:
            loads: dict[str, list[Load]] = {cluster.name: [] for cluster in both}
            for _ in range(rounds):
                for cluster in both:
                    loads[cluster.name].append(cluster.interrupt(end))
            for name, found in loads.items():
                pauses = [load.longest_pause_s() for load in found]
                failed = sum(load.failed for load in found)
                starts = [load.started_s for load in found]
                started = f"{median(starts):.2f}" if end is End.RESTART else ""
                row = (f"{median(pauses):.2f}", f"{max(pauses):.2f}", str(failed), started)
                rows.append((end.value, name, *row))
    columns = ("what ends", "", "pause s, median", "largest", "failed records", "start s, median")
    title = f"Fail-over, {partition_count} partitions, {rounds} rounds, session timeout 6 s"
    print_table(title, columns, rows)


if __name__ == "__main__":
    for count in map(int, sys.argv[2:3] or PARTITION_COUNTS):
        compare(
            int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS,
            count,
            sys.argv[3].split(",") if len(sys.argv) > 3 else CONTESTANTS,
        )
