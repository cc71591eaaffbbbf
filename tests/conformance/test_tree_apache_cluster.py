"""Three brokers of Apache Kafka 3.9 on our tree: brokers and tree die under load."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from kazoo.client import KazooClient

from conformance.apache.broker import ApacheBroker
from conformance.apache.cache import exclusive
from conformance.apache.marks import needs_apache
from conformance.our_cluster import DEADLINE_S, until
from conformance.our_tree import OurTree, our_tree
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.topics import PartitionStateNode
from moldau.model import TopicPartition as Partition

pytestmark = needs_apache("kafka-3.9")

TOPIC = "load"
_SETTINGS = {"zookeeper.session.timeout.ms": "4000", "min.insync.replicas": "2"}
_STARTED_S = 120
_MORE = 200


class Load:
    """A producer at work, and what was acknowledged."""

    def __init__(self, bootstrap: str) -> None:
        self.acknowledged: list[bytes] = []
        self.failures: list[str] = []
        self._is_over = threading.Event()
        self._producer = Producer(
            {"bootstrap.servers": bootstrap, "acks": "all", "enable.idempotence": True}
        )
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def until_more(self) -> None:
        before = len(self.acknowledged)
        until(lambda: len(self.acknowledged) > before + _MORE, "more is acknowledged")

    def finish(self) -> None:
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        number = 0
        while not self._is_over.is_set():
            self._producer.produce(TOPIC, b"%d" % number, on_delivery=self._answered)
            self._producer.poll(0.005)
            number += 1
        assert self._producer.flush(DEADLINE_S) == 0

    def _answered(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            self.acknowledged.append(message.value() or b"")
        else:
            self.failures.append(str(error))


@contextmanager
def apaches(directory: Path, tree: OurTree) -> Iterator[dict[int, ApacheBroker]]:
    """Three brokers that run."""
    brokers = {}
    for number in (1, 2, 3):
        place = directory / f"apache-{number}"
        place.mkdir()
        settings = {**_SETTINGS, "broker.id": str(number)}
        brokers[number] = ApacheBroker(place, tree.port, settings)
    # A process that is started by a thread may not outlive it: see `setpriv --pdeathsig`.
    with ThreadPoolExecutor() as threads, ExitStack() as stack:
        for broker in brokers.values():
            stack.callback(broker.kill)
        list(threads.map(ApacheBroker.start, brokers.values()))
        yield brokers


def read(bootstrap: str, count: int) -> list[bytes]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "g"})
    consumer.assign([TopicPartition(TOPIC, 0, 0)])
    found: list[bytes] = []

    def is_read() -> bool:
        found.extend(one.value() or b"" for one in consumer.consume(5000, 0.5) if not one.error())
        return len(found) >= count

    until(is_read, f"{count} records are read")
    consumer.close()
    return found


def test_nothing_is_lost_when_a_leader_the_controller_and_the_tree_die(tmp_path: Path) -> None:
    with exclusive("broker"), our_tree(tmp_path / "tree") as tree, ExitStack() as stack:
        brokers = stack.enter_context(apaches(tmp_path, tree))
        nodes = KazooClient(f"127.0.0.1:{tree.port}", connection_retry={"max_tries": -1})
        nodes.start(_STARTED_S)
        stack.callback(nodes.close)
        stack.callback(nodes.stop)

        def state() -> PartitionStateNode:
            path = topic_nodes.state_path(Partition(TOPIC, 0))
            return topic_nodes.decode_state(nodes.retry(nodes.get, path)[0])

        bootstrap = ",".join(broker.bootstrap for broker in brokers.values())
        admin = AdminClient({"bootstrap.servers": bootstrap})
        admin.create_topics([NewTopic(TOPIC, 1, 3)])[TOPIC].result(_STARTED_S)
        until(lambda: len(state().isr) == 3, "all replicas are in sync")
        load = Load(bootstrap)
        stack.callback(load.finish)
        load.until_more()
        first = state().leader
        brokers[first].kill()
        until(lambda: state().leader not in (first, -1), "another leader")
        load.until_more()
        tree.kill()
        load.until_more()
        tree.start()
        brokers[first].start()
        until(lambda: len(state().isr) == 3, "all replicas are in sync again")
        load.until_more()
        load.finish()
        assert load.failures == []
        assert sorted(read(bootstrap, len(load.acknowledged))) == sorted(load.acknowledged)
