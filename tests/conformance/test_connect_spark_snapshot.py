"""Tasks of Spark read a table of PostgreSQL at first, while it changes, and are killed."""

import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from conformance.captured_copy import BROKER, LAST, Copy, Statement, a_worker, changing, pipeline
from conformance.processes import children_of
from conformance.test_connect_capture_killed import capture, table
from moldau.testing.broker import running_broker
from postgres import running_postgres

pytestmark = [pytest.mark.needs("postgres", "java"), pytest.mark.timeout(900)]

ROWS = 40_000
SPARK = {"engine": "spark", "spark.master": "local[2]", "spark.driver.memory": "512m"}


@dataclass(frozen=True, slots=True)
class Captured:
    """A table that changes, the file of its worker, and its topic as it is read."""

    url: str
    file: Path
    copy: Copy

    @contextmanager
    def changes(self) -> Iterator[None]:
        """Other transactions are committed until the block ends; then one more."""
        with psycopg.connect(self.url, autocommit=True) as writer:

            def commit(statements: list[Statement]) -> None:
                with writer.transaction():
                    for statement, values in statements:
                        writer.execute(statement.encode(), values)

            with changing(commit):
                yield
            writer.execute("INSERT INTO t VALUES (%s, 'last')", [LAST])


@pytest.fixture
def captured(tmp_path: Path) -> Iterator[Captured]:
    with running_postgres(wal_level="logical") as url, running_broker(BROKER) as kafka:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE TABLE t (id integer PRIMARY KEY, v text)")
            connection.execute(
                "INSERT INTO t SELECT i, repeat('x', 150) FROM generate_series(1, %s) i", [ROWS]
            )
            connection.execute("DELETE FROM t WHERE id BETWEEN 9000 AND 18000")
        file = tmp_path / "pipeline.json"
        servers = kafka.bootstrap_servers
        file.write_text(json.dumps(pipeline(servers, capture(url), SPARK)))
        copy = Copy(servers, "p.public.t", ["lsn"])
        try:
            yield Captured(url, file, copy)
        finally:
            copy.close()


def kill_python(java: int) -> None:
    """The processes of Python that do the work of tasks."""
    for daemon in children_of(java, b"pyspark"):
        for worker in children_of(daemon, b"pyspark"):
            os.kill(worker, signal.SIGKILL)


def test_rows_come_once_though_python_and_the_jvm_of_its_tasks_are_killed(
    captured: Captured,
) -> None:
    copy, before = captured.copy, set(table(captured.url))
    with a_worker(captured.file) as worker:
        with captured.changes():
            copy.until(lambda: copy.operations["r"] > 5_000)
            (java,) = children_of(worker.pid, b"java")
            kill_python(java)
            read = copy.operations["r"]
            copy.until(lambda: copy.operations["r"] > read + 5_000)
            os.kill(java, signal.SIGKILL)
            assert copy.operations["r"] < len(before) - 5_000, "it was killed too late"
            copy.until_streamed(300)
        copy.until(lambda: LAST in copy.rows)
    again = {key: count for key, count in copy.read_first.items() if count > 1}
    assert again == {}
    # Rows that changed before the slot was there have other keys.
    assert len(before - set(copy.read_first)) < ROWS // 10
    assert Counter(copy.markers) == {"first": 1, "last": 1, "true": len(copy.read_first) - 2}
    assert (copy.markers[0], copy.markers[-1]) == ("first", "last")
    assert copy.rows == table(captured.url)
    assert copy.repeated == set()
    assert set(copy.operations) == set("crud")


def test_a_worker_that_is_killed_meanwhile_is_followed_by_another(captured: Captured) -> None:
    copy = captured.copy
    with captured.changes():
        with a_worker(captured.file):
            copy.until(lambda: copy.operations["r"] > 6_000)
        assert copy.operations["r"] < ROWS - 12_000, "it was killed too late for this test"
        with a_worker(captured.file):
            copy.until_streamed(300)
    with a_worker(captured.file):
        copy.until(lambda: LAST in copy.rows)
    assert copy.markers.count("last") == 1
    assert copy.rows == table(captured.url)
    assert copy.repeated == set()
