"""The tree on a real ZooKeeper does what every adapter must do, and survives its faults."""

import asyncio
import itertools
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Self

import pytest
from kazoo.client import KazooClient
from kazoo.protocol.states import KeeperState

from conformance.apache.broker import zookeeper
from conformance.apache.marks import needs_apache
from moldau.coordination.tree import (
    Change,
    ConnectionLost,
    Create,
    SessionError,
    SessionLost,
    SessionState,
    WatchEvent,
)
from moldau.coordination.zookeeper import ZooKeeperTree
from unit.coordination.contract import Open, Recorder, SessionsContract, TreeContract

pytestmark = needs_apache("kafka-3.9")

_BASES = itertools.count()
_SESSION_TIMEOUT_MS = 2000
OpenTree = Callable[[], Awaitable[ZooKeeperTree]]


@pytest.fixture(scope="session")
def zookeeper_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with zookeeper(tmp_path_factory.mktemp("zookeeper") / "data") as port:
        yield port


@pytest.fixture
def base() -> str:
    """A path of its own for each test."""
    return f"/test/{next(_BASES)}"


@pytest.fixture
async def open_tree(zookeeper_port: int, base: str) -> AsyncIterator[OpenTree]:
    opened = []

    async def open_tree(port: int = zookeeper_port) -> ZooKeeperTree:
        tree = await ZooKeeperTree.open(
            f"127.0.0.1:{port}{base}",
            session_timeout_ms=_SESSION_TIMEOUT_MS,
            connect_timeout_ms=10_000,
            requests_max=10,
        )
        opened.append(tree)
        return tree

    yield open_tree
    for tree in opened:
        await tree.close()


class Cable:
    """A TCP relay to ZooKeeper that can be cut and mended."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._is_cut = False
        self._writers: list[asyncio.StreamWriter] = []
        self.port = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._relay, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self.cut()
        self._server.close()

    def cut(self) -> None:
        self._is_cut = True
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    def cut_at_once(self) -> None:
        """Cut without a turn of the loop."""
        self._is_cut = True
        for writer in self._writers:
            writer.get_extra_info("socket").shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self._is_cut = False

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            writer.transport.abort()
            return
        there, back = await asyncio.open_connection("127.0.0.1", self._target)
        self._writers += [writer, back]
        await asyncio.gather(_copy(reader, back), _copy(there, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    writer.transport.abort()


class TestZooKeeperTree(TreeContract, SessionsContract):
    async def test_after_a_short_break_the_session_goes_on_and_watches_fire(
        self, open_tree: Open, zookeeper_port: int
    ) -> None:
        other = await open_tree()
        async with Cable(zookeeper_port) as cable:
            tree = await open_tree(cable.port)
            listener, watch = Recorder(), Recorder()
            tree.listen(listener)
            await tree.create(Create("/e", is_ephemeral=True))
            await tree.exists("/a", watch=watch)
            cable.cut()
            assert await listener.until(1) == [SessionState.SUSPENDED]
            with pytest.raises(ConnectionLost):
                await tree.get("/e")
            await other.create(Create("/a"))
            cable.mend()
            assert (await listener.until(2))[1:] == [SessionState.CONNECTED]
            assert await watch.until(1) == [WatchEvent(Change.UNKNOWN, "/a")]
            assert (await tree.get("/e")).stat.ephemeral_owner == tree.session_id
            await tree.close()

    async def test_a_session_that_expires_is_lost_and_never_comes_back(
        self, open_tree: Open, zookeeper_port: int
    ) -> None:
        other = await open_tree()
        async with Cable(zookeeper_port) as cable:
            tree = await open_tree(cable.port)
            listener, gone = Recorder(), Recorder()
            tree.listen(listener)
            await tree.create(Create("/e", is_ephemeral=True))
            await other.get("/e", watch=gone)
            cable.cut()
            # The servers give the session up first; only they can tell that it has expired.
            assert await gone.until(1) == [WatchEvent(Change.DELETED, "/e")]
            cable.mend()
            await listener.until(2)
            assert listener.told == [SessionState.SUSPENDED, SessionState.LOST]
            with pytest.raises(SessionLost):
                await tree.create(Create("/e", is_ephemeral=True))
            await tree.close()
        assert await other.exists("/e") is None

    async def test_a_request_that_is_under_way_when_the_connection_breaks_has_no_answer(
        self, open_tree: Open, zookeeper_port: int
    ) -> None:
        async with Cable(zookeeper_port) as cable:
            tree = await open_tree(cable.port)
            requests = [asyncio.ensure_future(tree.get("/")) for _ in range(30)]
            await asyncio.sleep(0)
            cable.cut()
            answers = await asyncio.gather(*requests, return_exceptions=True)
            assert any(isinstance(answer, SessionError) for answer in answers)
            await tree.close()

    async def test_a_request_that_comes_just_after_the_break_has_no_answer_either(
        self, open_tree: Open, zookeeper_port: int
    ) -> None:
        async with Cable(zookeeper_port) as cable:
            tree = await open_tree(cable.port)
            assert isinstance(tree, ZooKeeperTree)
            cable.cut_at_once()
            # kazoo has seen the break and the loop has not: what it is asked now, it only queues.
            while tree._client.client_state != KeeperState.CONNECTING:
                time.sleep(0.01)  # noqa: ASYNC251 - the loop must not turn
            time.sleep(0.1)  # noqa: ASYNC251
            async with asyncio.timeout(10):
                with pytest.raises(ConnectionLost):
                    await tree.get("/")
            await tree.close()


async def test_a_node_without_data_is_not_one_with_empty_data(
    open_tree: OpenTree, base: str, zookeeper_port: int
) -> None:
    tree = await open_tree()
    for name, data in (("none", None), ("empty", b""), ("some", b"x")):
        await tree.create(Create(f"/{name}", data))
        await tree.multi([Create(f"/{name}-of-several", data)])
        assert (await tree.get(f"/{name}")).data == (data or b"")
    found = await asyncio.to_thread(_data_below, zookeeper_port, base)
    assert found == {
        "": None,
        "/none": None,
        "/none-of-several": None,
        "/empty": b"",
        "/empty-of-several": b"",
        "/some": b"x",
        "/some-of-several": b"x",
    }


def _data_below(port: int, base: str) -> dict[str, bytes | None]:
    """What stands at a path, and in the nodes below it."""
    client = KazooClient(f"127.0.0.1:{port}")
    client.start()
    try:
        paths = ["", *(f"/{name}" for name in client.get_children(base))]
        return {path: client.get(base + path)[0] for path in paths}
    finally:
        client.stop()
        client.close()
