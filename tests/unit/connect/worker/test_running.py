"""One worker of a group runs the connectors; the next one goes on where it was."""

import sys
from pathlib import Path

import pytest

from moldau.connect.errors import ConfigError
from moldau.connect.spark.engine import SparkEngine
from moldau.connect.worker.running import started_engine
from moldau.connect.worker.settings import WorkerSettings
from moldau.testing.broker import EmbeddedBroker
from unit.connect.started import started_worker, until

GROUP = {"group.id": "takeover", "config.storage.topic": "tc", "offset.storage.topic": "to"}
GROUP |= {"status.storage.topic": "ts", "consumer.session.timeout.ms": "6000"}


def test_a_stand_by_takes_over_and_no_line_is_lost_or_doubled(
    cluster: EmbeddedBroker, tmp_path: Path
) -> None:
    source, sink = tmp_path / "in", tmp_path / "out"
    source.write_text("one\n")
    servers = cluster.bootstrap_servers
    with (
        started_worker(servers, GROUP) as first,
        started_worker(servers, GROUP, leads=False) as second,
    ):
        until(lambda: second.ask("GET", "/connectors")[0] == 503)
        config = {"connector.class": "FileStreamSource", "file": str(source), "topic": "over"}
        first.put("t-in", config)
        sink_config = {"connector.class": "FileStreamSink", "file": str(sink), "topics": "over"}
        first.put("t-out", sink_config)
        until(lambda: sink.exists() and sink.read_text() == "one\n")
        assert second.ask("GET", "/health")[0] == 503
    with source.open("a") as file:
        file.write("two\n")
    with started_worker(servers, GROUP) as third:
        assert third.ask("GET", "/connectors") == (200, ["t-in", "t-out"])
        until(lambda: sink.read_text() == "one\ntwo\n", lambda: third.states("t-in"))


@pytest.mark.parametrize("path", ["/connectors", "/health"])
def test_a_worker_that_leads_answers(cluster: EmbeddedBroker, path: str) -> None:
    with started_worker(cluster.bootstrap_servers, {**GROUP, "group.id": "alone"}) as worker:
        assert worker.ask("GET", path)[0] == 200


def test_an_engine_is_there_if_the_worker_says_so_and_what_it_needs_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spark = WorkerSettings({"engine": "spark"})
    assert started_engine(WorkerSettings({})) is None
    assert isinstance(started_engine(spark), SparkEngine)
    monkeypatch.setitem(sys.modules, "moldau.connect.spark.engine", None)
    with pytest.raises(ConfigError, match=r"pip install 'moldau\[connect,spark\]'"):
        started_engine(spark)
