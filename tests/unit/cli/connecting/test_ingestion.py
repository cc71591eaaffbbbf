"""What a copy is called, and which connector does it."""

import dataclasses
import signal
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from moldau.cli.connecting.addresses import parse_address
from moldau.cli.connecting.ingestion import Ingestion, ingest
from moldau.connect.worker import once

TOPIC = parse_address("kafka://localhost:1/t")


def copied(path: Path, **more: Any) -> Ingestion:
    return Ingestion(parse_address(f"sqlite:{path}?table=t"), TOPIC, **more)


def execute(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


def test_the_same_command_has_the_same_name_unless_all_is_copied_again(tmp_path: Path) -> None:
    one = copied(tmp_path / "d")
    assert one.name == copied(tmp_path / "d").name
    assert one.name != copied(tmp_path / "e").name
    assert one.name != copied(tmp_path / "d", key="id").name
    assert copied(tmp_path / "d", again=True).name.startswith(f"{one.name}-")


def test_a_table_with_a_growing_key_can_be_resumed_and_another_is_copied_whole(
    tmp_path: Path,
) -> None:
    for declared, mode in (("id INTEGER PRIMARY KEY", "incrementing"), ("at INTERVAL", "bulk")):
        path = tmp_path / mode
        execute(path, f"CREATE TABLE t ({declared})")
        assert copied(path).connector()["mode"] == mode
    keyed = copied(tmp_path / "incrementing", key="id", settings={"poll.interval.ms": "1"})
    settings = keyed.connector()
    assert settings["transforms"] == "topic,keyed,plain"
    assert settings["poll.interval.ms"] == "1"
    assert settings["value.converter.schemas.enable"] == "false"


def test_formats_of_a_registry_ask_it(tmp_path: Path) -> None:
    execute(tmp_path / "d", "CREATE TABLE t (id INTEGER PRIMARY KEY)")
    found = copied(tmp_path / "d", value_format="protobuf", registry="http://r").connector()
    assert found["value.converter"].endswith("ProtobufConverter")
    assert found["value.converter.schema.registry.url"] == "http://r"


def test_what_was_done_is_told_and_a_signal_lets_it_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_once(*arguments: object) -> None:
        run = arguments[-1]
        assert isinstance(run, once.Run)
        run.started(10)
        run.add(1500)
        if run.follows:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(once, "run_once", run_once)
    execute(tmp_path / "d", "CREATE TABLE t (id INTEGER PRIMARY KEY)")
    one = copied(tmp_path / "d")
    assert ingest(one).startswith("1,500 records in 0.")
    followed = ingest(dataclasses.replace(one, follows=True))
    assert followed.endswith("stopped, the same command goes on")
