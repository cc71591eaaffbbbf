"""A database whose tables are copied through topics into other tables of it, come what may."""

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg

from conformance.our_broker import OurBroker
from moldau.client.blocking.consumer import Consumer
from postgres import PostgresServer
from unit.connect.started import StartedWorker

DEADLINE_S = 120
USER, PASSWORD = "replicator", "first secret"
_LAST = 10**9
_STATEMENTS = (
    "INSERT INTO {} (id, v) VALUES (%(free)s, %(text)s)",
    "UPDATE {} SET v = %(text)s WHERE id = %(id)s",
    "UPDATE {} SET id = %(free)s WHERE id = %(id)s",
    "DELETE FROM {} WHERE id = %(id)s",
)
_NOT_YET = (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn)
Rows = list[tuple[object, ...]]


@dataclass(slots=True)
class Day:
    """Everything that takes part."""

    database: PostgresServer
    broker: OurBroker
    worker: StartedWorker
    secrets: Path
    """The file that has the password of the connectors."""

    def run(self, *statements: str) -> Rows:
        """Statements, each a transaction; rows of the last."""
        with psycopg.connect(self.database.url, autocommit=True) as connection:
            for each in statements:
                found = connection.execute(each.encode())
            return found.fetchall() if found.description else []

    def set_password(self, text: str) -> None:
        """In the file alone."""
        self.secrets.write_text(f"password={text}\n")

    def captured(self, table: str, **more: str) -> None:
        """Make a connector that captures a table."""
        named = {name.replace("_", "."): text for name, text in more.items()}
        config = {
            "connector.class": "PostgresConnector",
            "database.hostname": str(self.database.directory),
            "database.port": self.database.settings["port"],
            "database.user": USER,
            "database.password": f"${{file:{self.secrets}:password}}",
            "database.dbname": "postgres",
            "topic.prefix": "p",
            "slot.name": table,
            "publication.name": table,
            "publication.autocreate.mode": "filtered",
            "table.include.list": rf"public\.{table}",
            "max.batch.size": "100",
            "slot.retry.delay.ms": "200",
            "poll.interval.ms": "50",
            "restarts.max": "-1",
            **named,
        }
        self.worker.put(f"in-{table}", config)

    def copied(self, table: str) -> None:
        """Make a connector that writes the table's topic into a copy."""
        config = {
            "connector.class": "JdbcSink",
            "connection.url": f"jdbc:{self.database.url}",
            "topics": f"p.public.{table}",
            "table.name.format": f"copy_{table}",
            "insert.mode": "upsert",
            "pk.mode": "record_key",
            "delete.enabled": "true",
            "auto.create": "true",
            "auto.evolve": "true",
            "restarts.max": "-1",
            "transforms": "row",
            "transforms.row.type": "io.debezium.transforms.ExtractNewRecordState",
        }
        self.worker.put(f"out-{table}", config)

    def until(self, is_so: Callable[[], bool]) -> None:
        """Wait for something that connectors do; the database may be away meanwhile."""
        deadline = time.monotonic() + DEADLINE_S
        while True:
            with suppress(psycopg.OperationalError, *_NOT_YET):
                if is_so():
                    return
            assert time.monotonic() < deadline, self.statuses()
            time.sleep(0.05)

    def until_copied(self, table: str) -> None:
        """Wait until the copy has the rows of the table."""
        self.until(lambda: self._rows(f"copy_{table}") == self._rows(table))

    def _rows(self, table: str) -> Rows:
        try:
            return self.run(f"SELECT id, v FROM {table} ORDER BY id")
        except _NOT_YET:
            return []

    def until_state(self, name: str, states: list[str]) -> None:
        """Wait for the states of a connector and its task."""
        self.until(lambda: self.worker.states(name) == states)

    def first_line(self, name: str) -> str:
        """What a person reads first about a task, or a connector, that does not run."""
        _, found = self.worker.ask("GET", f"/connectors/{name}/status")
        assert isinstance(found, dict)
        traces = [each.get("trace") for each in (*found.get("tasks", []), found["connector"])]
        return next((str(each).partition("\n")[0] for each in traces if each), "")

    def statuses(self) -> object:
        return self.worker.ask("GET", "/connectors?expand=status")[1]

    def twice(self, table: str) -> set[object]:
        """Changes that readers of committed records see more than once, by their places."""
        seen: Counter[object] = Counter()
        with Consumer[bytes, bytes](
            bootstrap_servers=self.broker.bootstrap,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
        ) as consumer:
            consumer.assign([(f"p.public.{table}", 0)])
            is_last = False
            while not is_last:
                for each in consumer.poll(0.2):
                    if each.value is None:
                        continue
                    value = json.loads(each.value)["payload"]
                    if value["op"] != "r":
                        seen[value["source"]["lsn"], value["op"], each.key] += 1
                    after = value["after"] or {}
                    is_last = is_last or after.get("id") == _LAST
        return {each for each, count in seen.items() if count > 1}

    def ended(self, table: str) -> None:
        """Write a last row, wait for it, and take the connectors away."""
        self.run(f"INSERT INTO {table} (id, v) VALUES ({_LAST}, 'last')")
        self.until_copied(table)
        assert self.twice(table) == set()
        for name in (f"in-{table}", f"out-{table}"):
            assert self.worker.ask("DELETE", f"/connectors/{name}")[0] == 204

    @contextmanager
    def changing(self, table: str) -> Iterator[None]:
        """Random transactions until the block ends, also after the database was away."""
        ends = threading.Event()

        def work() -> None:
            chance = random.Random(5)
            while not ends.is_set():
                with (
                    suppress(psycopg.OperationalError),
                    psycopg.connect(self.database.url, autocommit=True) as connection,
                ):
                    while not ends.wait(0.005):
                        _change(connection, chance, table)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield
        finally:
            ends.set()
            thread.join()


def _change(
    connection: psycopg.Connection[tuple[object, ...]], chance: random.Random, table: str
) -> None:
    with connection.transaction():
        for _ in range(chance.randint(1, 4)):
            values: Mapping[str, object] = {
                "id": chance.randint(1, 300),
                "free": chance.randint(1000, _LAST - 1),
                "text": f"v{chance.random()}",
            }
            connection.execute(chance.choice(_STATEMENTS).format(table).encode(), values)
