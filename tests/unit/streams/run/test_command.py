"""An application runs from the command line, stops on SIGTERM and goes on where it ended."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from moldau.client.admin.admin import Admin
from moldau.client.admin.topics import NewTopic
from moldau.client.blocking.producer import Producer
from moldau.streams import LONG, STRING
from moldau.streams.queries import TableView
from moldau.streams.run.app import load_app
from moldau.streams.run.command import Running, RunOptions
from moldau.testing.broker import EmbeddedBroker, running_broker

pytestmark = [pytest.mark.needs("java"), pytest.mark.timeout(600)]
DEADLINE_S = 400
QUIET = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "1"}
APP = r"""
from moldau.streams import StreamsBuilder

builder = StreamsBuilder()
words = builder.stream("lines").flat_map_values(r"split(lower(value), '\\W+')")
words.group_by("value").count(store="counts").to_stream().to("output")
topology = builder.build()
"""
TABLES = """
from moldau.streams import STRING, StreamsBuilder

builder = StreamsBuilder()
words = builder.stream("lines").flat_map_values("split(value, ' ')").select_key("value")
words.through("words", key=STRING, value=STRING).group_by_key().count(store="counts")
builder.table("names", store="names").filter("value <> 'nobody'", store="known")
topology = builder.build()
"""


def produce(broker: EmbeddedBroker, *lines: str, partition: int | None = None) -> None:
    with Producer[bytes, bytes](bootstrap_servers=broker.bootstrap_servers) as producer:
        for line in lines:
            producer.send("lines", line.encode(), partition=partition)


@contextmanager
def application(
    broker: EmbeddedBroker, directory: Path, *options: str
) -> Iterator["subprocess.Popen[str]"]:
    (directory / "words.py").write_text(APP)
    command = [sys.executable, "-m", "moldau", "streams", "run", str(directory / "words.py")]
    command += ["--bootstrap-server", broker.bootstrap_servers, "--master", "local[2]"]
    command += ["--checkpoint", str(directory / "checkpoint"), *options]
    for name, value in QUIET.items():
        command += ["--conf", f"{name}={value}"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def counts(broker: EmbeddedBroker) -> TableView:
    servers = broker.bootstrap_servers
    return TableView(servers, "words-counts-changelog", key=STRING, value=LONG)


def ended(process: "subprocess.Popen[str]") -> str:
    """What a process that has to end well wrote to its output."""
    output, errors = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 0, errors[-3000:]
    assert "words has stopped." in errors
    return output


def test_an_application_is_asked_and_ends_on_sigterm(tmp_path: Path) -> None:
    with running_broker({"num.partitions": "2"}) as broker:
        produce(broker, "to the river", "the sea")
        options = ("--tables-port", "0", "--metrics-port", "0")
        with application(broker, tmp_path, *options) as process, counts(broker) as view:
            ports: dict[str, str] = {}
            assert process.stderr is not None
            for line in process.stderr:
                ports.update(re.findall(r"(tables|metrics): (http://\S+)", line))
                if "words runs" in line:
                    break
            while view.get("the") != 2:
                assert process.poll() is None
                view.wait_until_current()
            metrics = urllib.request.urlopen(ports["metrics"], timeout=30).read().decode()
            assert 'moldau_streams_failures{query="words-counts"}' in metrics
            tables = urllib.request.urlopen(ports["tables"], timeout=30).read().decode()
            assert '"name": "counts"' in tables
            process.send_signal(signal.SIGTERM)
            assert ended(process) == ""  # no progress in a pipe


async def create(broker: EmbeddedBroker, **partitions: int) -> None:
    """Make topics that have so many partitions, or give them so many."""
    async with Admin(bootstrap_servers=broker.bootstrap_servers) as admin:
        topics = [NewTopic(name, partitions=count) for name, count in partitions.items()]
        made = await admin.create_topics(topics)
        there = {name: partitions[name] for name in made.errors}
        (await admin.create_partitions(there)).check()


def answered(place: str, path: str, *, wanted: object) -> None:
    """Ask for a table until it is as it has to be."""
    deadline = time.monotonic() + DEADLINE_S
    while True:
        try:
            found = json.load(urllib.request.urlopen(f"{place}{path}", timeout=30))
        except urllib.error.HTTPError as error:
            found = error.code
        if found == wanted:
            return
        assert time.monotonic() < deadline, found
        threading.Event().wait(0.05)


def test_empty_topics_fill_and_grow_and_tables_are_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    (tmp_path / "tables.py").write_text(TABLES)
    with running_broker() as broker:
        asyncio.run(create(broker, lines=1, words=2, names=1))
        servers = broker.bootstrap_servers
        options = {"bootstrap-server": servers, "checkpoint": str(tmp_path), "master": "local[2]"}
        clients = {"kafka.compression.type": "gzip", "kafka.transaction.timeout.ms": "60000"}
        with Running(load_app(str(tmp_path / "tables.py")), options, QUIET, clients) as running:
            running.start()
            (told,) = running.serve(tables_port=0)
            place, stop = told.removeprefix("tables: "), threading.Event()
            thread = threading.Thread(target=running.run, args=(stop,), kwargs={"is_terminal": 0})
            thread.start()
            try:
                changelogs = [("counts", "tables-counts-changelog")]
                changelogs += [("known", "tables-known-changelog"), ("names", "names")]
                tables = [{"name": name, "topic": topic, "keys": 0} for name, topic in changelogs]
                answered(place, "", wanted=tables)
                produce(broker, "to the river")
                with Producer[bytes, bytes](bootstrap_servers=servers) as producer:
                    producer.send("names", b"Anna", key=b"anna")
                    producer.send("names", b"nobody", key=b"bob")
                answered(place, "/counts/the", wanted={"key": "the", "value": 1})
                answered(place, "/names/bob", wanted={"key": "bob", "value": "nobody"})
                answered(place, "/known", wanted=[{"key": "anna", "value": "Anna"}])
                asyncio.run(create(broker, lines=2))
                produce(broker, "the sea", partition=1)
                answered(place, "/counts/the", wanted={"key": "the", "value": 2})
            finally:
                stop.set()
                thread.join()


def test_words_are_counted_on_where_the_last_run_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    (tmp_path / "words.py").write_text(APP)
    with running_broker({"num.partitions": "2"}) as broker, counts(broker) as view:
        options = {
            "bootstrap-server": broker.bootstrap_servers,
            "checkpoint": str(tmp_path / "checkpoint"),
            "master": "local[2]",
        }
        for lines in (["to the river", "the sea"], ["the end"]):
            produce(broker, *lines)
            with Running(load_app(str(tmp_path / "words.py")), options, QUIET) as running:
                running.start(RunOptions(trigger={"availableNow": True}))
                running.run(threading.Event(), is_terminal=True)
        deadline = time.monotonic() + DEADLINE_S
        while (view.get("the"), view.get("end"), view.get("sea")) != (3, 1, 1):
            assert time.monotonic() < deadline, view.rows()
            view.wait_until_current()
    assert "words-counts  batch" in capsys.readouterr().out
