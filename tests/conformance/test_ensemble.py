"""Three ZooKeeper servers: brokers go on when one dies, and wait when all are away."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from kazoo.client import KazooClient

from conformance.apache.broker import answers_srvr, free_port, launch_zookeeper
from conformance.apache.marks import needs_apache
from conformance.our_cluster import DEADLINE_S, OurCluster, brokers_on, until
from conformance.test_cluster import Sender, consume

pytestmark = needs_apache("kafka-3.9")


@dataclass(slots=True)
class Ensemble:
    """The servers, by their numbers."""

    directory: Path
    ports: dict[int, int]
    _peers: dict[int, tuple[int, int]] = field(init=False)
    _processes: dict[int, Popen[bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._peers = {number: (free_port(), free_port()) for number in self.ports}

    @property
    def connect(self) -> str:
        return ",".join(f"127.0.0.1:{port}" for port in self.ports.values())

    def start(self, number: int) -> None:
        directory = self.directory / str(number)
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "myid").write_text(str(number))
        servers = "".join(
            f"server.{one}=127.0.0.1:{follow}:{elect}\n"
            for one, (follow, elect) in self._peers.items()
        )
        settings = f"clientPort={self.ports[number]}\ninitLimit=10\nsyncLimit=5\n{servers}"
        self._processes[number] = launch_zookeeper(directory, settings)

    def kill(self, number: int) -> None:
        process = self._processes.pop(number)
        process.kill()
        process.wait()

    def kill_all(self) -> None:
        for number in list(self._processes):
            self.kill(number)

    def until_serving(self) -> None:
        """Wait until the servers that run have elected one of them."""
        until(
            lambda: all(answers_srvr(self.ports[number]) for number in self._processes),
            "the ensemble serves",
        )

    def leader(self) -> int:
        """Which server the others follow."""
        return next(
            number
            for number in self._processes
            if b"Mode: leader" in answers_srvr(self.ports[number])
        )


@contextmanager
def ensemble(directory: Path) -> Iterator[Ensemble]:
    made = Ensemble(directory, {number: free_port() for number in (1, 2, 3)})
    try:
        for number in made.ports:
            made.start(number)
        made.until_serving()
        yield made
    finally:
        made.kill_all()


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Ensemble]:
    with ensemble(tmp_path / "ensemble") as made:
        yield made


def create(cluster: OurCluster, name: str) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    admin.create_topics([NewTopic(name, 1, 3)])[name].result(DEADLINE_S)
    cluster.until_in_sync(name)


def test_brokers_go_on_without_one_server_and_outlast_all(
    servers: Ensemble, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        # A session that outlasts the time that the servers are away.
        settings = {"zookeeper.session.timeout.ms": "30000"}
        brokers = brokers_on(servers.connect, tmp_path, settings)
        for broker in brokers.values():
            broker.start()
            stack.callback(broker.kill)
        tree = KazooClient(servers.connect)
        tree.start()
        stack.callback(tree.close)
        stack.callback(tree.stop)
        cluster = OurCluster(brokers, tree, servers.connect)
        until(lambda: cluster.live() == {1, 2, 3} and cluster.controller(), "all are there")
        create(cluster, "first")
        epoch = cluster.controller_epoch()
        killed = servers.leader()
        servers.kill(killed)
        servers.until_serving()
        create(cluster, "second")
        sender = Sender(cluster, "first")
        sender.send()
        servers.kill_all()
        # What has its leaders goes on.
        sender.send()
        for number in servers.ports:
            servers.start(number)
        servers.until_serving()
        create(cluster, "third")
        sender.send()
        assert sender.errors == []
        assert cluster.live() == {1, 2, 3}
        assert cluster.controller_epoch() == epoch
        count = len(sender.acknowledged)
        assert sorted(consume(cluster, "first", count)) == sorted(sender.acknowledged)
