"""Connectors whose tasks are Spark's: once though the worker is killed; paused, failed, moved."""

import json
import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from conformance.connect_tables import Tables
from conformance.connect_worker import WorkerProcess, worker_process
from conformance.processes import children_of
from moldau.client.blocking.admin import Admin
from moldau.client.blocking.consumer import Consumer
from moldau.client.blocking.producer import Producer
from moldau.testing.broker import EmbeddedBroker, running_broker

pytestmark = [pytest.mark.needs("java"), pytest.mark.timeout(900)]  # when others work too

ROWS = 2500
SETTINGS = {
    "engine": "spark",
    "spark.master": "local[2]",
    "spark.driver.memory": "512m",
    **Tables.WORKER,
}


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    settings = {
        "num.partitions": "2",
        "group.initial.rebalance.delay.ms": "0",
        "group.min.session.timeout.ms": "1000",
    }
    with running_broker(settings) as running:
        yield running


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    return Tables(tmp_path_factory.mktemp("connect"), ROWS)


@pytest.fixture(scope="module")
def killed(broker: EmbeddedBroker, tables: Tables) -> int:
    """Tables go into topics and out again until the worker is killed; how far they were."""
    tables.fill()
    with worker_process(tables.directory, broker.bootstrap_servers, SETTINGS) as worker:
        worker.rest.put("in", tables.source())
        worker.rest.put("out", tables.sink())
        worker.until(lambda: tables.count() > 0)
        worker.kill()
        return tables.count()


@pytest.fixture(scope="module")
def worker(broker: EmbeddedBroker, tables: Tables, killed: int) -> Iterator[WorkerProcess]:
    """The next worker, which finds everything in the topics."""
    del killed
    with worker_process(tables.directory, broker.bootstrap_servers, SETTINGS) as running:
        yield running


def test_each_row_goes_through_a_topic_once_though_the_worker_is_killed(
    broker: EmbeddedBroker, tables: Tables, killed: int, worker: WorkerProcess
) -> None:
    assert 0 < killed < tables.count_wanted, "it was killed half way"
    worker.until(lambda: tables.count() >= tables.count_wanted, tables.count)
    assert tables.written() == tables.expected()
    assert tables.in_topics(broker.bootstrap_servers) == tables.expected()
    worker.until_states("in", ["RUNNING"] * 3)
    worker.until_states("out", ["RUNNING"] * 3)
    # The groups' offsets and the sources' are where tools look for them.
    with Admin(bootstrap_servers=broker.bootstrap_servers) as admin:
        group = admin.list_group_offsets("connect-out")["connect-out"]
    assert {each.topic for each in group} == {"t-one", "t-two"}
    _, offsets = worker.rest.ask("GET", "/connectors/in/offsets")
    assert isinstance(offsets, dict)
    assert [each["offset"] for each in offsets["offsets"]] == [{"incrementing": ROWS - 1}] * 2


def send(broker: EmbeddedBroker, topic: str, *records: bytes) -> None:
    with Producer[bytes, bytes](bootstrap_servers=broker.bootstrap_servers) as producer:
        for each in records:
            producer.send(topic, each, partition=0)


def words(directory: Path) -> list[object]:
    with closing(sqlite3.connect(directory / "rest.db")) as database:
        try:
            return [word for (word,) in database.execute("SELECT word FROM rest ORDER BY rowid")]
        except sqlite3.OperationalError:
            return []


def record(word: str) -> bytes:
    return json.dumps({"word": word}).encode()


