"""Change capture of PostgreSQL beside Debezium 3.6.3 in Apache Kafka Connect 3.9.

bin/bench capture [rows]

Both read the same database, through slots of their own, into topics of one Moldau broker. First
they follow random transactions, and their records are compared, one by one, but for times and
versions: a difference ends the command. Then rows of five columns are read from a table, and as
many come by inserts, in JSON without schemas; processor time is that of the whole worker, from
the moment that the connector is made, or that the inserts begin.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from bench.measure import end, print_table

from conformance.apache.broker import free_port
from conformance.apache.connect import Worker, wait_until_it_serves, worker
from conformance.our_broker import SOURCES, our_broker
from moldau.client.blocking.consumer import Consumer
from postgres import running_postgres

ROWS = 200_000
TRANSACTIONS = 300
_DEADLINE_S = 900
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_JSON = "org.apache.kafka.connect.json.JsonConverter"
_PLAIN = {f"{side}.converter": _JSON for side in ("key", "value")} | {
    f"{side}.converter.schemas.enable": "false" for side in ("key", "value")
}
_TABLES = (
    (
        "CREATE TABLE plain (id integer PRIMARY KEY, name text NOT NULL DEFAULT 'anon', big text, "
        "amount numeric(10, 2), at timestamptz)"
    ),
    (
        "CREATE TABLE whole (id integer PRIMARY KEY, name text NOT NULL DEFAULT 'anon', big text, "
        "amount numeric(10, 2), at timestamptz)"
    ),
    "ALTER TABLE whole REPLICA IDENTITY FULL",
    "INSERT INTO plain VALUES (1, 'there before')",
    "INSERT INTO whole VALUES (1, 'there before')",
    (
        "CREATE TABLE many (id bigint PRIMARY KEY, name text, amount numeric(10, 2), "
        "at timestamptz, note text)"
    ),
)
_STATEMENTS = (
    "INSERT INTO {} (id, big, amount) VALUES (%(free)s, repeat(%(text)s, 200), 1.5)",
    "INSERT INTO {} (id, name, at) VALUES (%(free)s, %(text)s, now())",
    "UPDATE {} SET name = %(text)s WHERE id = (SELECT min(id) FROM {})",
    "UPDATE {} SET big = NULL, amount = amount + 1 WHERE id = (SELECT max(id) FROM {})",
    "UPDATE {} SET id = %(free)s WHERE id = (SELECT max(id) FROM {})",
    "DELETE FROM {} WHERE id = (SELECT min(id) FROM {})",
)
_FILL = (
    "INSERT INTO many SELECT i, 'name ' || i, i / 100.0, now(), repeat('x', 50) "
    "FROM generate_series(%s::int, %s::int) i"
)


@dataclass(frozen=True, slots=True)
class Capturing:
    """A worker with room for connectors."""

    name: str
    prefix: str
    connect: Worker

    def make(self, part: str, tables: str) -> None:
        """Have it capture some tables, with a slot and a publication of its own."""
        config = {
            "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
            "database.hostname": "127.0.0.1",
            "database.user": "postgres",
            "database.dbname": "postgres",
            "topic.prefix": f"{self.prefix}-{part}",
            "slot.name": f"{self.prefix}_{part}",
            "publication.name": f"{self.prefix}_{part}",
            "publication.autocreate.mode": "filtered",
            "table.include.list": tables,
            "plugin.name": "pgoutput",
            **_PLAIN,
        }
        self.connect.put(part, config)

    def cpu_s(self) -> float:
        """Processor time that the worker has used."""
        stat = Path(f"/proc/{self.connect.process.pid}/stat").read_text().rpartition(")")[2]
        fields = stat.split()
        return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


class Topic:
    """A topic from its beginning, as transactions commit it."""

    def __init__(self, bootstrap: str, name: str) -> None:
        self._consumer = Consumer[bytes, bytes](
            bootstrap_servers=bootstrap,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
        )
        self._consumer.assign([(name, 0)])
        self.name = name
        self.records: list[tuple[bytes | None, bytes | None]] = []

    def until(self, is_last: Callable[[bytes | None], bool], count: int = 0) -> None:
        """Read on up to a value, and so many records at least."""
        deadline, has_ended = time.monotonic() + _DEADLINE_S, False
        while not has_ended or len(self.records) < count:
            assert time.monotonic() < deadline, f"{self.name}: {len(self.records)} records"
            for each in self._consumer.poll(0.2):
                self.records.append((each.key, each.value))
                has_ended = has_ended or is_last(each.value)

    def close(self) -> None:
        self._consumer.close()


@contextmanager
def moldau_worker(directory: Path, bootstrap: str) -> Iterator[Worker]:
    """Our worker, as a process."""
    url = f"http://127.0.0.1:{free_port()}"
    directory.mkdir()
    properties, log = directory / "worker.properties", directory / "worker.log"
    settings = {
        "bootstrap.servers": bootstrap,
        "group.id": "moldau",
        "listeners": url,
        **{f"{each}.storage.topic": f"moldau-{each}" for each in ("config", "offset", "status")},
    }
    properties.write_text("".join(f"{name}={text}\n" for name, text in settings.items()))
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "moldau", "connect-distributed", str(properties)],
            env={**os.environ, "PYTHONPATH": str(SOURCES)},
            stderr=output,
        )
    found = Worker(url, log, process)
    try:
        wait_until_it_serves(found)
        yield found
    finally:
        process.kill()
        process.wait()


def follow(contestants: Sequence[Capturing], bootstrap: str, url: str) -> int:
    """Random transactions, and records that are compared; returns how many there were."""
    chance = random.Random(7)
    with psycopg.connect(url, autocommit=True) as connection:
        for each in contestants:
            each.make("both", r"public\.plain,public\.whole")
        first = {
            each.prefix: Topic(bootstrap, f"{each.prefix}-both.public.plain")
            for each in contestants
        }
        for topic in first.values():
            topic.until(lambda value: value is not None)  # the row that was there
        for _ in range(TRANSACTIONS):
            with connection.transaction():
                for _ in range(chance.randint(1, 6)):
                    statement = chance.choice(_STATEMENTS)
                    table = chance.choice(("plain", "whole"))
                    values = {"free": chance.randint(10, 10**9), "text": f"t{chance.random()}"}
                    connection.execute(statement.format(table, table).encode(), values)
        for table in ("plain", "whole"):
            connection.execute(f"INSERT INTO {table} VALUES (2000000000, 'last')".encode())
    for topic in first.values():
        topic.close()
    found = {
        each.name: [shown(each, bootstrap, table) for table in ("plain", "whole")]
        for each in contestants
    }
    theirs, ours = found.values()
    for their_records, our_records in zip(theirs, ours, strict=True):
        for number, (their, our) in enumerate(zip(their_records, our_records, strict=True)):
            if their != our:
                end([f"record {number}: Debezium has {their}, Moldau {our}"])
    return sum(map(len, ours))


def shown(contestant: Capturing, bootstrap: str, table: str) -> list[object]:
    """Records without what differs from run to run, or by name."""
    topic = Topic(bootstrap, f"{contestant.prefix}-both.public.{table}")
    topic.until(lambda value: value is not None and b'"last"' in value)
    topic.close()
    found: list[object] = []
    for key, value in topic.records:
        if value is None:
            found.append((key, None))
            continue
        record = json.loads(value)
        place = {name: record["source"][name] for name in ("lsn", "txId", "ts_us", "table")}
        if record["op"] == "r":
            place = {}  # each has read at its own time
        found.append((key, record["op"], record["before"], record["after"], place))
    return found


def speed(contestant: Capturing, bootstrap: str, url: str, rows: int) -> list[str]:
    """Rows per second of processor time, of a table that is read and of inserts."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(b"TRUNCATE many")
        connection.execute(_FILL, [1, rows])
        topic = Topic(bootstrap, f"{contestant.prefix}-many.public.many")
        began_s = contestant.cpu_s()
        contestant.make("many", r"public\.many")
        topic.until(lambda _: True, rows)
        read_s = contestant.cpu_s() - began_s
        time.sleep(2)  # what follows a first read is not part of the stream
        began_s = contestant.cpu_s()
        connection.execute(_FILL, [rows + 1, 2 * rows])
        topic.until(lambda _: True, 2 * rows)
        stream_s = contestant.cpu_s() - began_s
        topic.close()
        connection.execute(b"TRUNCATE many")
    return [contestant.name, f"{rows / read_s:,.0f}", f"{rows / stream_s:,.0f}"]


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    with (
        tempfile.TemporaryDirectory() as temporary,
        running_postgres("wal_level=logical", "listen_addresses=127.0.0.1") as url,
        our_broker(Path(temporary, "broker")) as broker,
        worker(
            Path(temporary, "apache"),
            broker.bootstrap,
            {"exactly.once.source.support": "enabled"},
            jars=("debezium-3.6",),
        ) as apache,
        moldau_worker(Path(temporary, "moldau"), broker.bootstrap) as ours,
    ):
        with psycopg.connect(url, autocommit=True) as connection:
            for statement in _TABLES:
                connection.execute(statement.encode())
        both = [Capturing("Debezium", "java", apache), Capturing("Moldau", "moldau", ours)]
        count = follow(both, broker.bootstrap, url)
        print(f"{count} records of {TRANSACTIONS} random transactions are alike")
        measured = [speed(each, broker.bootstrap, url, rows) for each in both]
    columns = ["rows per second of processor time", "table", "inserts"]
    print_table(f"{rows:,} rows of 5 columns", columns, measured)


if __name__ == "__main__":
    main()
