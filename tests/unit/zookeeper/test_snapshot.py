"""The lasting nodes of a tree, from one place to another."""

from pathlib import Path

import pytest

from moldau.coordination.journal import TreeJournal
from moldau.coordination.nodes import Nodes
from moldau.zookeeper.messages import Op
from moldau.zookeeper.rights import OPEN, Entry
from moldau.zookeeper.snapshot import (
    SnapshotError,
    SnapshotNode,
    prove,
    read_lines,
    read_server,
    read_store,
    snapshot_lines,
    write_server,
    write_store,
)
from moldau.zookeeper.wire_session import WireSession
from unit.zookeeper.asking import create
from unit.zookeeper.serving import blocking, served

ANN = Entry(31, "digest", "ann:grDcJ7OS1jCu/cG2TyJHw/I9L8o=")
NODES = [
    SnapshotNode("/brokers", None, OPEN),
    SnapshotNode("/brokers/topics", b"", OPEN),
    SnapshotNode("/brokers/topics/ü", b'{"a":1}\xff', [Entry(1, "world", "anyone"), ANN]),
]


def test_a_dump_is_text_and_back() -> None:
    assert read_lines(list(snapshot_lines(NODES))) == NODES


@pytest.mark.parametrize(
    "lines", [[], ["{}"], ["rubbish"], [*list(snapshot_lines([]))[:1], '{"path": "/a"}']]
)
def test_something_else_is_no_dump(lines: list[str]) -> None:
    with pytest.raises(SnapshotError, match="this is no dump of a tree"):
        read_lines(lines)


def test_a_store_has_what_was_written_into_it(tmp_path: Path) -> None:
    path = str(tmp_path / "tree.sqlite")
    assert write_store(path, NODES, now_ms=7) == 3
    assert read_store(path) == NODES
    with TreeJournal(path) as journal:
        nodes = Nodes(journal.rows(), last_zxid=journal.counter("zxid"))
    stat = nodes.exists("/brokers")
    assert stat is not None
    assert (stat.children_count, stat.children_version, stat.created_ms) == (1, 1, 7)
    with pytest.raises(SnapshotError, match="is not empty"):
        write_store(path, NODES, now_ms=7)


async def test_a_server_gives_and_takes_what_lasts(tmp_path: Path) -> None:
    async with served(tmp_path / "tree") as (_, port):

        def play() -> list[SnapshotNode]:
            with WireSession("127.0.0.1", port) as session:
                for path in ("/x", "/x/config", "/x/config/changes"):
                    session.ask(Op.CREATE, create(path))
                session.ask(Op.CREATE, create("/x/controller", flags=1))
                session.ask(Op.CREATE, create("/x/config/changes/config_change_", flags=2))
                found = read_server(session, "/x")
                assert [node.path for node in found] == ["/config", "/config/changes"]
                prove(session, "ann:one")
                assert write_server(session, "/y/z", NODES) == 3
                with pytest.raises(SnapshotError, match="there are nodes below /y/z already"):
                    write_server(session, "/y/z", NODES)
                with pytest.raises(SnapshotError, match="GET_DATA of /nowhere is refused: NO_NODE"):
                    read_server(session, "/nowhere")
                return read_server(session, "/y/z")

        assert await blocking(play) == NODES


async def test_a_tree_that_changes_all_the_time_is_not_dumped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path / "tree") as (_, port):

        def play() -> None:
            with WireSession("127.0.0.1", port) as session:
                asked = session.ask

                def ask(op: Op, body: bytes, **rest: int) -> object:
                    if op is Op.GET_ACL:
                        asked(Op.CREATE, create("/a", flags=2))
                    return asked(op, body, **rest)

                monkeypatch.setattr(
                    WireSession, "ask", lambda _, *given, **rest: ask(*given, **rest)
                )
                with pytest.raises(SnapshotError, match="stop the brokers first"):
                    read_server(session, "")

        await blocking(play)
