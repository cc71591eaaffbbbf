"""Apache Kafka and our brokers in one cluster, moved from one to the other under load.

A broker is replaced by stopping it and starting the other kind on its log directory, under
its id and port. At `inter.broker.protocol.version` 2.4 leaders write in-sync sets and claim
producer ids themselves; at 3.9 Apache's asks the controller to.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from kazoo.client import KazooClient

from conformance.apache.broker import ApacheBroker, zookeeper
from conformance.apache.cache import exclusive
from conformance.apache.marks import needs_apache
from conformance.our_broker import OurBroker
from conformance.our_cluster import DEADLINE_S, OurCluster, until

pytestmark = needs_apache("kafka-3.9")

TOPIC = "mixed"
PARTITIONS = 3
_SETTINGS = {
    "zookeeper.session.timeout.ms": "4000",
    "min.insync.replicas": "2",
    "default.replication.factor": "3",
    "offsets.topic.replication.factor": "3",
    "offsets.topic.num.partitions": "1",
    "replica.lag.time.max.ms": "5000",
    "controlled.shutdown.enable": "true",
    "controlled.shutdown.retry.backoff.ms": "500",
    "group.initial.rebalance.delay.ms": "0",
}


OwnSettings = Callable[[OurBroker], Mapping[str, str]]
"""What a broker, of either kind, has for itself."""


class Load:
    """A thread that produces numbered records, and knows which were acknowledged."""

    def __init__(self, bootstrap: str, settings: Mapping[str, str] | None = None) -> None:
        self.acknowledged: set[int] = set()
        self.errors: list[KafkaError] = []
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "acks": "all",
                "enable.idempotence": True,
                "linger.ms": 5,
                "message.timeout.ms": 60_000,
                **(settings or {}),
            }
        )
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        number = 0
        while not self._is_over.is_set():
            self._producer.produce(TOPIC, b"%d" % number, on_delivery=self._note)
            number += 1
            self._producer.poll(0.002)

    def _note(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            self.acknowledged.add(int(message.value() or b""))
        else:
            self.errors.append(error)

    def wait_for_more(self, count: int = 100) -> None:
        """Wait until so many more records are acknowledged."""
        wanted = len(self.acknowledged) + count
        until(lambda: len(self.acknowledged) >= wanted, f"{count} more acknowledged records")

    def finish(self) -> None:
        self._is_over.set()
        self._thread.join()
        assert self._producer.flush(60) == 0


class MixedCluster:
    """Three brokers, of which at most one is Apache's at a time."""

    def __init__(
        self,
        directory: Path,
        port: int,
        tree: KazooClient,
        protocol: str,
        own_settings: OwnSettings = lambda _broker: {},
    ) -> None:
        connect = f"127.0.0.1:{port}"
        self._settings = {**_SETTINGS, "inter.broker.protocol.version": protocol}
        self._own_settings = own_settings
        self.ours = OurCluster(
            {
                number: OurBroker(
                    directory / f"broker{number}",
                    {**self._settings, "broker.id": str(number), "zookeeper.connect": connect},
                )
                for number in (1, 2, 3)
            },
            tree,
            connect,
        )
        for broker in self.ours.brokers.values():
            broker.settings = {**broker.settings, **own_settings(broker)}
        self._zookeeper_port = port
        self._apache: tuple[int, ApacheBroker] | None = None

    def start_apache(self, number: int) -> None:
        """Apache's broker, on the directory and port of ours."""
        assert self._apache is None
        broker = self.ours.brokers[number]
        broker.directory.mkdir(exist_ok=True)
        settings = {**self._settings, "broker.id": str(number), **self._own_settings(broker)}
        apache = ApacheBroker(broker.directory, self._zookeeper_port, settings)
        apache.port = broker.port
        apache.start()
        self._apache = number, apache

    def stop_apache(self) -> int:
        """Stop it cleanly; returns which one it was."""
        assert self._apache is not None
        (number, apache), self._apache = self._apache, None
        apache.stop()
        return number

    def kill_all(self) -> None:
        if self._apache is not None:
            self._apache[1].kill()
        for broker in self.ours.brokers.values():
            broker.kill()

    def give_to_apache(self, number: int) -> None:
        self.ours.brokers[number].stop()
        self.start_apache(number)
        self.ours.until_in_sync(TOPIC, PARTITIONS)

    def take_from_apache(self) -> None:
        number = self.stop_apache()
        self.ours.brokers[number].start()
        self.ours.until_in_sync(TOPIC, PARTITIONS)


