"""A worker that captures MariaDB or MySQL is killed, and the server, in first read and stream."""

import contextlib
import json
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import pymysql
import pytest

from conformance.captured_copy import (
    BROKER,
    DEADLINE_S,
    LAST,
    ROWS,
    Copy,
    Statement,
    a_worker,
    changing,
    pipeline,
)
from mariadb import MariaDb, running_mariadb
from moldau.testing.broker import running_broker
from mysql import needs_mysql, running_mysql

pytestmark = pytest.mark.needs("mariadbd")


def capture(server: MariaDb) -> dict[str, str]:
    return {
        "connector.class": "MariaDbConnector" if server.is_mariadb else "MySqlConnector",
        "database.hostname": "127.0.0.1",
        "database.port": str(server.port),
        "database.user": "root",
        "topic.prefix": "p",
        "table.include.list": r"shop\.t",
    }


class Writer:
    """Commits transactions; one that the server's death interrupts is forgotten."""

    def __init__(self, server: MariaDb) -> None:
        self._server = server
        self._connection = server.connect("shop")

    def commit(self, statements: list[Statement]) -> None:
        try:
            with self._connection.cursor() as cursor:
                cursor.execute("BEGIN")
                for statement, values in statements:
                    with contextlib.suppress(pymysql.IntegrityError):
                        cursor.execute(statement, values)
                cursor.execute("COMMIT")
        except pymysql.Error:
            time.sleep(0.05)
            with contextlib.suppress(pymysql.Error):
                self._connection = self._server.connect("shop")


def table(server: MariaDb) -> Mapping[int, object]:
    connection = server.connect("shop")
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, v FROM t")
        rows = cursor.fetchall()
    connection.close()
    return dict(rows)


def fill(server: MariaDb) -> None:
    connection = server.connect()
    with connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE shop")
        cursor.execute("USE shop")
        cursor.execute("CREATE TABLE t (id int PRIMARY KEY, v varchar(100))")
        rows = [(number, "x" * 100) for number in range(1, ROWS + 1)]
        cursor.executemany("INSERT INTO t VALUES (%s, %s)", rows)
    connection.close()


def restart(server: MariaDb) -> None:
    """As after a crash of the machine's process."""
    server.kill()
    server.start()


@pytest.mark.parametrize(
    "running", [running_mariadb, pytest.param(running_mysql, marks=needs_mysql())]
)
def test_the_topic_tells_the_table_and_each_change_once(
    tmp_path: Path, running: Callable[[], AbstractContextManager[MariaDb]]
) -> None:
    with running() as server, running_broker(BROKER) as kafka:
        fill(server)
        file = tmp_path / "pipeline.json"
        file.write_text(json.dumps(pipeline(kafka.bootstrap_servers, capture(server))))
        copy = Copy(kafka.bootstrap_servers, "p.shop.t", ["gtid", "pos", "row"])
        writer = Writer(server)
        try:
            with changing(writer.commit):
                # The worker, then the server, in the first read.
                with a_worker(file):
                    copy.until(lambda: copy.operations["r"] > 0)
                assert copy.operations["r"] < ROWS, "it was killed too late for this test"
                with a_worker(file):
                    read = copy.operations["r"]
                    copy.until(lambda: copy.operations["r"] > read)
                    restart(server)
                    copy.until_streamed(50)
                    # The server, then the worker, in the stream.
                    restart(server)
                    copy.until_streamed(300)
                with a_worker(file):
                    copy.until_streamed(100)
            deadline = time.monotonic() + DEADLINE_S
            while LAST not in table(server):
                assert time.monotonic() < deadline
                writer.commit([("INSERT INTO t VALUES (%(id)s, 'last')", {"id": LAST})])
            with a_worker(file):
                copy.until(lambda: LAST in copy.rows)
        finally:
            copy.close()
        assert copy.rows == table(server)
        assert copy.repeated == set()
