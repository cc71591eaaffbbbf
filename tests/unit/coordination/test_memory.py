"""The tree in memory."""

import pytest

from moldau.coordination.memory import MemoryEnsemble
from moldau.coordination.tree import (
    Change,
    ConnectionLost,
    Create,
    SessionLost,
    SessionState,
    Tree,
    WatchEvent,
)
from moldau.runtime.clock import SystemClock
from unit.coordination.contract import Open, Recorder, SessionsContract, TreeContract


@pytest.fixture
def ensemble() -> MemoryEnsemble:
    return MemoryEnsemble(SystemClock())


@pytest.fixture
def open_tree(ensemble: MemoryEnsemble) -> Open:
    async def open_tree() -> Tree:
        return ensemble.connect()

    return open_tree


class TestMemoryTree(TreeContract, SessionsContract):
    async def test_an_expired_session_is_lost_with_its_ephemeral_nodes(
        self, ensemble: MemoryEnsemble
    ) -> None:
        one, other = ensemble.connect(), ensemble.connect()
        listener, watch = Recorder(), Recorder()
        one.listen(listener)
        await one.create(Create("/e", is_ephemeral=True))
        await one.get("/", watch=watch)
        ensemble.expire(one.session_id)
        with pytest.raises(SessionLost):
            await one.get("/e")
        assert await other.exists("/e") is None
        assert listener.told == [SessionState.LOST]
        ensemble.expire(one.session_id)

    async def test_while_suspended_requests_fail_and_watches_fire_when_it_is_over(
        self, ensemble: MemoryEnsemble
    ) -> None:
        one, other = ensemble.connect(), ensemble.connect()
        listener, watch = Recorder(), Recorder()
        one.listen(listener)
        await one.exists("/a", watch=watch)
        one.suspend()
        with pytest.raises(ConnectionLost):
            await one.get("/")
        await other.create(Create("/a"))
        assert watch.told == []
        one.resume()
        assert await one.exists("/a") is not None
        assert watch.told == [WatchEvent(Change.UNKNOWN, "/a")]
        assert listener.told == [SessionState.SUSPENDED, SessionState.CONNECTED]
