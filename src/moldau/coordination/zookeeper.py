"""A tree on a ZooKeeper ensemble, through kazoo; one object is one session.

kazoo works on threads of its own and would call watches, results and state changes from
different ones. `kazoo_client.py` puts all of them on the event loop, in the order in which
they came in over the connection. kazoo also goes on with a new session by itself when one has
expired: here the object is lost with its session, and its owner makes another.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol, Self, TypeVar

from kazoo import exceptions
from kazoo.client import KazooState, TransactionRequest
from kazoo.protocol.states import EventType, WatchedEvent, ZnodeStat

from moldau.coordination.kazoo_client import Inbox, LoopClient, acls_of, add_create
from moldau.coordination.protection import Protection
from moldau.coordination.tree import (
    ANY_VERSION,
    BadVersion,
    Change,
    Check,
    ConnectionLost,
    Create,
    Created,
    Delete,
    NoChildrenForEphemerals,
    NodeExists,
    NodeStat,
    NoNode,
    NotAllowed,
    NotEmpty,
    Operation,
    Result,
    SessionError,
    SessionListener,
    SessionLost,
    SessionState,
    SetData,
    TreeError,
    TreeNode,
    Watch,
    WatchEvent,
)
from moldau.coordination.watchdog import Watchdog
from moldau.coordination.watches import Watches

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

_STATES = {
    KazooState.CONNECTED: SessionState.CONNECTED,
    KazooState.SUSPENDED: SessionState.SUSPENDED,
    KazooState.LOST: SessionState.LOST,
}
_CHANGES = {
    EventType.CREATED: Change.CREATED,
    EventType.DELETED: Change.DELETED,
    EventType.CHANGED: Change.DATA,
    EventType.CHILD: Change.CHILDREN,
}
_REFUSALS: dict[type[Exception], type[TreeError]] = {
    exceptions.NoNodeError: NoNode,
    exceptions.NodeExistsError: NodeExists,
    exceptions.BadVersionError: BadVersion,
    exceptions.NotEmptyError: NotEmpty,
    exceptions.NoChildrenForEphemeralsError: NoChildrenForEphemerals,
    exceptions.NoAuthError: NotAllowed,
}
_UNDONE = (exceptions.RolledBackError, exceptions.RuntimeInconsistency)
# What a busy machine, or the recovery of a large log, may cost a loop at the most.
_HANG_MIN_S = 60.0
_UNPROTECTED = Protection()


class _AsyncResult(Protocol):
    """What kazoo answers a request with."""

    exception: Exception | None
    value: object

    def rawlink(self, callback: "Callable[[_AsyncResult], None]") -> None: ...


class ZooKeeperTree:
    """One session with an ensemble."""

    def __init__(
        self, client: LoopClient, inbox: Inbox, protection: Protection, *, requests_max: int
    ) -> None:
        self._client = client
        self._inbox = inbox
        self._protection = protection
        self._loop = asyncio.get_running_loop()
        self._watches = Watches()
        self._listeners: list[SessionListener] = []
        self._state = SessionState.CONNECTED
        self._room = asyncio.Semaphore(requests_max)
        self._under_way: set[asyncio.Future[Any]] = set()
        self._session_id: int = client.client_id[0]
        self._stopped: asyncio.Future[None] | None = None
        self._watchdog: Watchdog | None = None

    @classmethod
    async def open(
        cls,
        connect: str,
        *,
        session_timeout_ms: int,
        connect_timeout_ms: int,
        requests_max: int,
        protection: Protection = _UNPROTECTED,
    ) -> Self:
        """Open a session; ConnectionLost if there is none in time.

        `connect` is Kafka's `zookeeper.connect`: host:port pairs, and perhaps a path that all
        nodes are below, which is created if need be.
        """
        inbox = Inbox()
        hosts, slash, base = connect.partition("/")
        client = LoopClient(hosts, inbox, protection, session_timeout_s=session_timeout_ms / 1000)
        acls = acls_of(slash + base, protection)
        await asyncio.to_thread(client.connect, slash + base, acls, connect_timeout_ms / 1000)
        tree = cls(client, inbox, protection, requests_max=requests_max)
        tree._watchdog = Watchdog(max(session_timeout_ms / 1000, _HANG_MIN_S))
        tree._watchdog.start()
        # kazoo calls this from the thread of the connection.
        client.add_listener(lambda state: inbox.put(partial(tree._on_state, state)))
        return tree

    @property
    def session_id(self) -> int:
        return self._session_id

    async def get(self, path: str, *, watch: Watch | None = None) -> TreeNode:
        def finish(answer: tuple[bytes | None, ZnodeStat]) -> TreeNode:
            self._watches.on_data(path, watch)
            data, stat = answer
            return TreeNode(data or b"", _stat(stat))

        return await self._ask(
            path, lambda: self._client.get_async(path, self._kazoo_watch(watch)), finish
        )

    async def exists(self, path: str, *, watch: Watch | None = None) -> NodeStat | None:
        def finish(stat: ZnodeStat | None) -> NodeStat | None:
            self._watches.on_data(path, watch)
            return None if stat is None else _stat(stat)

        return await self._ask(
            path, lambda: self._client.exists_async(path, self._kazoo_watch(watch)), finish
        )

    async def children(self, path: str, *, watch: Watch | None = None) -> list[str]:
        def finish(names: list[str]) -> list[str]:
            self._watches.on_children(path, watch)
            return sorted(names)

        return await self._ask(
            path, lambda: self._client.get_children_async(path, self._kazoo_watch(watch)), finish
        )

    async def create(self, operation: Create) -> Created:
        def send() -> _AsyncResult:
            result: _AsyncResult = self._client.create_async(
                operation.path,
                operation.data,
                acls_of(operation.path, self._protection),
                ephemeral=operation.is_ephemeral,
                sequence=operation.is_sequential,
                include_data=True,
            )
            return result

        return await self._ask(
            operation.path, send, lambda answer: Created(answer[0], _stat(answer[1]))
        )

    async def set(self, path: str, data: bytes, *, version: int = ANY_VERSION) -> NodeStat:
        return await self._ask(path, lambda: self._client.set_async(path, data, version), _stat)

    async def delete(self, path: str, *, version: int = ANY_VERSION) -> None:
        await self._ask(path, lambda: self._client.delete_async(path, version), bool)

    async def multi(self, operations: Sequence[Operation]) -> list[Result]:
        def send() -> _AsyncResult:
            transaction = self._client.transaction()
            for operation in operations:
                _add(transaction, operation, self._protection)
            result: _AsyncResult = transaction.commit_async()
            return result

        return await self._ask("", send, partial(_multi_results, operations))

    def listen(self, listener: SessionListener) -> None:
        self._listeners.append(listener)

    async def close(self) -> None:
        if self._state is not SessionState.LOST:
            self._lose()
        assert self._stopped is not None
        await self._stopped

    async def _ask(
        self, path: str, send: "Callable[[], _AsyncResult]", finish: "Callable[..., _T]"
    ) -> _T:
        """Send a request; `finish` makes the answer, in the order in which answers came."""
        async with self._room:
            self._check_session()
            future: asyncio.Future[_T] = self._loop.create_future()

            def settle(result: _AsyncResult) -> None:
                if future.done():
                    return
                if result.exception is not None:
                    future.set_exception(_translate(result.exception, path))
                    return
                try:
                    future.set_result(finish(result.value))
                except (TreeError, SessionError) as error:
                    future.set_exception(error)

            self._under_way.add(future)
            try:
                send().rawlink(lambda result: self._inbox.put(partial(settle, result)))
                return await future
            finally:
                self._under_way.discard(future)

    def _check_session(self) -> None:
        if self._state is SessionState.LOST:
            raise SessionLost
        if self._state is SessionState.SUSPENDED:
            raise ConnectionLost

    def _kazoo_watch(self, watch: Watch | None) -> Callable[[WatchedEvent], None] | None:
        return None if watch is None else self._on_event

    def _on_event(self, event: WatchedEvent) -> None:
        # kazoo calls watches at the loss of the connection, too; `_on_state` deals with it.
        if event.type in _CHANGES and self._state is not SessionState.LOST:
            change = WatchEvent(_CHANGES[event.type], event.path)
            for watch in self._watches.take(change):
                self._loop.call_soon(watch, change)

    def _on_state(self, kazoo_state: str) -> None:
        state = _STATES[kazoo_state]
        if self._state is SessionState.LOST:
            return
        if state is SessionState.LOST:
            _log.warning("ZooKeeper session 0x%x lost", self._session_id)
            self._lose()
            return
        self._notify(state)
        if state is SessionState.SUSPENDED:
            # kazoo has answered the requests that it knew of. One that came just after that
            # would wait in its queue for the next connection.
            self._give_up_requests(ConnectionLost)
        if state is SessionState.CONNECTED:
            # kazoo forgot its watches when the connection broke.
            for watch, path in self._watches.take_all():
                self._loop.call_soon(watch, WatchEvent(Change.UNKNOWN, path))

    def _lose(self) -> None:
        if self._watchdog is not None:
            self._watchdog.stop()
        self._watches.take_all()
        self._give_up_requests(SessionLost)
        self._notify(SessionState.LOST)
        self._stopped = self._loop.run_in_executor(None, self._client.end)

    def _give_up_requests(self, error: type[SessionError]) -> None:
        for future in self._under_way:
            if not future.done():
                future.set_exception(error())

    def _notify(self, state: SessionState) -> None:
        self._state = state
        for listener in self._listeners:
            self._loop.call_soon(listener, state)


def _translate(error: Exception, path: str) -> Exception:
    if type(error) in _REFUSALS:
        return _REFUSALS[type(error)](path)
    if isinstance(error, exceptions.ConnectionLoss):
        return ConnectionLost(str(error))
    if isinstance(error, exceptions.SessionExpiredError | exceptions.ConnectionClosedError):
        return SessionLost(str(error))
    return SessionError(f"{type(error).__name__}: {error}")


def _add(transaction: TransactionRequest, operation: Operation, protection: Protection) -> None:
    match operation:
        case Create(path):
            add_create(transaction, operation, acls_of(path, protection))
        case SetData(path, data, version):
            transaction.set_data(path, data, version)
        case Delete(path, version):
            transaction.delete(path, version)
        case Check(path, version):
            transaction.check(path, version)


def _multi_results(operations: Sequence[Operation], answers: list[object]) -> list[Result]:
    """The results, or the error of the operation that failed; others say they were undone."""
    for index, answer in enumerate(answers):
        if isinstance(answer, Exception) and type(answer) not in _UNDONE:
            error = _translate(answer, operations[index].path)
            if isinstance(error, TreeError):
                error.index = index
            raise error
    results: list[Result] = []
    for answer in answers:
        if isinstance(answer, ZnodeStat):
            results.append(_stat(answer))
        else:
            results.append(answer if isinstance(answer, str) else None)
    return results


def _stat(stat: ZnodeStat) -> NodeStat:
    return NodeStat(
        czxid=stat.czxid,
        mzxid=stat.mzxid,
        version=stat.version,
        ephemeral_owner=stat.ephemeralOwner,
        children_count=stat.numChildren,
        created_ms=stat.ctime,
        changed_ms=stat.mtime,
        pzxid=stat.pzxid,
        children_version=stat.cversion,
        acl_version=stat.aversion,
    )
