"""Change capture of PostgreSQL beside Debezium 3.6.3 in Apache Kafka Connect 3.9.

bin/bench capture [rows]

Both read the same database, through slots of their own, into topics of one Moldau broker. First
they follow random transactions, and their records are compared, one by one, but for times and
versions: a difference ends the command. Then, after some rows to warm up with, rows of five
columns are read from a table, and as many come by inserts, in JSON without schemas; processor
time is that of the whole worker, from the moment that the connector is made, or that the inserts
begin. Delays are those of single inserts, 200 a second, from before the statement until a reader
of committed records has the record. Memory is what is resident once ten connectors run.
"""

import json
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import psycopg
from bench.connect_workers import (
    PLAIN,
    CommittedTopic,
    MeasuredWorker,
    apache_worker,
    moldau_worker,
)
from bench.measure import end, print_table

from conformance.apache.broker import free_port
from conformance.our_broker import our_broker
from postgres import running_postgres

ROWS = 200_000
TRANSACTIONS = 300
CONNECTORS = 10
_INSERTS_PER_S, _INSERTS_S = 200, 15
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
    "CREATE TABLE late (id bigint PRIMARY KEY)",
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


class Database:
    """What is captured, and how a connector is told."""

    def __init__(self, url: str, port: int) -> None:
        self.url = url
        self.port = port

    def capture(self, worker: MeasuredWorker, part: str, tables: str) -> None:
        """Have a worker capture some tables, with a slot and a publication of its own."""
        config = {
            "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
            "database.hostname": "127.0.0.1",
            "database.port": str(self.port),
            "database.user": "postgres",
            "database.dbname": "postgres",
            "topic.prefix": f"{worker.prefix}-{part}",
            "slot.name": f"{worker.prefix}_{part}",
            "publication.name": f"{worker.prefix}_{part}",
            "publication.autocreate.mode": "filtered",
            "table.include.list": tables,
            "plugin.name": "pgoutput",
            **PLAIN,
        }
        worker.make(part, config)


def follow(contestants: Sequence[MeasuredWorker], bootstrap: str, database: Database) -> int:
    """Random transactions, and records that are compared; returns how many there were."""
    chance = random.Random(7)
    with psycopg.connect(database.url, autocommit=True) as connection:
        for each in contestants:
            database.capture(each, "both", r"public\.plain,public\.whole")
        for each in contestants:
            topic = CommittedTopic(bootstrap, f"{each.prefix}-both.public.plain")
            topic.until(lambda value: value is not None)  # the row that was there
            topic.close()
        for _ in range(TRANSACTIONS):
            with connection.transaction():
                for _ in range(chance.randint(1, 6)):
                    statement = chance.choice(_STATEMENTS)
                    table = chance.choice(("plain", "whole"))
                    values = {"free": chance.randint(10, 10**9), "text": f"t{chance.random()}"}
                    connection.execute(statement.format(table, table).encode(), values)
        for table in ("plain", "whole"):
            connection.execute(f"INSERT INTO {table} VALUES (2000000000, 'last')".encode())
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


def shown(contestant: MeasuredWorker, bootstrap: str, table: str) -> list[object]:
    """Records without what differs from run to run, or by name."""
    topic = CommittedTopic(bootstrap, f"{contestant.prefix}-both.public.{table}")
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


def speed(
    contestant: MeasuredWorker, bootstrap: str, database: Database, part: str, rows: int
) -> tuple[float, float]:
    """Rows per second of processor time, of a table that is read and of inserts."""
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute(b"TRUNCATE many")
        connection.execute(_FILL, [1, rows])
        topic = CommittedTopic(bootstrap, f"{contestant.prefix}-{part}.public.many")
        began_s = contestant.cpu_s()
        database.capture(contestant, part, r"public\.many")
        topic.until(lambda _: True, rows)
        read_s = contestant.cpu_s() - began_s
        time.sleep(2)  # what follows a first read is not part of the stream
        began_s = contestant.cpu_s()
        connection.execute(_FILL, [rows + 1, 2 * rows])
        topic.until(lambda _: True, 2 * rows)
        stream_s = contestant.cpu_s() - began_s
        topic.close()
        connection.execute(b"TRUNCATE many")
    contestant.delete(part)
    return rows / read_s, rows / stream_s


