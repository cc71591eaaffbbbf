"""A tree in memory for several sessions, with faults on demand: for tests and simulation."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar, cast

from moldau.coordination.nodes import Nodes, TreeTransaction
from moldau.coordination.tree import (
    ANY_VERSION,
    Change,
    ConnectionLost,
    Create,
    Created,
    Delete,
    NodeStat,
    Operation,
    Result,
    SessionListener,
    SessionLost,
    SessionState,
    SetData,
    TreeNode,
    Watch,
    WatchEvent,
)
from moldau.coordination.watches import Watches
from moldau.runtime.clock import Clock

_T = TypeVar("_T")


class MemoryEnsemble:
    """What the sessions share; plays the servers."""

    def __init__(self, clock: Clock) -> None:
        self.nodes = Nodes()
        self._clock = clock
        self._sessions: dict[int, MemoryTree] = {}
        self._last_session_id = 0

    def connect(self) -> "MemoryTree":
        """A new session."""
        self._last_session_id += 1
        tree = MemoryTree(self, self._last_session_id)
        self._sessions[tree.session_id] = tree
        return tree

    def expire(self, session_id: int) -> None:
        """End a session, as servers do that received nothing from it for too long."""
        tree = self._sessions.pop(session_id, None)
        if tree is not None:
            self.notify(self.nodes.end_session(session_id, now_ms=self._clock.now_ms()))
            tree.lose()

    def apply(self, operations: Sequence[Operation], session_id: int) -> list[Result]:
        """Do the operations for a session and fire the watches of all."""
        now_ms = self._clock.now_ms()
        transaction = self.nodes.apply(operations, session_id=session_id, now_ms=now_ms)
        self.notify(transaction)
        return transaction.results

    def notify(self, transaction: TreeTransaction) -> None:
        """Fire the watches, session by session."""
        for tree in self._sessions.values():
            for event in transaction.events:
                tree.fire(event)


class MemoryTree:
    """One session with a MemoryEnsemble."""

    def __init__(self, ensemble: MemoryEnsemble, session_id: int) -> None:
        self._ensemble = ensemble
        self._session_id = session_id
        self._loop = asyncio.get_running_loop()
        self._watches = Watches()
        self._listeners: list[SessionListener] = []
        self._state = SessionState.CONNECTED
        self._broken: list[tuple[Watch, str]] = []

    @property
    def session_id(self) -> int:
        return self._session_id

    async def get(self, path: str, *, watch: Watch | None = None) -> TreeNode:
        def work() -> TreeNode:
            node = self._ensemble.nodes.get(path)
            self._watches.on_data(path, watch)
            return node

        return await self._ask(work)

    async def exists(self, path: str, *, watch: Watch | None = None) -> NodeStat | None:
        def work() -> NodeStat | None:
            self._watches.on_data(path, watch)
            return self._ensemble.nodes.exists(path)

        return await self._ask(work)

    async def children(self, path: str, *, watch: Watch | None = None) -> list[str]:
        def work() -> list[str]:
            names = self._ensemble.nodes.children(path)
            self._watches.on_children(path, watch)
            return names

        return await self._ask(work)

    async def create(self, operation: Create) -> Created:
        def work() -> Created:
            (path,) = self._ensemble.apply([operation], self._session_id)
            assert isinstance(path, str)
            stat = self._ensemble.nodes.exists(path)
            assert stat is not None
            return Created(path, stat)

        return await self._ask(work)

    async def set(self, path: str, data: bytes, *, version: int = ANY_VERSION) -> NodeStat:
        (stat,) = await self.multi([SetData(path, data, version)])
        return cast("NodeStat", stat)

    async def delete(self, path: str, *, version: int = ANY_VERSION) -> None:
        await self.multi([Delete(path, version)])

    async def multi(self, operations: Sequence[Operation]) -> list[Result]:
        return await self._ask(lambda: self._ensemble.apply(operations, self._session_id))

    def listen(self, listener: SessionListener) -> None:
        self._listeners.append(listener)

    async def close(self) -> None:
        self._ensemble.expire(self._session_id)

    def suspend(self) -> None:
        """Break the connection: requests fail, and no watch fires."""
        self._broken = self._watches.take_all()
        self._change(SessionState.SUSPENDED)

    def resume(self) -> None:
        """Connect again, within the session."""
        self._change(SessionState.CONNECTED)
        for watch, path in self._broken:
            self._loop.call_soon(watch, WatchEvent(Change.UNKNOWN, path))

    def lose(self) -> None:
        """The session has ended."""
        self._watches.take_all()
        self._change(SessionState.LOST)

    def fire(self, event: WatchEvent) -> None:
        """Fire the watches that waited for this."""
        for watch in self._watches.take(event):
            self._loop.call_soon(watch, event)

    async def _ask(self, work: Callable[[], _T]) -> _T:
        self._check_session()
        result = work()
        # The answer comes in a later turn of the loop, after the watches that it fired; the
        # connection may break in between, and then the outcome is unknown.
        await asyncio.sleep(0)
        self._check_session()
        return result

    def _check_session(self) -> None:
        if self._state is SessionState.LOST:
            raise SessionLost
        if self._state is SessionState.SUSPENDED:
            raise ConnectionLost

    def _change(self, state: SessionState) -> None:
        self._state = state
        for listener in self._listeners:
            self._loop.call_soon(listener, state)
