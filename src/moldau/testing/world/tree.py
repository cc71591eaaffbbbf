"""The coordination tree of a simulated world: sessions over links, which expire by silence."""

import asyncio
from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import Any, TypeVar

from moldau.coordination.memory import MemoryEnsemble, MemoryTree
from moldau.coordination.tree import (
    ConnectionLost,
    Operation,
    Result,
    SessionLost,
    SessionState,
    TreeError,
    Watch,
    WatchEvent,
)
from moldau.runtime.clock import Clock
from moldau.testing.world.life import CURRENT, NOBODY
from moldau.testing.world.link import Pipe
from moldau.testing.world.loop import WorldLoop, context_of
from moldau.testing.world.network import Network

ENSEMBLE = "ensemble"
"""The name under which the servers are linked to the machines."""

_T = TypeVar("_T")


class WorldEnsemble(MemoryEnsemble):
    """The servers: never down, but sometimes out of reach."""

    def __init__(self, clock: Clock, loop: WorldLoop, network: Network) -> None:
        super().__init__(clock)
        self.loop = loop
        self.network = network
        self.trees: list[WorldTree] = []
        self.observe: Callable[[Sequence[Operation]], None] = lambda _operations: None
        """Sees everything that is written."""

    def apply(self, operations: Sequence[Operation], session_id: int) -> list[Result]:
        results = super().apply(operations, session_id)
        self.observe(operations)
        return results

    async def open(self, *, timeout_s: float) -> "WorldTree":
        """A session for the current program."""
        machine = CURRENT.get().machine
        opened: asyncio.Future[WorldTree] = self.loop.create_future()
        tree = WorldTree(self, self._next_session_id(), machine=machine, timeout_s=timeout_s)

        def serve() -> None:
            self._sessions[tree.session_id] = tree
            self.trees.append(tree)
            tree.begin()
            tree.inward.send(_settle, opened, tree)

        tree.outward.send(serve)
        return await opened

    def session_of(self, machine: str) -> "WorldTree | None":
        """The newest session of a machine, if it lives."""
        for tree in reversed(self.trees):
            if tree.machine == machine:
                return tree if tree.session_id in self._sessions else None
        return None

    def is_alive(self, session_id: int) -> bool:
        """Whether a session has not expired."""
        return session_id in self._sessions

    def _next_session_id(self) -> int:
        self._last_session_id += 1
        return self._last_session_id


class WorldTree(MemoryTree):
    """One session; the servers end it when they received nothing for its timeout."""

    def __init__(
        self, ensemble: WorldEnsemble, session_id: int, *, machine: str, timeout_s: float
    ) -> None:
        super().__init__(ensemble, session_id)
        self.machine = machine
        self._servers = ensemble
        self._timeout_s = timeout_s
        network, life = ensemble.network, CURRENT.get()
        self.outward = Pipe(network.link(machine, ENSEMBLE), context_of(NOBODY))
        self.inward = Pipe(network.link(ENSEMBLE, machine), context_of(life))
        self._pending: dict[asyncio.Future[Any], None] = {}
        self._fired: dict[tuple[Watch, str], None] = {}
        """Watches that fired, of which the program is not notified yet."""
        self._connection = 0
        """Which connection this is: what belongs to an earlier one is void."""
        self._answered_at_s = ensemble.loop.time()
        self._alive_at_s = ensemble.loop.time()
        self._context = copy_context()
        self._is_closed = False

    def begin(self) -> None:
        """The session stands: from now on both sides watch the time."""
        now_s = self._servers.loop.time()
        self._answered_at_s = self._alive_at_s = now_s
        self._servers.loop.call_later(self._timeout_s, self._check_silence)
        self._servers.loop.call_soon(self._beat, context=self._context)

    async def close(self) -> None:
        if self._is_closed or self._state is SessionState.LOST:
            return
        self._is_closed = True
        if self._state is SessionState.CONNECTED:
            self.outward.send(self._servers.expire, self._session_id)
            await asyncio.sleep(0)
        self._forget()

    def lose(self) -> None:
        """Notify the program that its session has ended, as soon as that can arrive."""
        self._watches.take_all()
        self.inward.send(self._lost)

    def fire(self, event: WatchEvent) -> None:
        for watch in self._watches.take(event):
            self._fired[watch, event.path] = None
            self.inward.send(self._if_current, self._connection, self._notify, watch, event)

    async def _ask(self, work: Callable[[], _T]) -> _T:
        self._check_session()
        answer: asyncio.Future[_T] = self._servers.loop.create_future()
        self._pending[answer] = None
        if CURRENT.get().is_over:
            return await answer
        self.outward.send(self._serve, self._connection, work, answer)
        try:
            return await answer
        finally:
            self._pending.pop(answer, None)

    # At the servers

    def _serve(self, connection: int, work: Callable[[], _T], answer: "asyncio.Future[_T]") -> None:
        if not self._servers.is_alive(self._session_id) or connection != self._connection:
            return
        self._alive_at_s = self._servers.loop.time()
        try:
            result = work()
        except TreeError as error:
            self.inward.send(self._if_current, connection, _fail, answer, error)
        else:
            self.inward.send(self._if_current, connection, _settle, answer, result)

    def _note_alive(self, connection: int) -> None:
        """The program has shown that it lives."""
        if self._servers.is_alive(self._session_id):
            self._alive_at_s = self._servers.loop.time()
            self.inward.send(self._answered, connection)
        else:
            self.inward.send(self._lost)

    def _check_silence(self) -> None:
        if not self._servers.is_alive(self._session_id):
            return
        left_s = self._alive_at_s + self._timeout_s - self._servers.loop.time()
        if left_s <= 0:
            self._servers.expire(self._session_id)
        else:
            self._servers.loop.call_later(left_s, self._check_silence)

    # In the program

    def _beat(self) -> None:
        """Show a sign of life, and look whether the servers have answered the earlier ones."""
        if self._is_closed or self._state is SessionState.LOST:
            return
        loop = self._servers.loop
        silent_s = loop.time() - self._answered_at_s
        if self._state is SessionState.CONNECTED and silent_s > self._timeout_s / 2:
            self._disconnect()
        self.outward.send(self._note_alive, self._connection)
        loop.call_later(self._timeout_s / 6, self._beat)

    def _disconnect(self) -> None:
        """Give the connection up: the outcome of pending requests is unknown."""
        self.outward.drop()
        self._connection += 1
        self.suspend()
        self._broken += self._fired
        self._fired.clear()
        for answer in tuple(self._pending):
            _fail(answer, ConnectionLost())

    def _answered(self, connection: int) -> None:
        if connection != self._connection or self._is_closed:
            return
        self._answered_at_s = self._servers.loop.time()
        if self._state is SessionState.SUSPENDED:
            self.resume()

    def _if_current(self, connection: int, deliver: Callable[..., object], *args: Any) -> None:
        if connection == self._connection:
            deliver(*args)

    def _notify(self, watch: Watch, event: WatchEvent) -> None:
        self._fired.pop((watch, event.path), None)
        watch(event)

    def _lost(self) -> None:
        if self._state is not SessionState.LOST:
            self._change(SessionState.LOST)
            self._forget()

    def _forget(self) -> None:
        self._state = SessionState.LOST
        for answer in tuple(self._pending):
            _fail(answer, SessionLost())


def _settle(answer: "asyncio.Future[Any]", result: object) -> None:
    if not answer.done():
        answer.set_result(result)


def _fail(answer: "asyncio.Future[Any]", error: Exception) -> None:
    if not answer.done():
        answer.set_exception(error)
