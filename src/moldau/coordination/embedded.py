"""The embedded store: a tree for one broker in a SQLite file, nothing else to start.

The nodes are kept in memory, on the event loop. A write changes them at once and is handed
to a thread that makes it durable. No answer leaves before everything that it could have
seen is durable: answers and watch events wait in one line, in the order of the requests.
If a commit fails, memory and file differ: the session is lost, and the broker must stop.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Self, TypeVar, cast

from moldau.coordination.durable_line import DurableLine
from moldau.coordination.nodes import Nodes, TreeTransaction
from moldau.coordination.tree import (
    ANY_VERSION,
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
    TreeError,
    TreeNode,
    Watch,
    WatchEvent,
)
from moldau.coordination.watches import Watches
from moldau.coordination.writer import JournalWriter, Stored
from moldau.runtime.clock import Clock

_log = logging.getLogger(__name__)
_T = TypeVar("_T")


class EmbeddedTree:
    """The only session with a tree that only this process uses."""

    def __init__(
        self, writer: JournalWriter, stored: Stored, *, clock: Clock, requests_max: int
    ) -> None:
        self._writer = writer
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._nodes = Nodes(stored.rows, last_zxid=stored.last_zxid)
        self._session_id = stored.session_id
        self._watches = Watches()
        self._listeners: list[SessionListener] = []
        self._room = asyncio.Semaphore(requests_max)
        self._line = DurableLine(writer)
        self._is_open = True
        writer.start(committed=self._line.committed, failed=self._failed)

    @classmethod
    async def open(cls, path: str, *, clock: Clock, requests_max: int = 1000) -> Self:
        """Open the file at `path`, which may not exist yet; StoreError if it cannot be used.

        `requests_max` requests may be under way at a time; others wait for their turn.
        """
        writer = JournalWriter(path)
        tree = cls(writer, await writer.open(), clock=clock, requests_max=requests_max)
        await tree._end_earlier_sessions()
        return tree

    @property
    def session_id(self) -> int:
        return self._session_id

    async def get(self, path: str, *, watch: Watch | None = None) -> TreeNode:
        def work() -> TreeNode:
            node = self._nodes.get(path)
            self._watches.on_data(path, watch)
            return node

        return await self._read(work)

    async def exists(self, path: str, *, watch: Watch | None = None) -> NodeStat | None:
        def work() -> NodeStat | None:
            self._watches.on_data(path, watch)
            return self._nodes.exists(path)

        return await self._read(work)

    async def children(self, path: str, *, watch: Watch | None = None) -> list[str]:
        def work() -> list[str]:
            names = self._nodes.children(path)
            self._watches.on_children(path, watch)
            return names

        return await self._read(work)

    async def create(self, operation: Create) -> Created:
        created: list[Created] = []

        def work() -> TreeTransaction:
            transaction = self._apply([operation])
            (path,) = transaction.results
            assert isinstance(path, str)
            stat = self._nodes.exists(path)
            assert stat is not None
            created.append(Created(path, stat))
            return transaction

        await self._write(work)
        return created[0]

    async def set(self, path: str, data: bytes, *, version: int = ANY_VERSION) -> NodeStat:
        (stat,) = await self.multi([SetData(path, data, version)])
        return cast("NodeStat", stat)

    async def delete(self, path: str, *, version: int = ANY_VERSION) -> None:
        await self.multi([Delete(path, version)])

    async def multi(self, operations: Sequence[Operation]) -> list[Result]:
        return await self._write(lambda: self._apply(operations))

    async def copy_to(self, path: str) -> None:
        """Write the whole tree to a new file, from which another broker can be started."""
        await self._writer.copy_to(path)

    def listen(self, listener: SessionListener) -> None:
        self._listeners.append(listener)

    async def close(self) -> None:
        if self._is_open:
            with contextlib.suppress(SessionLost):
                await self._end_session(self._session_id)
        if self._is_open:
            self._lose()
        await self._writer.close()

    def _apply(self, operations: Sequence[Operation]) -> TreeTransaction:
        return self._nodes.apply(
            operations, session_id=self._session_id, now_ms=self._clock.now_ms()
        )

    async def _end_earlier_sessions(self) -> None:
        """A process that was killed left its ephemeral nodes behind."""
        for session_id in self._nodes.sessions():
            await self._end_session(session_id)

    async def _end_session(self, session_id: int) -> None:
        now_ms = self._clock.now_ms()
        await self._write(lambda: self._nodes.end_session(session_id, now_ms=now_ms))

    async def _read(self, work: Callable[[], _T]) -> _T:
        async with self._room:
            self._check_open()
            future: asyncio.Future[_T] = self._loop.create_future()
            try:
                settle = partial(_settle, future, work())
            except TreeError as error:
                settle = partial(_fail, future, error)
            try:
                return await self._stand_in_line(future, settle, ())
            finally:
                del future, settle  # see `_stand_in_line`

    async def _write(self, work: Callable[[], TreeTransaction]) -> list[Result]:
        async with self._room:
            self._check_open()
            future: asyncio.Future[list[Result]] = self._loop.create_future()
            try:
                transaction = work()
            except TreeError as error:
                try:
                    return await self._stand_in_line(future, partial(_fail, future, error), ())
                finally:
                    del future  # see `_stand_in_line`
            fired = [
                (watch, event)
                for event in transaction.events
                for watch in self._watches.take(event)
            ]
            self._line.submit(transaction)
            settle = partial(_settle, future, transaction.results)
            return await self._stand_in_line(future, settle, fired)

    async def _stand_in_line(
        self,
        future: "asyncio.Future[_T]",
        settle: Callable[[], None],
        fired: Sequence[tuple[Watch, WatchEvent]],
    ) -> _T:
        self._line.stand(partial(self._leave, fired, settle), partial(_fail, future, SessionLost()))
        try:
            return await future
        finally:
            # An error has this frame in its traceback, and the future has the error: the three
            # would keep each other until the collector comes.
            del future, settle

    def _leave(self, fired: Sequence[tuple[Watch, WatchEvent]], settle: Callable[[], None]) -> None:
        # Scheduled before the answer is, so a watcher learns of a change first.
        for watch, event in fired:
            self._loop.call_soon(watch, event)
        settle()

    def _failed(self, error: Exception) -> None:
        _log.error("Failed to write the embedded store, the session ends: %s", error)
        if self._is_open:
            self._lose()

    def _lose(self) -> None:
        self._is_open = False
        self._watches.take_all()
        for listener in self._listeners:
            self._loop.call_soon(listener, SessionState.LOST)
        self._line.give_up()

    def _check_open(self) -> None:
        if not self._is_open:
            raise SessionLost


def _settle(future: "asyncio.Future[_T]", value: _T) -> None:
    if not future.done():
        future.set_result(value)


def _fail(future: "asyncio.Future[_T]", error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
