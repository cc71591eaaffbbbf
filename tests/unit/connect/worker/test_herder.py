"""Connectors become what they should be, and say how they are."""

import sqlite3
from contextlib import closing
from pathlib import Path

from unit.connect.started import StartedWorker, until

SOURCE, SINK = "FileStreamSource", "FileStreamSink"


def test_lines_go_through_a_topic_and_states_follow(worker: StartedWorker, tmp_path: Path) -> None:
    source, sink = tmp_path / "in", tmp_path / "out"
    source.write_text("one\n")
    worker.put("h-in", {"connector.class": SOURCE, "file": str(source), "topic": "herder"})
    worker.put("h-out", {"connector.class": SINK, "file": str(sink), "topics": "herder"})
    until(lambda: sink.exists() and sink.read_text() == "one\n", lambda: worker.states("h-in"))
    worker.ask("PUT", "/connectors/h-in/pause")
    until(lambda: worker.states("h-in") == ["PAUSED", "PAUSED"])
    with source.open("a") as file:
        file.write("two\n")
    worker.ask("PUT", "/connectors/h-in/resume")
    until(lambda: sink.read_text() == "one\ntwo\n", lambda: worker.states("h-in"))
    worker.ask("PUT", "/connectors/h-in/stop")
    until(lambda: worker.states("h-in") == ["STOPPED"])
    for name in ("h-in", "h-out"):
        assert worker.ask("DELETE", f"/connectors/{name}")[0] == 204
    until(lambda: worker.states("h-in") == worker.states("h-out") == [])


def test_a_task_that_fails_says_why_first_and_is_restarted(
    worker: StartedWorker, tmp_path: Path
) -> None:
    source, sink = tmp_path / "in", tmp_path / "out"
    source.write_text("word\n")
    worker.put("f-in", {"connector.class": SOURCE, "file": str(source), "topic": "failing"})
    cast = {"transforms": "c", "transforms.c.type": "Cast$Value", "transforms.c.spec": "int8"}
    config = {"connector.class": SINK, "file": str(sink), "topics": "failing"}
    worker.put("f-out", {**config, **cast})
    until(lambda: worker.states("f-out") == ["RUNNING", "FAILED"])
    _, status = worker.ask("GET", "/connectors/f-out/status")
    assert isinstance(status, dict)
    first = status["tasks"][0]["trace"].partition("\n")[0]
    assert "Value (word) was out of range" in first
    assert "failing-0 at offset 0" in first
    worker.put("f-out", config)
    until(lambda: sink.exists() and sink.read_text() == "word\n", lambda: worker.states("f-out"))
    worker.ask("DELETE", "/connectors/f-in")
    worker.ask("DELETE", "/connectors/f-out")


def test_a_connector_that_cannot_be_started_has_failed_and_keeps_its_settings(
    worker: StartedWorker,
) -> None:
    worker.put("n", {"connector.class": SOURCE, "topic": "none"})
    until(lambda: worker.states("n") == ["FAILED"])
    _, status = worker.ask("GET", "/connectors/n/status")
    assert isinstance(status, dict)
    assert "file: name a file" in status["connector"]["trace"]
    assert worker.ask("GET", "/connectors/n/config")[0] == 200
    worker.ask("DELETE", "/connectors/n")


def tables(path: Path, *names: str) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        for each in names:
            database.execute(f"CREATE TABLE {each} (id INTEGER PRIMARY KEY)")
            database.execute(f"INSERT INTO {each} VALUES (1)")


def topics(worker: StartedWorker, name: str) -> list[str]:
    _, found = worker.ask("GET", f"/connectors/{name}/topics")
    assert isinstance(found, dict)
    return sorted(found[name]["topics"])


def polling(path: Path, **more: str) -> dict[str, str]:
    named = {name.replace("_", "."): text for name, text in more.items()}
    return {
        "connector.class": "JdbcSource",
        "connection.url": f"jdbc:sqlite:{path}",
        "mode": "incrementing",
        "poll.interval.ms": "50",
        **named,
    }


def test_what_is_not_there_yet_is_waited_for(worker: StartedWorker, tmp_path: Path) -> None:
    path = tmp_path / "later" / "d"
    worker.put("later", polling(path, topic_prefix="later-"))
    until(lambda: worker.states("later") == ["RESTARTING"])
    _, status = worker.ask("GET", "/connectors/later/status")
    assert isinstance(status, dict)
    first = status["connector"]["trace"].partition("\n")[0]
    assert first.startswith("restart 1 of 6 in 1 s: org.apache.kafka.connect.errors.Retriable")
    assert "unable to open database file" in first
    path.parent.mkdir()
    tables(path, "a")
    until(lambda: topics(worker, "later") == ["later-a"], lambda: worker.states("later"))
    assert worker.states("later") == ["RUNNING", "RUNNING"]
    worker.ask("DELETE", "/connectors/later")


def test_tables_that_are_made_later_are_read_too(worker: StartedWorker, tmp_path: Path) -> None:
    tables(tmp_path / "d", "a")
    more = {"table_poll_interval_ms": "50", "table_exclude_list": "secret.*", "tasks_max": "2"}
    worker.put("new", polling(tmp_path / "d", topic_prefix="new-", **more))
    until(lambda: topics(worker, "new") == ["new-a"], lambda: worker.states("new"))
    tables(tmp_path / "d", "b", "secrets")
    until(lambda: topics(worker, "new") == ["new-a", "new-b"], lambda: worker.states("new"))
    until(lambda: worker.states("new") == ["RUNNING"] * 3, lambda: worker.states("new"))
    worker.ask("DELETE", "/connectors/new")
