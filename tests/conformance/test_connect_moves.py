"""A cluster of Java's workers stops, ours goes on with its connectors, and Java's goes on again."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from conformance.apache.broker import free_port
from conformance.apache.connect import Worker, worker
from conformance.apache.marks import needs_apache
from conformance.our_broker import OurBroker, our_broker
from conformance.transacting import read
from moldau.client.blocking import Producer
from moldau.client.blocking.admin import Admin
from postgres import running_postgres
from unit.connect.started import StartedWorker, started_worker

pytestmark = [
    needs_apache("connect-3.9", "debezium-3.6", "mirror-3.9"),
    pytest.mark.needs("postgres"),
    pytest.mark.timeout(600),
]
DEADLINE_S = 60
JSON = "org.apache.kafka.connect.json.JsonConverter"
GROUP = {
    "group.id": "connect",
    **{f"{each}.storage.topic": f"connect-{each}s" for each in ("config", "offset")},
    "status.storage.topic": "connect-status",
}
ONCE = {"exactly.once.source.support": "enabled", "scheduled.rebalance.max.delay.ms": "0"}
FILE = "org.apache.kafka.connect.file.FileStream{}Connector"
HEARTBEATS = "org.apache.kafka.connect.mirror.MirrorHeartbeatConnector"
# As a worker leaves it that has a plugin which others do not have.
AWAY = {"connector.class": "org.example.OnlyThereSource", "tasks.max": "1", "name": "away"}
JARS = ("debezium-3.6", "mirror-3.9")
AnyWorker = Worker | StartedWorker


@dataclass(frozen=True, slots=True)
class Shop:
    """What is copied, and where to."""

    broker: OurBroker
    database: "psycopg.Connection[tuple[object, ...]]"
    directory: Path
    port: int

    def connectors(self) -> dict[str, dict[str, str]]:
        return {
            "rows": {
                "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
                "plugin.name": "pgoutput",
                "database.hostname": "127.0.0.1",
                "database.port": str(self.port),
                "database.user": "postgres",
                "database.dbname": "postgres",
                "topic.prefix": "shop",
                "table.include.list": r"public\.t",
                "publication.autocreate.mode": "filtered",
                "poll.interval.ms": "50",
                "value.converter": JSON,
                "value.converter.schemas.enable": "false",
            },
            "lines": {
                "connector.class": FILE.format("Source"),
                "file": str(self.directory / "in"),
                "topic": "lines",
            },
            "copy": {
                "connector.class": FILE.format("Sink"),
                "file": str(self.directory / "out"),
                "topics": "lines",
            },
            "beats": {
                "connector.class": HEARTBEATS,
                "source.cluster.alias": "here",
                "target.cluster.alias": "there",
                "source.cluster.bootstrap.servers": self.broker.bootstrap,
                "target.cluster.bootstrap.servers": self.broker.bootstrap,
                "heartbeats.topic.replication.factor": "1",
            },
        }

    def change(self, first: int) -> None:
        """A hundred rows and lines, of which some rows are changed again."""
        last = first + 99
        for statement in (
            f"INSERT INTO t SELECT i, 'new' FROM generate_series({first}, {last}) i",
            f"UPDATE t SET v = 'changed' WHERE id BETWEEN {first} AND {first + 9}",
            f"DELETE FROM t WHERE id = {last}",
        ):
            self.database.execute(statement.encode())
        with (self.directory / "in").open("a") as file:
            file.writelines(f"line {number}\n" for number in range(first, last + 1))

    def is_copied(self) -> bool:
        """Whether what is in the topics and the file is what there is."""
        (last,) = self.database.execute(b"SELECT max(id) FROM t").fetchall()[0]
        deleted = int(str(last)) + 1
        return self.changes()["d", deleted] == 1 and self._file("out") == self._file("in")

    def changes(self) -> Counter[tuple[str, object]]:
        """How often a kind of change of a row is in the topic."""
        values = [json.loads(each) for each in read(self.broker, "shop.public.t") if each]
        return Counter((value["op"], (value["after"] or value["before"])["id"]) for value in values)

    def _file(self, name: str) -> str:
        path = self.directory / name
        return path.read_text() if path.exists() else ""


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    port = free_port()
    server = {"wal_level": "logical", "listen_addresses": "127.0.0.1", "port": str(port)}
    quick = {"group.initial.rebalance.delay.ms": "0"}
    with (
        running_postgres(**server) as url,
        psycopg.connect(url, autocommit=True) as database,
        our_broker(tmp_path / "broker", quick) as broker,
    ):
        database.execute(b"CREATE TABLE t (id integer PRIMARY KEY, v text)")
        database.execute(b"INSERT INTO t VALUES (0, 'before')")
        yield Shop(broker, database, tmp_path, port)


def leave_away(bootstrap: str) -> None:
    """The settings of a connector in the topic, as a worker has written them."""
    with Producer[bytes, bytes](bootstrap_servers=bootstrap) as producer:
        settings = json.dumps({"properties": AWAY}).encode()
        producer.send("connect-configs", settings, key=b"connector-away", partition=0)


def until(is_so: Callable[[], bool], connect: AnyWorker, names: list[str]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        states = {name: connect.states(name) for name in names}
        assert time.monotonic() < deadline, states
        time.sleep(0.2)


def goes_on(shop: Shop, connect: AnyWorker, first: int) -> None:
    """What changes now is copied, after what changed while no worker ran."""
    shop.change(first)
    until(shop.is_copied, connect, ["rows", "lines", "copy"])


def wait_for(connect: AnyWorker, name: str, *states: str) -> None:
    until(lambda: connect.states(name) == list(states), connect, [name])


def test_connectors_go_on_here_and_back_with_nothing_lost_and_nothing_twice(shop: Shop) -> None:
    servers, names = shop.broker.bootstrap, list(shop.connectors())
    with worker(shop.directory / "java", servers, ONCE, JARS) as java:
        for name, config in shop.connectors().items():
            java.put(name, config)
        until(lambda: shop.changes()["r", 0] == 1, java, names)
        goes_on(shop, java, 2000)
        wait_for(java, "beats", "RUNNING", "RUNNING")
    shop.change(3000)
    leave_away(servers)
    with started_worker(servers, GROUP) as ours:
        goes_on(shop, ours, 4000)
        _, found = ours.ask("GET", "/connectors")
        assert isinstance(found, list)
        assert sorted(found) == sorted([*names, "away"])
        for name in ("rows", "lines", "copy", "beats"):
            wait_for(ours, name, "RUNNING", "RUNNING")
            kept = {**shop.connectors()[name], "name": name}
            assert ours.ask("GET", f"/connectors/{name}/config") == (200, kept)
        # What is not here says so, and stays as it was.
        wait_for(ours, "away", "FAILED")
        _, status = ours.ask("GET", "/connectors/away/status")
        assert "OnlyThereSource" in str(status)
        assert ours.ask("GET", "/connectors/away/config") == (200, AWAY)
        assert ours.ask("PUT", "/connectors/copy/pause")[0] == 202
        wait_for(ours, "copy", "PAUSED", "PAUSED")
    shop.change(5000)
    with worker(shop.directory / "java", servers, ONCE, JARS) as java:
        wait_for(java, "copy", "PAUSED", "PAUSED")
        java._ask("PUT", "connectors/copy/resume")
        goes_on(shop, java, 6000)
        wait_for(java, "beats", "RUNNING", "RUNNING")
        assert java._ask("GET", "connectors/away/config") == AWAY
    seen = shop.changes()
    assert {each for each, count in seen.items() if count > 1} == set()
    for first in range(2000, 7000, 1000):
        assert [seen["c", each] for each in range(first, first + 100)] == [1] * 100
        assert [seen["u", each] for each in range(first, first + 10)] == [1] * 10
    with Admin(bootstrap_servers=servers) as admin:
        assert "connect-copy" in admin.list_group_offsets("connect-copy")
