"""Three of our brokers, each a process of its own, and a real ZooKeeper."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from conformance.apache.broker import zookeeper
from conformance.our_broker import OurBroker
from moldau.coordination.layout import controller as controller_nodes
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.topics import PartitionStateNode
from moldau.model import TopicPartition

DEADLINE_S = 40
_POLL_S = 0.05
SESSION_TIMEOUT_MS = 2000
_SETTINGS = {
    "zookeeper.session.timeout.ms": str(SESSION_TIMEOUT_MS),
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "replica.lag.time.max.ms": "3000",
    "offsets.topic.replication.factor": "3",
    "offsets.topic.num.partitions": "2",
    "transaction.state.log.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    "controlled.shutdown.retry.backoff.ms": "500",
    # Five seconds after it takes office a controller would give back what a broker has lost.
    "auto.leader.rebalance.enable": "false",
}

Found = TypeVar("Found")
ServeTree = Callable[[Path], AbstractContextManager[int]]


def until(look: Callable[[], Found | None], what: str) -> Found:
    """What `look` finds, as soon as it finds something."""
    deadline = time.monotonic() + DEADLINE_S
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < deadline, f"not in {DEADLINE_S} s: {what}"
        time.sleep(_POLL_S)


@dataclass(slots=True)
class OurCluster:
    """The brokers by their numbers, and what stands in the tree."""

    brokers: dict[int, OurBroker]
    tree: KazooClient
    connect: str
    """What brokers call `zookeeper.connect`."""

    @property
    def bootstrap(self) -> str:
        return ",".join(broker.bootstrap for broker in self.brokers.values())

    def start(self) -> None:
        """Start the brokers that do not run."""
        for broker in self.brokers.values():
            if not broker.is_running:
                broker.start()

    def live(self) -> set[int]:
        """The registered brokers."""
        return {int(name) for name in self.tree.get_children("/brokers/ids")}

    def controller(self) -> int | None:
        """The broker that is the controller now."""
        try:
            data, _ = self.tree.get(controller_nodes.PATH)
        except NoNodeError:
            return None
        return controller_nodes.decode_controller(data).broker_id

    def controller_epoch(self) -> int:
        data, _ = self.tree.get(controller_nodes.EPOCH_PATH)
        return controller_nodes.decode_epoch(data)

    def state(self, topic: str, partition: int = 0) -> PartitionStateNode:
        """Who leads a partition, and who is in sync."""
        data, _ = self.tree.get(topic_nodes.state_path(TopicPartition(topic, partition)))
        return topic_nodes.decode_state(data)

    def until_in_sync(self, topic: str, partition_count: int = 1) -> None:
        """Wait until all replicas of all partitions are in sync."""
        until(
            lambda: all(
                len(self.state(topic, number).isr) == len(self.brokers)
                for number in range(partition_count)
            ),
            f"every replica of {topic} is in sync",
        )

    def until_led_by_another(self, topic: str, before: PartitionStateNode) -> PartitionStateNode:
        """Wait for a new leader of a topic's first partition."""

        def look() -> PartitionStateNode | None:
            state = self.state(topic)
            return state if state.leader not in (before.leader, -1) else None

        return until(look, f"{topic} has another leader than {before.leader}")


def brokers_on(connect: str, directory: Path, settings: Mapping[str, str]) -> dict[int, OurBroker]:
    """Three brokers, not yet started; `connect` is their `zookeeper.connect`."""
    return {
        number: OurBroker(
            directory / f"broker{number}",
            {"broker.id": str(number), "zookeeper.connect": connect, **_SETTINGS, **settings},
        )
        for number in (1, 2, 3)
    }


@contextmanager
def our_cluster(
    directory: Path,
    settings: Mapping[str, str] | None = None,
    own_settings: Callable[[OurBroker], Mapping[str, str]] = lambda _broker: {},
    serve_tree: ServeTree = zookeeper,
) -> Iterator[OurCluster]:
    """A running cluster that keeps its data under `directory`.

    `own_settings` are those that each broker has for itself; `serve_tree` starts what they
    agree on, ZooKeeper unless told.
    """
    with ExitStack() as stack:
        port = stack.enter_context(serve_tree(directory / "zookeeper"))
        connect = f"127.0.0.1:{port}/kafka"
        brokers = brokers_on(connect, directory, settings or {})
        for broker in brokers.values():
            broker.settings = {**broker.settings, **own_settings(broker)}
            broker.start()
            stack.callback(broker.kill)
        tree = KazooClient(connect)
        tree.start()
        stack.callback(tree.close)
        stack.callback(tree.stop)
        yield OurCluster(brokers, tree, connect)
