"""Upserts of a topic into PostgreSQL, beside Debezium's JDBC sink in Apache Kafka Connect 3.9.

bin/bench table_sink [rows]

The JDBC sinks of Confluent and Aiven are not in Maven Central; Debezium's 3.3.1 is, and takes the
place of them. Both read the same topic of a Moldau broker, JSON with schemas, five columns, and
upsert by the key into tables of their own: first keys that are new, then all of them again.
Processor time is that of the whole worker, from the moment that the connector is made until the
table has everything, and so is the time by the clock; tables are compared at the end.
"""

import json
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psycopg
from bench.connect_workers import DEADLINE_S, JSON, MeasuredWorker, apache_worker, moldau_worker
from bench.measure import end, print_table

from conformance.apache.broker import free_port
from conformance.our_broker import our_broker
from moldau.client.blocking.producer import Producer
from postgres import running_postgres

ROWS = 100_000
_TYPES = {"id": "int64", "name": "string", "amount": "double", "at": "int64", "note": "string"}


@dataclass(frozen=True, slots=True)
class Spent:
    """What a worker took for the records of a topic."""

    cpu_s: float
    clock_s: float


def schema_of(names: Mapping[str, str]) -> dict[str, object]:
    fields = [{"field": name, "type": kind, "optional": False} for name, kind in names.items()]
    return {"type": "struct", "optional": False, "fields": fields}


def fill(bootstrap: str, topic: str, rows: int, version: str) -> None:
    """A record for each key."""
    key_schema, value_schema = schema_of({"id": "int64"}), schema_of(_TYPES)
    with Producer[bytes, bytes](bootstrap_servers=bootstrap, linger_ms=20) as producer:
        for number in range(rows):
            row = {
                "id": number,
                "name": f"name {number} {version}",
                "amount": number / 100,
                "at": 1_700_000_000_000 + number,
                "note": "x" * 50,
            }
            key = json.dumps({"schema": key_schema, "payload": {"id": number}})
            value = json.dumps({"schema": value_schema, "payload": row})
            producer.send(topic, value.encode(), key=key.encode())


def config_of(worker: MeasuredWorker, topic: str, port: int) -> dict[str, str]:
    url = f"jdbc:postgresql://127.0.0.1:{port}/postgres"
    shared = {
        "topics": topic,
        "key.converter": JSON,
        "value.converter": JSON,
        "connection.url": url,
        "insert.mode": "upsert",
        "consumer.override.max.poll.records": "3000",
        "consumer.override.auto.offset.reset": "earliest",
    }
    if worker.name == "Moldau":
        return {
            **shared,
            "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
            "connection.user": "postgres",
            "pk.mode": "record_key",
            "pk.fields": "id",
            "table.name.format": worker.prefix,
        }
    return {
        **shared,
        "connector.class": "io.debezium.connector.jdbc.JdbcSinkConnector",
        "connection.username": "postgres",
        "connection.password": "none",
        "primary.key.mode": "record_key",
        "primary.key.fields": "id",
        "collection.name.format": worker.prefix,
        "schema.evolution": "none",
        "batch.size": "3000",
    }


def upsert(worker: MeasuredWorker, connection: psycopg.Connection, topic: str, port: int) -> Spent:
    """Time until the table has all records of a topic."""
    _, version, rows = topic.split("-")
    # A sink's group is named after it: with one name the second worker would go on after the first.
    name = f"{worker.prefix}-{topic}"
    began_s, began_cpu_s = time.monotonic(), worker.cpu_s()
    worker.make(name, config_of(worker, topic, port))
    deadline = time.monotonic() + DEADLINE_S
    question = f"SELECT count(*) FROM {worker.prefix} WHERE name LIKE '%% {version}'"
    while True:
        (count,) = connection.execute(question.encode(), []).fetchone() or (0,)
        if count == int(rows):
            break
        states = worker.connect.states(name)
        assert "FAILED" not in states, worker.connect.log.read_text()[-4000:]
        assert time.monotonic() < deadline, (count, states)
        time.sleep(0.2)
    found = Spent(worker.cpu_s() - began_cpu_s, time.monotonic() - began_s)
    worker.delete(name)
    return found


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    port = free_port()
    with (
        tempfile.TemporaryDirectory() as temporary,
        running_postgres(listen_addresses="127.0.0.1", port=str(port)) as url,
        our_broker(Path(temporary, "broker")) as broker,
        apache_worker(Path(temporary, "apache"), broker.bootstrap, "debezium-jdbc-3.3") as apache,
        moldau_worker(Path(temporary, "moldau"), broker.bootstrap) as ours,
        psycopg.connect(url, autocommit=True) as connection,
    ):
        columns = (
            "id bigint PRIMARY KEY, name text NOT NULL, amount double precision NOT NULL, "
            "at bigint NOT NULL, note text NOT NULL"
        )
        for each in (apache, ours):
            connection.execute(f"CREATE TABLE {each.prefix} ({columns})".encode())
        topics = [f"rows-v0-{rows // 5}", f"rows-v1-{rows}", f"rows-v2-{rows}"]
        for topic in topics:
            fill(broker.bootstrap, topic, int(topic.split("-")[2]), topic.split("-")[1])
        spent = {
            each.name: [upsert(each, connection, topic, port) for topic in topics][1:]
            for each in (apache, ours)
        }
        differing = connection.execute(
            b"SELECT count(*) FROM (SELECT * FROM java EXCEPT SELECT * FROM moldau) AS d"
        ).fetchone()
        if differing != (0,):
            end([f"{differing} rows differ"])
    show(rows, "CPU s", {name: [each.cpu_s for each in found] for name, found in spent.items()})
    show(rows, "second", {name: [each.clock_s for each in found] for name, found in spent.items()})


def show(rows: int, unit: str, times: Mapping[str, list[float]]) -> None:
    """Print rows for a unit of time, and how many times Debezium's."""
    shown = [[name, *(f"{rows / each:,.0f}" for each in found)] for name, found in times.items()]
    ratios = [theirs / mine for theirs, mine in zip(*times.values(), strict=True)]
    shown.append(["ratio", *(f"{each:.1f}" for each in ratios)])
    shown[0][0] = "Debezium's JDBC sink"
    print_table(f"{rows:,} upserts, rows per {unit}", ["", "new keys", "the same keys"], shown)


if __name__ == "__main__":
    main()