@contextmanager
def mixed_cluster(
    directory: Path, protocol: str, own_settings: OwnSettings = lambda _broker: {}
) -> Iterator[MixedCluster]:
    with ExitStack() as stack:
        stack.enter_context(exclusive("broker"))
        port = stack.enter_context(zookeeper(directory / "zookeeper"))
        tree = KazooClient(f"127.0.0.1:{port}")
        tree.start()
        stack.callback(tree.close)
        stack.callback(tree.stop)
        made = MixedCluster(directory, port, tree, protocol, own_settings)
        stack.callback(made.kill_all)
        yield made


PROTOCOLS = ["2.4", "3.9"]
# As long as ZooKeeper lets them be here: whoever waits for the end of one has not noticed before.
LONG_SESSIONS = {"zookeeper.session.timeout.ms": "10000"}


@pytest.fixture(params=PROTOCOLS)
def cluster(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[MixedCluster]:
    with mixed_cluster(tmp_path, request.param) as made:
        yield made


def create(cluster: OurCluster, name: str, partition_count: int) -> None:
    # A client of its own each time: it remembers who was controller.
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    admin.create_topics([NewTopic(name, partition_count, 3)])[name].result(DEADLINE_S)
    cluster.until_in_sync(name, partition_count)


def leaders(cluster: OurCluster) -> set[int]:
    return {cluster.state(TOPIC, number).leader for number in range(PARTITIONS)}


def consumed(bootstrap: str, count: int, settings: Mapping[str, str] | None = None) -> list[int]:
    """All records of the topic, in the order in which they come."""
    own = {"bootstrap.servers": bootstrap, "group.id": "g", "auto.offset.reset": "earliest"}
    consumer = Consumer({**own, **(settings or {})})
    consumer.subscribe([TOPIC])
    values: list[int] = []
    deadline = time.monotonic() + DEADLINE_S
    while len(values) < count and time.monotonic() < deadline:
        values += [
            int(message.value() or b"")
            for message in consumer.consume(500, 0.5)
            if not message.error()
        ]
    consumer.close()
    return values


def test_a_cluster_moves_from_apache_to_us_and_back_under_load(cluster: MixedCluster) -> None:
    ours = cluster.ours
    cluster.start_apache(1)
    assert until(ours.controller, "there is a controller") == 1
    ours.brokers[2].start()
    ours.brokers[3].start()
    create(ours, TOPIC, PARTITIONS)
    load = Load(ours.bootstrap)
    load.wait_for_more()
    # Apache's is replaced; one of ours is controller now.
    cluster.take_from_apache()
    assert ours.controller() in (2, 3)
    load.wait_for_more()
    # A broker of ours is replaced by Apache's, which follows and leads what is ours.
    cluster.give_to_apache(2)
    load.wait_for_more()
    create(ours, "second", 1)
    # Its leaderships go over to us when it dies.
    assert cluster._apache is not None
    cluster._apache[1].kill()
    load.wait_for_more()
    # Ours have noticed at once; Apache's does not start while its old registration is there.
    until(lambda: 2 not in ours.live(), "its session has ended")
    cluster._apache[1].start()
    ours.until_in_sync(TOPIC, PARTITIONS)
    # Apache's becomes controller when all of ours are stopped, and stays it.
    assert ours.controller() in (1, 3)
    for number in (1, 3):
        ours.brokers[number].stop()
    until(lambda: ours.controller() == 2, "Apache's is controller")
    for number in (1, 3):
        ours.brokers[number].start()
    ours.until_in_sync(TOPIC, PARTITIONS)
    load.wait_for_more()
    create(ours, "third", 1)
    assert ours.controller() == 2
    cluster.take_from_apache()
    assert ours.controller() in (1, 3)
    load.wait_for_more()
    load.finish()
    assert load.errors == []
    values = consumed(ours.bootstrap, len(load.acknowledged))
    assert sorted(values) == sorted(load.acknowledged)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_apaches_broker_lives_and_dies_in_a_cluster_that_ours_has_begun(
    protocol: str, tmp_path: Path
) -> None:
    """Ours has made all nodes that there are, and what is not in them yet must be no surprise."""
    with mixed_cluster(tmp_path, protocol, lambda _broker: LONG_SESSIONS) as cluster:
        ours = cluster.ours
        ours.brokers[1].start()
        cluster.start_apache(2)
        ours.brokers[3].start()
        assert ours.controller() == 1
        create(ours, TOPIC, PARTITIONS)
        load = Load(ours.bootstrap)
        load.wait_for_more()
        load.finish()
        assert load.errors == []
        values = consumed(ours.bootstrap, len(load.acknowledged))
        assert sorted(values) == sorted(load.acknowledged)
        assert cluster._apache is not None
        cluster._apache[1].kill()
        until(lambda: leaders(ours) <= {1, 3}, "ours lead what Apache's has led")
        assert 2 in ours.live(), "its session has not ended yet"
