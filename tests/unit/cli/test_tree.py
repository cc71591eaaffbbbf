"""Dump, restore or copy the nodes of a cluster."""

import stat
from pathlib import Path

import pytest

from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.tree import address, store_file
from moldau.zookeeper.rights import OPEN
from moldau.zookeeper.snapshot import SnapshotNode, read_store, write_store
from unit.cli.command import run
from unit.zookeeper.serving import blocking, served

NODES = [SnapshotNode("/brokers", None, OPEN), SnapshotNode("/brokers/ids", b"x", OPEN)]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "one"
    path.mkdir()
    write_store(str(path / "tree.sqlite"), NODES, now_ms=0)
    return path


def test_a_store_is_dumped_and_restored(store: Path, tmp_path: Path) -> None:
    file, other = tmp_path / "dump", tmp_path / "two"
    done = run("tree", "dump", str(store), str(file))
    assert done == (0, "", f"2 nodes are in {file}\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert run("tree", "restore", str(file), str(other)).code == 0
    assert read_store(str(other / "tree.sqlite")) == NODES
    again = run("tree", "restore", str(file), str(other))
    assert again == (1, "", f"{other / 'tree.sqlite'} is not empty\n")


def test_a_dump_goes_through_a_pipe(store: Path, tmp_path: Path) -> None:
    text = run("tree", "dump", str(store), "-").stdout
    assert run("tree", "restore", "-", str(tmp_path / "two"), stdin=text).code == 0
    assert read_store(str(tmp_path / "two" / "tree.sqlite")) == NODES


async def test_a_store_is_copied_into_a_server_and_back(store: Path, tmp_path: Path) -> None:
    async with served(tmp_path / "served") as (_, port):
        tree, back = f"127.0.0.1:{port}/base", str(tmp_path / "back")
        assert (await blocking(lambda: run("tree", "copy", str(store), tree))).code == 0
        done = await blocking(lambda: run("tree", "--auth", "a:b", "copy", tree, back))
        assert done.stderr == f"2 nodes are in {back}\n"
    assert read_store(f"{back}/tree.sqlite") == NODES


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    done = run("tree", "dump", str(tmp_path / "none"), "-")
    assert done == (1, "", f"there is no store {tmp_path}/none/tree.sqlite\n")
    assert not (tmp_path / "none").exists()


def test_a_broker_that_is_alone_has_its_store_under_another_name(tmp_path: Path) -> None:
    assert store_file(str(tmp_path)) == tmp_path / "tree.sqlite"
    (tmp_path / "moldau-store.sqlite").touch()
    assert store_file(str(tmp_path)) == tmp_path / "moldau-store.sqlite"
    assert store_file("./x.sqlite") == Path("x.sqlite")
    assert store_file("localhost:2181") is None


def test_addresses_are_those_of_zookeeper_connect() -> None:
    assert address("a:1,b:2/kafka/x") == ("a", 1, "/kafka/x")
    assert address("a") == ("a", 2181, "")
    assert address("[::1]:5/") == ("::1", 5, "")
    assert address("[::1]") == ("::1", 2181, "")
    with pytest.raises(CommandFailed):
        address("a:b")
