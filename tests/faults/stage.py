"""What a fault is played on: three brokers and a ZooKeeper, each a process, under load."""

import os
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen
from typing import NamedTuple

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from kazoo.client import KazooClient

from conformance.apache.broker import answers_srvr, free_port, launch_zookeeper
from conformance.our_broker import OurBroker
from conformance.our_cluster import DEADLINE_S, OurCluster, until
from faults.either_broker import EitherBroker
from faults.guarding import Guard
from faults.hooked import MARKERS
from faults.links import HOST, Links
from faults.load import PARTITIONS, Load
from faults.observing import Observer
from moldau.coordination.layout.topics import PartitionStateNode
from simulation.client import TOPIC

SESSION_S = 2.0
LAG_S = 3.0
ZOOKEEPER = "zookeeper"
_ANSWER_S = 10.0
SETTINGS = {
    "zookeeper.session.timeout.ms": str(int(SESSION_S * 1000)),
    "replica.lag.time.max.ms": str(int(LAG_S * 1000)),
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "offsets.topic.replication.factor": "3",
    "offsets.topic.num.partitions": "2",
    "transaction.state.log.num.partitions": "2",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
    "replica.high.watermark.checkpoint.interval.ms": "500",
    "group.initial.rebalance.delay.ms": "0",
    "controlled.shutdown.retry.backoff.ms": "500",
    "auto.create.topics.enable": "false",
}


def party(number: int) -> str:
    """What a broker is called on its links."""
    return f"broker-{number}"


class ZooKeeper:
    """A server that can be killed and started again on its data."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True)
        self.port = free_port()
        self._directory = directory
        self._process: Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it serves."""
        self._process = launch_zookeeper(self._directory, f"clientPort={self.port}\n")
        until(lambda: bool(answers_srvr(self.port)), "ZooKeeper serves")

    def kill(self) -> None:
        """End it as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


@dataclass(slots=True)
class Stage:
    """The processes, the load on them, and what a fault may do to them."""

    cluster: OurCluster
    server: ZooKeeper | None
    links: Links
    observer: Observer
    load: Load
    directory: Path
    guard: Guard | None = None
    rounds: int = 1
    """How often a fault is to happen."""
    notes: list[str] = field(default_factory=list)
    """What a reader of the table should know."""

    @property
    def zookeeper(self) -> ZooKeeper:
        assert self.server is not None, "a supervisor has the tree"
        return self.server

    # Who is who

    def state(self, partition: int = 0) -> PartitionStateNode:
        return self.cluster.state(TOPIC, partition)

    def leader(self) -> int:
        """Who leads the first partition."""
        return self.state().leader

    def follower(self) -> int:
        """A broker that does not lead the first partition."""
        return next(number for number in self.cluster.brokers if number != self.leader())

    def controller(self) -> int:
        def look() -> list[int]:
            found = self.cluster.controller()
            return [] if found is None else [found]

        return until(look, "there is a controller")[0]

    def others(self, *numbers: int) -> list[int]:
        return [number for number in self.cluster.brokers if number not in numbers]

    # What can be done to them

    def kill(self, *numbers: int) -> None:
        """End brokers at once, without a word."""
        for number in numbers:
            os.kill(self.cluster.brokers[number].process_id, signal.SIGKILL)
        for number in numbers:
            self.cluster.brokers[number].kill()

    def start(self, *numbers: int) -> None:
        for number in numbers:
            self.cluster.brokers[number].start()

    def pause(self, number: int, duration_s: float) -> None:
        """Let a broker stand still for some time."""
        with self.standing_still(number):
            time.sleep(duration_s)

    @contextmanager
    def standing_still(self, number: int) -> Iterator[None]:
        """Let a broker stand still meanwhile."""
        process_id = self.cluster.brokers[number].process_id
        os.kill(process_id, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(process_id, signal.SIGCONT)

    def create(self, name: str, partitions: int = 1, **settings: str) -> None:
        """Create a topic beside the one that is under load, and wait for it."""
        config = {key.replace("_", "."): value for key, value in settings.items()}
        topic = NewTopic(name, partitions, 3, config=config)
        until(lambda: self.has_created(topic), f"{name} is created")
        self.cluster.until_in_sync(name, partitions)

    def has_created(self, topic: NewTopic) -> bool:
        """Try to create a topic: not while there is no controller, or one of the same name."""
        admin = self.admin()
        try:
            admin.create_topics([topic])[topic.topic].result(_ANSWER_S)
        except (KafkaException, TimeoutError):
            return False
        return True

    def has_deleted(self, topic: str) -> bool:
        """Try to delete a topic: not while clients are told of a controller that has died."""
        admin = self.admin()
        try:
            admin.delete_topics([topic])[topic].result(_ANSWER_S)
        except TimeoutError:
            return False
        except KafkaException as error:
            return bool(error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART)
        return True

    @property
    def markers(self) -> Path:
        """The file that says which ends of transactions are lost, in brokers with hooks."""
        return self.directory / "markers"

    def admin(self) -> AdminClient:
        """A client that must be kept until it has answered.

        It is a new one each time: an old one may wait for a controller that has died.
        """
        return AdminClient({"bootstrap.servers": self.cluster.bootstrap})

    # What is waited for

    def until_gone(self, number: int) -> None:
        """Wait until a broker's session has expired."""
        until(lambda: number not in self.cluster.live(), f"the session of {number} expires")

    def until_in_sync_are(self, *numbers: int, topic: str = TOPIC) -> None:
        """Wait until exactly these replicas of the first partition are in sync."""
        until(
            lambda: set(self.cluster.state(topic).isr) == set(numbers),
            f"in sync are {numbers} of {topic}",
        )

    def until_ended(self, number: int) -> None:
        """Wait until a broker has stopped by itself."""
        until(lambda: self.cluster.brokers[number].has_ended, f"broker {number} stops")

    def until_whole(self) -> None:
        """Wait until all brokers are there and every replica of the load is in sync."""
        cluster = self.cluster
        until(lambda: cluster.live() == set(cluster.brokers), "all brokers are there")
        cluster.until_in_sync(TOPIC, PARTITIONS)

    def until_led_by_another(self, before: PartitionStateNode) -> PartitionStateNode:
        """Wait for a new leader of the first partition: one that was in sync, in a new epoch."""
        after = self.cluster.until_led_by_another(TOPIC, before)
        assert after.leader in before.isr, f"{after.leader} was not in sync: {before}"
        assert after.leader_epoch > before.leader_epoch, f"{after} after {before}"
        return after


