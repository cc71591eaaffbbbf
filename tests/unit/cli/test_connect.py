"""The command runs pipelines, and asks a worker over REST."""

import json
from pathlib import Path

import pytest

from moldau.cli import connect
from moldau.cli.connect import main
from moldau.cli.terminal.failure import CommandFailed
from moldau.testing.broker import EmbeddedBroker
from unit.connect.started import started_worker, until


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {"group.initial.rebalance.delay.ms": "0"}


def test_a_connector_is_made_shown_and_taken_away(
    kafka: EmbeddedBroker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "c.json"
    config = {"connector.class": "FileStreamSource", "topic": "t", "file": str(tmp_path / "in")}
    file.write_text(json.dumps({"name": "a b", "config": config}))
    with started_worker(kafka.bootstrap_servers) as worker:

        def said(*arguments: str) -> str:
            main([arguments[0], "--url", worker.url, *arguments[1:]])
            return capsys.readouterr().out

        assert said("list") == "there are no connectors\n"
        assert said("create", str(file)) == "a b: source\n"
        until(lambda: worker.states("a%20b") == ["RUNNING", "RUNNING"])
        assert "a b                      RUNNING    tasks: 1 RUNNING" in said("list")
        assert "task 0: RUNNING at 127.0.0.1" in said("status", "a b")
        assert json.loads(said("config", "a b"))["topic"] == "t"
        assert json.loads(said("offsets", "a b")) == {"offsets": []}
        assert said("restart", "a b") == said("pause", "a b") == ""
        until(lambda: worker.states("a%20b") == ["PAUSED", "PAUSED"])
        said("delete", "a b")
        with pytest.raises(CommandFailed, match="No status found for connector a b"):
            said("status", "a b")
        assert "FileStreamSourceConnector" in said("plugins")


def test_a_failed_connector_shows_its_first_line_and_ends_with_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    task = {"id": 0, "state": "FAILED", "worker_id": "h:1", "trace": "the cause\nat x"}
    found = {"connector": {"state": "RUNNING", "worker_id": "h:1"}, "tasks": [task]}
    monkeypatch.setattr(connect, "_ask", lambda *_: found)
    assert main(["status", "a"]) == 1
    assert capsys.readouterr().out.endswith("task 0: FAILED at h:1\n  the cause\n")


def test_a_worker_that_is_not_there_is_said_to_be_missing() -> None:
    with pytest.raises(CommandFailed, match="is a worker running there"):
        main(["list", "--url", "http://localhost:1"])
    with pytest.raises(CommandFailed, match="no address of HTTP"):
        main(["list", "--url", "ftp://x"])


def test_a_pipeline_is_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    served: list[object] = []
    monkeypatch.setattr(connect, "serve_worker", lambda *given: served.extend(given))
    path = tmp_path / "p.toml"
    path.write_text('[worker]\n"group.id" = "g"\n[connectors.a]\ntopic = "t"\n')
    assert main(["run", str(path)]) == 0
    assert served[1:] == [{"a": {"topic": "t", "name": "a"}}, None]
