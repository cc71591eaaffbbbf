"""The command's part in a backup."""

import json
import os
from pathlib import Path

import pytest

from moldau.cli.backups import asking
from moldau.cli.backups.answering import ANSWER, REQUEST
from moldau.cli.backups.asking import frozen_directories
from moldau.cli.terminal.failure import CommandFailed

STORE = "moldau-store.sqlite"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "meta.properties").write_text("x")
    (tmp_path / STORE).write_text("store")
    return tmp_path


@pytest.fixture
def broker(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that another process uses."""
    monkeypatch.setattr(asking, "_lock_stopped", lambda _: [])
    return directory


def test_of_a_broker_that_has_stopped_the_files_themselves_are_taken(directory: Path) -> None:
    with frozen_directories([str(directory)]) as [frozen]:
        assert frozen == (str(directory), {"meta.properties": 1, STORE: 5})
    assert not (directory / ".backup.lock").exists()


def test_other_directories_are_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="no log directory"), frozen_directories(["/missing"]):
        pass
    (tmp_path / "meta.properties").touch()
    with (
        pytest.raises(CommandFailed, match="cluster on ZooKeeper"),
        frozen_directories([str(tmp_path)]),
    ):
        pass


def answer(directory: Path, monkeypatch: pytest.MonkeyPatch, what: object) -> None:
    """Let a broker answer as soon as the command begins to wait."""

    def sleep(_: float) -> None:
        os.remove(directory / REQUEST)
        links = directory / ".backup"
        links.mkdir()
        (links / STORE).write_bytes(b"copied")
        (directory / ANSWER).write_text(json.dumps(what))

    monkeypatch.setattr("moldau.cli.backups.asking.time.sleep", sleep)


def test_a_running_broker_says_which_files_it_froze(
    broker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (broker / ANSWER).write_text("of an earlier command")
    answer(broker, monkeypatch, {"directories": [[str(broker), {"orders-0/0.log": 9}]]})
    with frozen_directories([str(broker)]) as [frozen]:
        assert frozen == (f"{broker}/.backup", {"orders-0/0.log": 9, STORE: 6})
    assert not (broker / ".backup").exists()


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"error": "no room"}, "could not prepare a backup: no room"),
        ({"directories": [["/a", {}], ["/b", {}]]}, "log.dirs are /a,/b: name all of them"),
    ],
)
def test_what_the_broker_refuses_ends_the_command(
    broker: Path, monkeypatch: pytest.MonkeyPatch, said: object, reason: str
) -> None:
    answer(broker, monkeypatch, said)
    with pytest.raises(CommandFailed, match=reason), frozen_directories([str(broker)]):
        pass


def test_a_process_that_does_not_answer_is_given_up(
    broker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "_ANSWER_S", -1.0)
    with pytest.raises(CommandFailed, match="did not answer"), frozen_directories([str(broker)]):
        pass
    assert not (broker / REQUEST).exists()