@contextmanager
def stage(
    directory: Path,
    settings: Mapping[str, str],
    *,
    is_linked: bool,
    program: str = "moldau",
    guard: Guard | None = None,
) -> Iterator[Stage]:
    """A cluster under load; `is_linked` if what is between its parts is to be cut."""
    with ExitStack() as stack:
        links = Links()
        stack.callback(links.close)
        server = ZooKeeper(directory / "zookeeper")
        stack.callback(server.kill)
        server.start()
        brokers = {
            number: _broker(directory, number, server, links if is_linked else None, settings)
            for number in (1, 2, 3)
        }
        os.environ[MARKERS] = str(directory / "markers")
        connect = f"{HOST}:{server.port}/kafka"
        if guard is not None:
            guard.admit(connect)
        for broker in brokers.values():
            if guard is not None:
                broker.settings = {**broker.settings, **guard.settings_of(broker)}
            broker.program = program
            stack.callback(broker.kill)
            broker.start()
        yield under_load(stack, Parts(directory, brokers, connect, server, links, guard))


class Parts(NamedTuple):
    """What a stage is made of, started."""

    directory: Path
    brokers: dict[int, OurBroker]
    connect: str
    server: ZooKeeper | None
    links: Links
    guard: Guard | None = None


def under_load(stack: ExitStack, parts: Parts) -> Stage:
    """The stage of a cluster that is there, with clients at work."""
    brokers, connect = parts.brokers, parts.connect
    tree = KazooClient(connect, connection_retry={"max_tries": -1, "max_delay": 0.5})
    tree.start()
    stack.callback(tree.close)
    stack.callback(tree.stop)
    cluster = OurCluster(brokers, tree, connect)
    guard = parts.guard
    if guard is not None:
        guard.set_rules(cluster)
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    admin.create_topics([NewTopic(TOPIC, PARTITIONS, 3)])[TOPIC].result(DEADLINE_S)
    cluster.until_in_sync(TOPIC, PARTITIONS)
    way = None if guard is None else guard.way(cluster)
    load = Load({number: (HOST, broker.port) for number, broker in brokers.items()}, way)
    stack.callback(load.abandon)
    observer = Observer(connect, load.history)
    stack.callback(observer.close)
    load.start()
    load.until_everyone_works()
    return Stage(cluster, parts.server, parts.links, observer, load, parts.directory, guard)


def _broker(
    directory: Path,
    number: int,
    server: ZooKeeper,
    links: Links | None,
    settings: Mapping[str, str],
) -> OurBroker:
    """A broker, not yet started; with links it is found behind its door, and so is its tree."""
    broker = EitherBroker(directory / f"broker{number}")
    tree_port = server.port
    found = {}
    if links is not None:
        tree_port = links.open(ZOOKEEPER, server.port, party(number))
        inside = broker.port
        broker.port = links.open(party(number), inside)
        found = {
            "listeners": f"PLAINTEXT://{HOST}:{inside}",
            "advertised.listeners": f"PLAINTEXT://{HOST}:{broker.port}",
        }
    broker.settings = {
        "broker.id": str(number),
        "zookeeper.connect": f"{HOST}:{tree_port}/kafka",
        **SETTINGS,
        **found,
        **{name: value.format(directory=broker.directory) for name, value in settings.items()},
    }
    return broker
