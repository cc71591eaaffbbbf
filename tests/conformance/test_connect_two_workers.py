"""Two workers with one group id: one stands by, and goes on where the other one was killed."""

import re
from pathlib import Path

import psycopg
import pytest

from conformance.apache.connect import worker as apache_worker
from conformance.captured_copy import BROKER, LAST, Copy, Statement, changing
from conformance.connect_worker import WorkerProcess, worker_process
from conformance.test_connect_capture_killed import capture, table
from moldau.testing.broker import running_broker
from postgres import running_postgres

pytestmark = pytest.mark.needs("postgres")
_PLAIN = {
    f"{side}.converter{more}": text
    for side in ("key", "value")
    for more, text in (("", "JsonConverter"), (".schemas.enable", "false"))
}
_ROWS = 500


def stands_by(worker: WorkerProcess) -> bool:
    """It says so, and refuses changes as well."""
    status, answer = worker.rest.ask("GET", "/connectors/capture/status")
    if status != 503 or "stands by" not in str(answer):
        return False
    return worker.rest.ask("DELETE", "/connectors/capture")[0] == 503


def times_it_began(worker: WorkerProcess) -> int:
    """How often it began to run the connectors."""
    return worker.log.read_text().count("this worker runs the")


def test_the_next_worker_goes_on_and_nothing_comes_twice(tmp_path: Path) -> None:
    with running_postgres(wal_level="logical") as url, running_broker(BROKER) as kafka:
        servers = kafka.bootstrap_servers
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE TABLE t (id integer PRIMARY KEY, v text)")
            connection.execute("INSERT INTO t SELECT i, 'x' FROM generate_series(1, %s) i", [_ROWS])
        copy = Copy(servers, "p.public.t", ["lsn"])
        small = {"max.batch.size": "100", "poll.interval.ms": "50"}
        with (
            psycopg.connect(url, autocommit=True) as writer,
            worker_process(tmp_path / "first", servers, _PLAIN) as first,
            worker_process(tmp_path / "second", servers, _PLAIN, leads=False) as second,
        ):

            def commit(statements: list[Statement]) -> None:
                with writer.transaction():
                    for statement, values in statements:
                        writer.execute(statement.encode(), values)

            first.rest.put("capture", {**small, **capture(url)})
            try:
                copy.until(lambda: copy.operations["r"] == _ROWS)
                with changing(commit):
                    copy.until_streamed(50)
                    second.until(lambda: stands_by(second))
                    assert times_it_began(first) == 1, "who stands by disturbs nobody"
                    first.kill()
                    second.until(lambda: second.answers(200))
                    second.until_states("capture", ["RUNNING", "RUNNING"])
                    copy.until_streamed(50)
                    # Who comes back stands by.
                    with worker_process(tmp_path / "first", servers, _PLAIN, leads=False) as again:
                        again.until(lambda: stands_by(again))
                        copy.until_streamed(50)
                    assert times_it_began(second) == 1
                writer.execute("INSERT INTO t VALUES (%s, 'last')", [LAST])
                copy.until(lambda: LAST in copy.rows)
            finally:
                copy.close()
            assert copy.rows == table(url)
            assert copy.repeated == set()
            assert copy.operations["r"] == _ROWS


@pytest.mark.needs("java", "mvn")
def test_a_worker_says_that_another_group_has_its_topics(tmp_path: Path) -> None:
    with running_broker(BROKER) as kafka:
        servers = kafka.bootstrap_servers
        with (
            apache_worker(tmp_path / "java", servers),
            worker_process(tmp_path / "first", servers, _PLAIN) as first,
            worker_process(tmp_path / "third", servers, {**_PLAIN, "group.id": "third"}) as third,
        ):
            assert warnings(first) == ["connect"]
            assert warnings(third) == ["connect", "workers"]
        own = {f"{each}.storage.topic": f"own-{each}" for each in ("config", "offset", "status")}
        with (
            apache_worker(tmp_path / "java", servers),
            worker_process(tmp_path / "own", servers, {**_PLAIN, **own}) as alone,
        ):
            assert warnings(alone) == []


def warnings(worker: WorkerProcess) -> list[str]:
    """The groups that it says have its topics."""
    found = re.findall("WARN workers of the group ([^ ]+) use", worker.log.read_text())
    return sorted(found)