def test_a_sink_fails_with_the_cause_sets_aside_what_it_may_and_rests(
    broker: EmbeddedBroker, tables: Tables, worker: WorkerProcess
) -> None:
    directory = tables.directory
    sink = {
        **tables.sink(),
        "connection.url": f"jdbc:sqlite:{directory}/rest.db",
        "topics": "rest",
        "value.converter": "Json",
        "value.converter.schemas.enable": "false",
    }
    worker.rest.put("rest", sink)  # its topic is not there yet
    worker.until_states("rest", ["RUNNING"] * 3)
    send(broker, "rest", record("a"), b"no JSON", record("b"))
    worker.until_states("rest", ["RUNNING", "FAILED", "FAILED"])
    _, status = worker.rest.ask("GET", "/connectors/rest/status")
    assert isinstance(status, dict)
    first = status["tasks"][0]["trace"].partition("\n")[0]
    assert "VALUE_CONVERTER of the record in rest-0 at offset 1" in first
    lenient = {
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": "dead",
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    worker.rest.put("rest", {**sink, **lenient})
    worker.until(lambda: words(directory) == ["a", "b"], lambda: words(directory))
    with Consumer[bytes, bytes](
        bootstrap_servers=broker.bootstrap_servers, auto_offset_reset="earliest"
    ) as consumer:
        consumer.assign(consumer.partitions_of("dead"))
        dead = consumer.poll(30)
    assert [each.value for each in dead] == [b"no JSON"]
    assert dict(dead[0].headers)["__connect.errors.offset"] == b"1"
    worker.rest.ask("PUT", "/connectors/rest/pause")
    worker.until_states("rest", ["PAUSED"] * 3)
    send(broker, "rest", record("c"))
    worker.rest.ask("POST", "/connectors/rest/restart?includeTasks=true")
    worker.until_states("rest", ["PAUSED"] * 3)
    assert words(directory) == ["a", "b"]
    worker.rest.ask("PUT", "/connectors/rest/resume")
    worker.until(lambda: words(directory) == ["a", "b", "c"], lambda: words(directory))
    # Moved back while it is stopped, it reads again; the table's own notes keep rows single.
    worker.rest.ask("PUT", "/connectors/rest/stop")
    worker.until_states("rest", ["STOPPED"])
    back = {"partition": {"kafka_topic": "rest", "kafka_partition": 0}, "offset": None}
    assert worker.rest.ask("PATCH", "/connectors/rest/offsets", {"offsets": [back]})[0] == 200
    worker.rest.ask("PUT", "/connectors/rest/resume")
    send(broker, "rest", record("d"))
    worker.until(lambda: words(directory)[-1:] == ["d"], lambda: words(directory))
    assert words(directory) == ["a", "b", "c", "d"]


def test_any_format_of_sparks_is_written_and_read(
    broker: EmbeddedBroker, tables: Tables, worker: WorkerProcess
) -> None:
    place = tables.directory / "orc"
    plain = {"value.converter": "Json", "value.converter.schemas.enable": "false"}
    path = {"format": "orc", "option.path": f"{place}/${{topic}}"}
    sink = {**plain, **path, "connector.class": "spark", "topics": "any", "rows.per.file": "2"}
    worker.rest.put("write", sink)
    send(broker, "any", record("a"), record("b"), record("c"))
    worker.until(lambda: [*place.glob("any/_SUCCESS")] != [], lambda: worker.rest.states("write"))
    source = {**plain, "connector.class": "SparkSource", "topic": "back"}
    source |= {"format": "orc", "option.path": f"{place}/any"}
    worker.rest.put("read", source)
    worker.until_states("read", ["RUNNING", "RUNNING"])
    with Consumer[bytes, bytes](
        bootstrap_servers=broker.bootstrap_servers,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
    ) as consumer:
        consumer.assign(consumer.partitions_of("back"))
        found: list[bytes | None] = []
        while len(found) < 2:
            found += [each.value for each in consumer.poll(1)]
    assert {b'{"word":"a"}', b'{"word":"b"}'} <= set(found)
    for name in ("write", "read"):
        worker.rest.ask("DELETE", f"/connectors/{name}")


def test_a_jvm_that_is_killed_is_followed_by_another(
    broker: EmbeddedBroker, tables: Tables, worker: WorkerProcess
) -> None:
    directory = tables.directory
    worker.until_states("rest", ["RUNNING"] * 3)
    for pid in children_of(worker.process.pid, b"java"):
        os.kill(pid, signal.SIGKILL)
    send(broker, "rest", record("e"))
    worker.until(lambda: words(directory)[-1:] == ["e"], lambda: words(directory))
    assert words(directory) == ["a", "b", "c", "d", "e"]
    worker.until_states("rest", ["RUNNING"] * 3)
