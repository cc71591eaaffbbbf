"""A tree that outlives its sessions.

Most of a broker only wants the tree, in whichever session: reading waits for the connection
to come back, or for the next session, within a time; writing waits for it too, but what
broke while it was under way is for the caller to look at. A caller that needs one
session, for its ephemeral nodes and its watches, takes `session`.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TypeVar

from moldau.coordination.tree import (
    ANY_VERSION,
    ConnectionLost,
    Create,
    Created,
    NodeStat,
    Operation,
    Result,
    SessionError,
    SessionListener,
    SessionState,
    Tree,
    TreeNode,
    Watch,
)

Answer = TypeVar("Answer")
OpenSession = Callable[[], Awaitable[Tree]]

_RETRY_S = 0.1


class Sessions:
    """The current session, and a tree on top of it that is there as long as this object."""

    def __init__(self, open_session: OpenSession, *, patience_s: float) -> None:
        """`patience_s` is how long requests wait for a connection."""
        self._open_session = open_session
        self._patience_s = patience_s
        self._is_connected = asyncio.Event()
        self._is_lost = asyncio.Event()
        self._renewal = asyncio.Lock()
        self.session: Tree

    async def open(self) -> None:
        """Begin the first session; raises ConnectionLost if there is none to be had."""
        self._adopt(await self._open_session())

    async def renew(self) -> None:
        """Begin another session after one that was lost, however long it takes."""
        await self.session.close()
        while True:
            try:
                self._adopt(await self._open_session())
            except ConnectionLost:
                await asyncio.sleep(_RETRY_S)
            else:
                return

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Renew each session that is lost, as long as no caller needs to know which one it is."""
        keeper = asyncio.ensure_future(self._keep())
        try:
            yield
        finally:
            # A session that is being opened would have no owner.
            async with self._renewal:
                keeper.cancel()
            with suppress(asyncio.CancelledError):
                await keeper

    async def _keep(self) -> None:
        while True:
            await self._is_lost.wait()
            async with self._renewal:
                await self.renew()

    def _adopt(self, session: Tree) -> None:
        self.session = session
        self._is_lost.clear()
        self._note(session, SessionState.CONNECTED)
        session.listen(lambda state: self._note(session, state))

    def _note(self, session: Tree, state: SessionState) -> None:
        if session is not self.session:
            return
        if state is SessionState.CONNECTED:
            self._is_connected.set()
        else:
            self._is_connected.clear()
        if state is SessionState.LOST:
            self._is_lost.set()

    # The tree

    @property
    def session_id(self) -> int:
        return self.session.session_id

    async def get(self, path: str, *, watch: Watch | None = None) -> TreeNode:
        return await self._read(lambda tree: tree.get(path, watch=watch))

    async def exists(self, path: str, *, watch: Watch | None = None) -> NodeStat | None:
        return await self._read(lambda tree: tree.exists(path, watch=watch))

    async def children(self, path: str, *, watch: Watch | None = None) -> list[str]:
        return await self._read(lambda tree: tree.children(path, watch=watch))

    async def create(self, operation: Create) -> Created:
        return await (await self._connected()).create(operation)

    async def set(self, path: str, data: bytes, *, version: int = ANY_VERSION) -> NodeStat:
        return await (await self._connected()).set(path, data, version=version)

    async def delete(self, path: str, *, version: int = ANY_VERSION) -> None:
        await (await self._connected()).delete(path, version=version)

    async def multi(self, operations: Sequence[Operation]) -> list[Result]:
        return await (await self._connected()).multi(operations)

    def listen(self, listener: SessionListener) -> None:
        self.session.listen(listener)

    async def close(self) -> None:
        await self.session.close()

    async def _read(self, ask: Callable[[Tree], Awaitable[Answer]]) -> Answer:
        deadline = asyncio.get_running_loop().time() + self._patience_s
        while True:
            tree = await self._connected()
            try:
                return await ask(tree)
            except SessionError:
                if asyncio.get_running_loop().time() >= deadline:
                    raise
                await asyncio.sleep(_RETRY_S)

    async def _connected(self) -> Tree:
        if not self._is_connected.is_set():
            # Not `asyncio.timeout` at once: it needs a task, and a request has none at first.
            await asyncio.sleep(0)
            try:
                async with asyncio.timeout(self._patience_s):
                    await self._is_connected.wait()
            except TimeoutError:
                message = f"no connection within {self._patience_s:g} s"
                raise ConnectionLost(message) from None
        return self.session
