"""A worker that captures a database is killed in its first read and in the stream of changes."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import psycopg
import pytest

from conformance.captured_copy import (
    BROKER,
    LAST,
    ROWS,
    Copy,
    Statement,
    a_worker,
    changing,
    pipeline,
)
from moldau.testing.broker import running_broker
from postgres import parts_of, running_postgres

pytestmark = pytest.mark.needs("postgres")


def capture(url: str) -> dict[str, str]:
    host, database = parts_of(url)
    return {
        "connector.class": "PostgresConnector",
        "database.hostname": host,
        "database.user": "postgres",
        "database.dbname": database,
        "topic.prefix": "p",
        "publication.autocreate.mode": "filtered",
        "table.include.list": r"public\.t",
        "slot.retry.delay.ms": "200",
    }


def table(url: str) -> Mapping[int, object]:
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT id, v FROM t").fetchall()
    return {int(key): value for key, value in rows}


def test_the_topic_tells_the_table_and_each_change_once(tmp_path: Path) -> None:
    with running_postgres(wal_level="logical") as url, running_broker(BROKER) as kafka:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE TABLE t (id integer PRIMARY KEY, v text)")
            connection.execute(
                "INSERT INTO t SELECT i, repeat('x', 100) FROM generate_series(1, %s) i", [ROWS]
            )
        file = tmp_path / "pipeline.json"
        file.write_text(json.dumps(pipeline(kafka.bootstrap_servers, capture(url))))
        copy = Copy(kafka.bootstrap_servers, "p.public.t", ["lsn"])
        try:
            with psycopg.connect(url, autocommit=True) as writer:

                def commit(statements: list[Statement]) -> None:
                    with writer.transaction():
                        for statement, values in statements:
                            writer.execute(statement.encode(), values)

                with changing(commit):
                    with a_worker(file):
                        copy.until(lambda: copy.operations["r"] > 0)
                    assert copy.operations["r"] < ROWS, "it was killed too late for this test"
                    for wanted in (1, 300):
                        with a_worker(file):
                            copy.until_streamed(wanted)
                writer.execute("INSERT INTO t VALUES (%s, 'last')", [LAST])
            with a_worker(file):
                copy.until(lambda: LAST in copy.rows)
        finally:
            copy.close()
        assert copy.rows == table(url)
        assert copy.repeated == set()
        assert re.fullmatch(r"[crud]+", "".join(sorted(copy.operations)))
