"""Writes connect/debezium-mariadb-golden.jsonl anew, from Debezium's own connector for MariaDB.

    PYTHONPATH=src:tests bin/python -m conformance.record_debezium

The worker is Apache Kafka Connect 3.9, the broker one of ours.
"""

import json
import re
import tempfile
import time
from pathlib import Path

from conformance.apache.connect import Worker, worker
from conformance.debezium_records import DIRECTORY, Json, statements
from conformance.our_broker import our_broker
from mariadb import MariaDb, running_mariadb
from moldau.client.blocking.admin import Admin
from moldau.client.blocking.consumer import Consumer

GOLDEN = DIRECTORY / "debezium-mariadb-golden"
_DEADLINE_S = 120
_JSON = "org.apache.kafka.connect.json.JsonConverter"
_PLAIN = {f"{side}.converter.schemas.enable": "false" for side in ("key", "value")}
CONFIGS = {
    "a": {
        "skipped.operations": "none",
        "provide.transaction.metadata": "true",
        "heartbeat.interval.ms": "500",
    },
    "b": {
        "decimal.handling.mode": "string",
        "time.precision.mode": "connect",
        "bigint.unsigned.handling.mode": "precise",
        "tombstones.on.delete": "false",
        **_PLAIN,
    },
    "c": {
        "decimal.handling.mode": "double",
        "time.precision.mode": "isostring",
        "binary.handling.mode": "hex",
        **_PLAIN,
    },
    "d": {"time.precision.mode": "microseconds", "binary.handling.mode": "base64"},
    "e": {"time.precision.mode": "nanoseconds", **_PLAIN},
}


def config(name: str, bootstrap: str, port: int) -> dict[str, str]:
    """The settings of one of the connectors."""
    return {
        "connector.class": "io.debezium.connector.mariadb.MariaDbConnector",
        "database.hostname": "127.0.0.1",
        "database.port": str(port),
        "database.user": "root",
        "database.password": "",
        "database.server.id": str(100 + ord(name)),
        "topic.prefix": name,
        "database.include.list": "inv",
        "include.schema.changes": "false",
        "schema.history.internal.kafka.bootstrap.servers": bootstrap,
        "schema.history.internal.kafka.topic": f"history-{name}",
        "key.converter": _JSON,
        "value.converter": _JSON,
        **CONFIGS[name],
    }


def run(server: MariaDb, text: str) -> None:
    """All statements, one after the other."""
    connection = server.connect()
    with connection.cursor() as cursor:
        for statement in statements(text):
            cursor.execute(statement)
    connection.close()


def main() -> None:
    before, after = GOLDEN.with_suffix(".sql").read_text().split("-- part 2")
    with (
        tempfile.TemporaryDirectory() as directory,
        running_mariadb() as server,
        our_broker(Path(directory, "broker")) as broker,
        worker(
            Path(directory, "connect"), broker.bootstrap, jars=("debezium-mariadb-3.5",)
        ) as connect,
    ):
        run(server, before)
        for name in CONFIGS:
            connect.put(name, config(name, broker.bootstrap, server.port))
        for name in CONFIGS:
            wait_for(broker.bootstrap, f"{name}.inv.types", 2, connect)
        time.sleep(3)  # what follows a snapshot has begun
        run(server, after)
        for name in CONFIGS:
            wait_for(broker.bootstrap, f"{name}.inv.no_key", 5 if name == "a" else 4, connect)
        time.sleep(3)
        lines: list[object] = [
            {"what": "connector", "name": each, "config": config(each, "", 0)} for each in CONFIGS
        ]
        for topic in topics_of(broker.bootstrap):
            if re.match(r"[a-e]\.|__debezium|connect-offsets", topic):
                lines += records_of(broker.bootstrap, topic)
    GOLDEN.with_suffix(".jsonl").write_text(
        "".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in lines)
    )


def wait_for(bootstrap: str, topic: str, count: int, connect: Worker) -> None:
    """Until a topic has so many records."""
    deadline = time.monotonic() + _DEADLINE_S
    while len(records_of(bootstrap, topic)) < count:
        assert time.monotonic() < deadline, connect.log.read_text()[-5000:]
        time.sleep(0.5)


def records_of(bootstrap: str, topic: str) -> list[Json]:
    """What a topic has."""
    found: list[Json] = []
    if topic not in topics_of(bootstrap):
        return found
    with Consumer[bytes, bytes](
        bootstrap_servers=bootstrap, auto_offset_reset="earliest"
    ) as consumer:
        consumer.assign(consumer.partitions_of(topic))
        while records := consumer.poll(1.0):
            found += [
                {
                    "what": "record",
                    "topic": topic,
                    "key": loaded(each.key),
                    "value": loaded(each.value),
                    "headers": [
                        part
                        for name, data in each.headers or ()
                        for part in (name, (data or b"").decode())
                    ],
                }
                for each in records
            ]
    return found


def topics_of(bootstrap: str) -> list[str]:
    """All topics."""
    with Admin(bootstrap_servers=bootstrap) as admin:
        return sorted(admin.list_topics())


def loaded(data: bytes | None) -> object:
    """What JSON says."""
    return None if data is None else json.loads(data)


if __name__ == "__main__":
    main()
