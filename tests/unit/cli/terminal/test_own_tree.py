"""Moldau's own tree, by the settings of ZooKeeper's file."""

from pathlib import Path

import pytest

from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.own_tree import OwnTreeSettings, own_tree_settings, serve_own_tree
from moldau.coordination.journal import TreeJournal
from moldau.zookeeper.session_table import SessionBounds


def test_the_settings_are_zookeepers() -> None:
    texts = {"dataDir": "/data", "clientPort": "2182", "clientPortAddress": "::1"}
    assert own_tree_settings({**texts, "tickTime": "1000"}) == OwnTreeSettings(
        Path("/data"), "::1", 2182, SessionBounds(2_000, 20_000)
    )


def test_without_an_address_it_is_this_machine_alone() -> None:
    found = own_tree_settings({"dataDir": "/data", "minSessionTimeout": "7"})
    assert (found.host, found.port) == ("localhost", 2181)
    assert found.bounds == SessionBounds(7, 60_000)


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        ({}, "dataDir is not set"),
        ({"dataDir": "/d", "clientPort": "many"}, "clientPort=many: a whole number up to 65535"),
        ({"dataDir": "/d", "server.1": "a:1:2"}, "server.1: an ensemble needs the real ZooKeeper"),
    ],
)
def test_what_is_missing_wrong_or_too_much_is_told(texts: dict[str, str], why: str) -> None:
    with pytest.raises(CommandFailed, match=why):
        own_tree_settings(texts)


def test_a_second_server_on_the_same_directory_is_refused(tmp_path: Path) -> None:
    settings = OwnTreeSettings(tmp_path, "127.0.0.1", 0, SessionBounds())
    with TreeJournal(str(tmp_path / "tree.sqlite")), pytest.raises(CommandFailed, match="in use"):
        serve_own_tree(settings)