def delays_ms(contestant: MeasuredWorker, bootstrap: str, database: Database) -> list[float]:
    """Of each insert, until it is read."""
    begun: dict[int, float] = {}
    count = _INSERTS_PER_S * _INSERTS_S
    database.capture(contestant, "late", r"public\.late")
    topic = CommittedTopic(bootstrap, f"{contestant.prefix}-late.public.late")

    def insert(first: int, last: int) -> None:
        with psycopg.connect(database.url, autocommit=True) as connection:
            began = time.monotonic()
            for number in range(first, last):
                time.sleep(max(0.0, began + (number - first) / _INSERTS_PER_S - time.monotonic()))
                begun[number] = time.monotonic()
                connection.execute("INSERT INTO late VALUES (%s)", [number])

    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute(b"TRUNCATE late")
        connection.execute(b"INSERT INTO late VALUES (-1)")
    topic.until(lambda value: value is not None)
    inserting = threading.Thread(target=insert, args=(0, count))
    inserting.start()
    found: dict[int, float] = {}
    while len(found) < count:
        values = topic.poll(0.05)
        now = time.monotonic()
        for value in filter(None, values):
            number = json.loads(value)["after"]["id"]
            if number >= 0:
                found[number] = (now - begun[number]) * 1000
    inserting.join()
    topic.close()
    contestant.delete("late")
    # The first second warms up.
    return [found[number] for number in range(_INSERTS_PER_S, count)]


def memory_mb(contestant: MeasuredWorker, database: Database) -> float:
    """Of the worker with connectors that capture a table each."""
    parts = [f"part{number}" for number in range(CONNECTORS)]
    for part in parts:
        database.capture(contestant, part, rf"public\.{part}")
    contestant.until_running(parts)
    time.sleep(5)
    found = contestant.memory_mb()
    for part in parts:
        contestant.delete(part)
    return found


def measured(
    contestant: MeasuredWorker, bootstrap: str, database: Database, rows: int
) -> list[str]:
    """A row of the table."""
    memory = memory_mb(contestant, database)
    speed(contestant, bootstrap, database, "warm", rows // 5)
    read, inserts = speed(contestant, bootstrap, database, "many", rows)
    late = delays_ms(contestant, bootstrap, database)
    p95 = statistics.quantiles(late, n=20)[-1]
    return [
        "Debezium" if contestant.name == "Apache" else contestant.name,
        f"{read:,.0f}",
        f"{inserts:,.0f}",
        f"{statistics.median(late):.0f}",
        f"{p95:.0f}",
        f"{memory:.0f}",
    ]


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    port = free_port()
    settings = {
        "wal_level": "logical",
        "listen_addresses": "127.0.0.1",
        "port": str(port),
        "max_replication_slots": "60",
        "max_wal_senders": "60",
    }
    with (
        tempfile.TemporaryDirectory() as temporary,
        running_postgres(**settings) as url,
        our_broker(Path(temporary, "broker")) as broker,
        apache_worker(Path(temporary, "apache"), broker.bootstrap, "debezium-3.6") as apache,
        moldau_worker(Path(temporary, "moldau"), broker.bootstrap) as ours,
    ):
        database = Database(url, port)
        with psycopg.connect(url, autocommit=True) as connection:
            for statement in _TABLES:
                connection.execute(statement.encode())
            for number in range(CONNECTORS):
                connection.execute(f"CREATE TABLE part{number} (id integer PRIMARY KEY)".encode())
        both = [apache, ours]
        count = follow(both, broker.bootstrap, database)
        print(f"{count} records of {TRANSACTIONS} random transactions are alike", flush=True)
        for each in both:
            each.delete("both")
        rows_of = [measured(each, broker.bootstrap, database, rows) for each in both]
    columns = [
        "",
        "table, rows per CPU s",
        "inserts, rows per CPU s",
        "delay p50, ms",
        "p95, ms",
        f"MB with {CONNECTORS} connectors",
    ]
    print_table(f"{rows:,} rows of 5 columns", columns, rows_of)


if __name__ == "__main__":
    main()
