"""The tree over ZooKeeper's protocol does what every adapter must do, through kazoo."""

import itertools
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from moldau.coordination.journal import TreeJournal
from moldau.coordination.zookeeper import ZooKeeperTree
from moldau.zookeeper import jute
from moldau.zookeeper.messages import NOTIFICATION_XID, PING_XID, Err, Op
from moldau.zookeeper.server import TreeServer
from moldau.zookeeper.session_table import SessionBounds
from moldau.zookeeper.snapshot import prove
from moldau.zookeeper.wire_session import WireSession
from unit.coordination.contract import SessionsContract, TreeContract
from unit.waiting import until
from unit.zookeeper.asking import acls, create, set_data, versioned, watched
from unit.zookeeper.serving import blocking, served

_BASES = itertools.count()
HOST = "127.0.0.1"


@pytest.fixture
async def served_tree(tmp_path: Path) -> AsyncIterator[tuple[TreeServer, int]]:
    async with served(tmp_path / "tree.sqlite") as found:
        yield found


@pytest.fixture
async def open_tree(
    served_tree: tuple[TreeServer, int],
) -> AsyncIterator[Callable[[], Awaitable[ZooKeeperTree]]]:
    base = f"/test/{next(_BASES)}"
    opened = []

    async def open_tree() -> ZooKeeperTree:
        tree = await ZooKeeperTree.open(
            f"{HOST}:{served_tree[1]}{base}",
            session_timeout_ms=2_000,
            connect_timeout_ms=10_000,
            requests_max=10,
        )
        opened.append(tree)
        return tree

    yield open_tree
    for tree in opened:
        await tree.close()


class TestTreeServer(TreeContract, SessionsContract):
    """All of it."""


async def test_a_session_that_is_silent_expires_and_its_nodes_go(tmp_path: Path) -> None:
    async with served(tmp_path / "tree", SessionBounds(100, 100)) as (_, port):
        session = await blocking(lambda: WireSession(HOST, port))
        await blocking(lambda: session.ask(Op.CREATE, create("/a", flags=1)))
        session.cut()

        def gone() -> bool:
            # One that asked all the time would be silent as well where the machine is slow.
            with WireSession(HOST, port) as other:
                return other.ask(Op.EXISTS, watched("/a"))[-1].error == Err.NO_NODE

        while not await blocking(gone):
            pass
        with pytest.raises(ConnectionError):
            await blocking(session.connect)


async def test_what_was_answered_is_there_after_a_restart_with_its_session(tmp_path: Path) -> None:
    path = tmp_path / "tree"
    async with served(path) as (_, port):
        session = await blocking(lambda: WireSession(HOST, port))
        await blocking(lambda: session.ask(Op.CREATE, create("/lasting", b"x")))
        await blocking(lambda: session.ask(Op.CREATE, create("/ephemeral", flags=1)))
        session.cut()
    async with served(path) as (_, port):
        session.port = port

        def play() -> tuple[int, int]:
            session.connect()
            found = [
                session.ask(Op.EXISTS, watched(each))[-1] for each in ("/lasting", "/ephemeral")
            ]
            return found[0].error, found[1].error

        assert await blocking(play) == (Err.OK, Err.OK)
        session.cut()


async def test_nodes_of_sessions_that_nobody_knows_go_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "tree"
    async with served(path) as (_, port):
        session = await blocking(lambda: WireSession(HOST, port))
        await blocking(lambda: session.ask(Op.CREATE, create("/ephemeral", flags=1)))
        session.cut()
    with TreeJournal(str(path)) as journal:
        journal.commit({}, {}, {session.session_id: None})
    async with served(path):
        pass
    with TreeJournal(str(path)) as journal:
        assert "/ephemeral" not in {row.path for row in journal.rows()}


async def test_a_client_that_has_seen_more_than_there_is_is_refused(
    served_tree: tuple[TreeServer, int],
) -> None:
    with pytest.raises(ConnectionError):
        await blocking(lambda: WireSession(HOST, served_tree[1], last_zxid=10**9))


async def test_requests_after_the_end_of_a_session_leave_nothing(
    served_tree: tuple[TreeServer, int],
) -> None:
    def play() -> None:
        with (
            WireSession(HOST, served_tree[1]) as session,
            WireSession(HOST, served_tree[1]) as other,
        ):
            late = create("/late", flags=1)
            session.send(Op.CLOSE_SESSION, b"", 1)
            session.send(Op.CREATE, late, 2)
            assert session.receive().error == Err.OK
            with pytest.raises(ConnectionError):
                session.receive()
            assert other.ask(Op.EXISTS, watched("/late"))[-1].error == Err.NO_NODE

    await blocking(play)


async def test_the_owner_of_a_node_that_is_known_to_be_dead_goes_at_once(
    served_tree: tuple[TreeServer, int],
) -> None:
    server, port = served_tree
    session = await blocking(lambda: WireSession(HOST, port))
    await blocking(lambda: session.ask(Op.CREATE, create("/a", flags=1)))
    server.end_owner("/missing")
    server.end_owner("/zookeeper")
    server.end_owner("/a")

    def is_over() -> bool:
        try:
            answer = session.ask(Op.PING, b"", xid=PING_XID)[-1]
        except ConnectionError:
            return True
        # The connection ends when the end of the session is durable; this came before.
        return answer.error == Err.SESSION_EXPIRED

    assert await blocking(is_over)
    session.cut()
    with pytest.raises(ConnectionError):
        await blocking(session.connect)


async def test_who_may_not_read_a_node_does_not_hear_of_it(
    served_tree: tuple[TreeServer, int],
) -> None:
    def play() -> None:
        port = served_tree[1]
        with WireSession(HOST, port) as owner, WireSession(HOST, port) as other:
            other.ask(Op.ADD_WATCH, versioned("/", 1))
            prove(owner, "ann:one")
            owner.ask(Op.CREATE, create("/secret", acls=acls((31, "auth", ""))))
            owner.ask(Op.SET_DATA, set_data("/secret", b"x"))
            owner.ask(Op.DELETE, versioned("/secret"))
            owner.ask(Op.CREATE, create("/open"))
            told = [each.body for each in other.ping()]
            assert [body[8:] for body in told] == [jute.text("/open")]

    await blocking(play)


async def test_a_second_connection_takes_the_session_over(
    served_tree: tuple[TreeServer, int],
) -> None:
    def play() -> None:
        port = served_tree[1]
        first = WireSession(HOST, port)
        first.ask(Op.EXISTS, watched("/a"))
        second = WireSession(HOST, port, first.session_id, first.password)
        with pytest.raises(ConnectionError):
            first.ping()
        # Watches were the first connection's.
        found = second.ask(Op.CREATE, create("/a"))
        assert [each.xid for each in found if each.xid == NOTIFICATION_XID] == []
        first.cut()
        second.close()

    await blocking(play)


async def test_a_store_that_cannot_be_written_ends_the_server_and_answers_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path / "tree") as (server, port):
        session = await blocking(lambda: WireSession(HOST, port))

        def fail(*_: object) -> None:
            raise sqlite3.OperationalError("disk full")

        monkeypatch.setattr(TreeJournal, "commit", fail)
        with pytest.raises(ConnectionError):
            await blocking(lambda: session.ask(Op.CREATE, create("/a")))
        await until(server.failed.done)
        with pytest.raises(ConnectionError):
            await blocking(session.connect)
