"""Debezium, in Apache Kafka Connect on a broker of ours, reads the changes of a table."""

import json
from contextlib import ExitStack
from pathlib import Path

import psycopg

from conformance.apache.broker import free_port
from conformance.apache.connect import worker
from conformance.our_broker import our_broker
from neighbours.mirroring import wait_until
from neighbours.reading import records_of
from postgres import running_postgres

TOPIC = "shop.public.orders"
JSON = "org.apache.kafka.connect.json.JsonConverter"


def connector(port: int) -> dict[str, str]:
    """The connector's settings; the rest are Debezium's defaults."""
    return {
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "database.hostname": "127.0.0.1",
        "database.port": str(port),
        "database.user": "postgres",
        "database.password": "none",
        "database.dbname": "postgres",
        "plugin.name": "pgoutput",
        "topic.prefix": "shop",
        "table.include.list": "public.orders",
        "key.converter": JSON,
        "key.converter.schemas.enable": "false",
        "value.converter": JSON,
        "value.converter.schemas.enable": "false",
    }


def capture_changes(directory: Path) -> None:
    """Rows that are there, and what is inserted, updated and deleted later, become records."""
    port = free_port()
    with ExitStack() as stack:
        url = stack.enter_context(
            running_postgres(listen_addresses="127.0.0.1", port=str(port), wal_level="logical")
        )
        broker = stack.enter_context(our_broker(directory / "broker"))
        with psycopg.connect(url, autocommit=True) as database:
            database.execute("CREATE TABLE orders (id int PRIMARY KEY, n int)")
            database.execute("INSERT INTO orders VALUES (1, 10), (2, 20)")
            connect = stack.enter_context(
                worker(directory / "connect", broker.bootstrap, jars=("debezium-3.0",))
            )
            connect.put("orders", connector(port))
            wait_until("rows", lambda: kinds(broker.bootstrap) == ["r", "r"], connect.log)
            database.execute("INSERT INTO orders VALUES (3, 30)")
            database.execute("UPDATE orders SET n = 11 WHERE id = 1")
            database.execute("DELETE FROM orders WHERE id = 2")
            expected = ["r", "r", "c", "u", "d", "tombstone"]
            wait_until("changes", lambda: kinds(broker.bootstrap) == expected, connect.log)


def kinds(bootstrap: str) -> list[str]:
    """What happened to rows, in order, by Debezium's letters."""
    records = records_of(bootstrap, TOPIC)
    return ["tombstone" if each.value is None else json.loads(each.value)["op"] for each in records]
