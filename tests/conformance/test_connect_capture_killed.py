"""A worker that captures a database is killed in its first read and in the stream of changes."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from conformance.our_broker import SOURCES
from moldau.client.blocking.consumer import Consumer
from moldau.testing.broker import running_broker
from postgres import parts_of, running_postgres

pytestmark = pytest.mark.needs("postgres")
_DEADLINE_S = 120
_ROWS = 6_000
_LAST = 10**9
_JSON = "org.apache.kafka.connect.json.JsonConverter"


def pipeline(servers: str, url: str) -> dict[str, object]:
    host, database = parts_of(url)
    plain = {f"{side}.converter": _JSON for side in ("key", "value")}
    plain |= {f"{side}.converter.schemas.enable": "false" for side in ("key", "value")}
    worker = {
        "bootstrap.servers": servers,
        "listeners": "http://127.0.0.1:0",
        # The group forgets a worker that was killed.
        "consumer.session.timeout.ms": "3000",
        "consumer.heartbeat.interval.ms": "500",
        **plain,
    }
    capture = {
        "connector.class": "PostgresConnector",
        "database.hostname": host,
        "database.user": "postgres",
        "database.dbname": database,
        "topic.prefix": "p",
        "publication.autocreate.mode": "filtered",
        "table.include.list": r"public\.t",
        "max.batch.size": "100",
        "slot.retry.delay.ms": "200",
        "poll.interval.ms": "50",
    }
    return {"worker": worker, "connectors": {"capture": capture}}


class Copy:
    """The topic as it is read, committed records alone."""

    def __init__(self, servers: str) -> None:
        self._consumer = Consumer[bytes, bytes](
            bootstrap_servers=servers,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
        )
        self._consumer.assign([("p.public.t", 0)])
        self.rows: dict[int, object] = {}
        self.operations: Counter[str] = Counter()
        self.streamed: Counter[tuple[int, str, int]] = Counter()
        """How often each change was read, by its place in the log."""

    def read(self) -> None:
        for each in self._consumer.poll(0.1):
            assert each.key is not None
            key = json.loads(each.key)["id"]
            if each.value is None:
                continue  # a tombstone, after what says more
            value = json.loads(each.value)
            self.operations[value["op"]] += 1
            if value["op"] != "r":
                self.streamed[value["source"]["lsn"], value["op"], key] += 1
            if value["after"] is None:
                self.rows.pop(key, None)
            else:
                self.rows[key] = value["after"]["v"]

    def until(self, is_so: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _DEADLINE_S
        while not is_so():
            assert time.monotonic() < deadline, self.operations
            self.read()

    def close(self) -> None:
        self._consumer.close()


@contextmanager
def a_worker(file: Path) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "moldau", "connect", "run", str(file)],
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def change(connection: psycopg.Connection[tuple[object, ...]], chance: random.Random) -> None:
    """One transaction of a few statements, each about one row."""
    statements = (
        "INSERT INTO t VALUES (%(free)s, %(text)s)",
        "UPDATE t SET v = %(text)s WHERE id = %(id)s",
        "UPDATE t SET id = %(free)s WHERE id = %(id)s",
        "DELETE FROM t WHERE id = %(id)s",
    )
    with connection.transaction():
        for _ in range(chance.randint(1, 5)):
            values = {
                "id": chance.randint(1, _ROWS),
                "free": chance.randint(_ROWS, _LAST - 1),
                "text": f"v{chance.random()}",
            }
            connection.execute(chance.choice(statements), values)


@contextmanager
def changing(url: str) -> Iterator[None]:
    """Another connection changes the table until the block ends."""
    ends = threading.Event()

    def work() -> None:
        chance = random.Random(5)
        with psycopg.connect(url, autocommit=True) as connection:
            while not ends.wait(0.005):
                change(connection, chance)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join()


def table(url: str) -> Mapping[int, object]:
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT id, v FROM t").fetchall()
    return {int(key): value for key, value in rows}


def test_the_topic_tells_the_table_and_each_change_once(tmp_path: Path) -> None:
    with (
        running_postgres(wal_level="logical") as url,
        running_broker(
            {"group.initial.rebalance.delay.ms": "0", "group.min.session.timeout.ms": "1000"}
        ) as kafka,
    ):
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE TABLE t (id integer PRIMARY KEY, v text)")
            connection.execute(
                "INSERT INTO t SELECT i, repeat('x', 100) FROM generate_series(1, %s) i", [_ROWS]
            )
        file = tmp_path / "pipeline.json"
        file.write_text(json.dumps(pipeline(kafka.bootstrap_servers, url)))
        copy = Copy(kafka.bootstrap_servers)
        try:
            with changing(url):
                with a_worker(file):
                    copy.until(lambda: copy.operations["r"] > 0)
                assert copy.operations["r"] < _ROWS, "it was killed too late for this test"
                for wanted in (1, 300):
                    with a_worker(file):
                        streamed = copy.streamed.total()
                        copy.until(lambda: copy.streamed.total() >= streamed + wanted)  # noqa: B023
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("INSERT INTO t VALUES (%s, 'last')", [_LAST])
            with a_worker(file):
                copy.until(lambda: _LAST in copy.rows)
        finally:
            copy.close()
        assert copy.rows == table(url)
        assert {each for each, count in copy.streamed.items() if count > 1} == set()
        assert re.fullmatch(r"[crud]+", "".join(sorted(copy.operations)))
