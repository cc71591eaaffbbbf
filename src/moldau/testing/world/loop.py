"""The event loop of a simulated world: time jumps to the next event.

Only what the broker and its clients use of asyncio is there. Nothing waits in reality:
when no callback is ready, the clock is set to the earliest timer. Work in threads is one
callback, a little later. Two runs that begin alike go on alike, callback for callback.
"""

import asyncio
import heapq
import struct
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context, copy_context
from itertools import count
from typing import Any, Protocol, TypeVar
from zlib import crc32

from moldau.testing.world.life import CURRENT, NOBODY, Life, State

Result = TypeVar("Result")
Callback = Callable[..., object]

_EVENTS_AT_ONCE_MAX = 1_000_000


class Stuck(Exception):
    """The world can never come to the end that was waited for."""


class NetworkCalls(Protocol):
    """What the loop asks the network."""

    async def connect(
        self, factory: Callable[[], asyncio.BaseProtocol], host: str, port: int
    ) -> tuple[asyncio.Transport, asyncio.BaseProtocol]:
        """Call a listener."""

    async def attach(
        self, factory: Callable[[], asyncio.BaseProtocol], accepted: Any
    ) -> tuple[asyncio.Transport, asyncio.BaseProtocol]:
        """Serve a caller that was accepted."""

    def watch(self, listening: Any, callback: Callback, *args: object) -> None:
        """Call back when a client connects."""

    def unwatch(self, listening: Any) -> bool:
        """Do not call back."""


class Task(asyncio.Task[Any]):
    """A task that has the same place in a set in every run."""

    _numbers = count()

    def __init__(self, *args: Any, **options: Any) -> None:
        self._number = next(self._numbers)
        super().__init__(*args, **options)

    def __hash__(self) -> int:
        return self._number


class WorldLoop(asyncio.AbstractEventLoop):
    """Runs everything in the world, one callback at a time."""

    def __init__(self, draw: Callable[[], float]) -> None:
        """`draw` gives a number in [0, 1): how long threads take."""
        self.network: NetworkCalls
        self.problems: list[str] = []
        """Failures that were not handled, in programs that had not ended."""
        self.event_count = 0
        self.trace = 0
        """A checksum of what was noted, and when: equal in two runs that went the same way."""
        self._draw = draw
        self._now_s = 0.0
        self._life = NOBODY  # whose callback is running
        self._ready: deque[tuple[Life, asyncio.Handle]] = deque()
        self._timers: list[tuple[float, int, Life, asyncio.TimerHandle]] = []
        self._numbers = count()
        self._is_running = False
        self._is_closed = False

    # Time and callbacks

    def run(self, main: Coroutine[Any, Any, Result]) -> Result:
        """Run the world until `main` has its result."""
        assert not self._is_running
        task: asyncio.Task[Result] = self.create_task(main)
        asyncio._set_running_loop(self)
        self._is_running = True
        try:
            while not task.done():
                self._turn()
        finally:
            self._is_running = False
            asyncio._set_running_loop(None)
        return task.result()

    def _turn(self) -> None:
        """Run what is ready, or let time go on."""
        if not self._ready:
            if not self._timers:
                raise Stuck("nothing will ever happen again")
            self._now_s = max(self._now_s, self._timers[0][0])
            while self._timers and self._timers[0][0] <= self._now_s:
                _, _, life, timer = heapq.heappop(self._timers)
                if not timer.cancelled():
                    self._ready.append((life, timer))
        started_at = self.event_count
        while self._ready:
            life, handle = self._ready.popleft()
            self._life = life
            if life.state is State.RUNNING:
                self.event_count += 1
                if not handle.cancelled():
                    handle._run()
            elif life.state is State.PAUSED:
                life.held.append(handle)
            if self.event_count - started_at > _EVENTS_AT_ONCE_MAX:
                raise Stuck(f"time stands still at {self._now_s} s")

    def time(self) -> float:
        return self._now_s

    # typeshed ties the callback's parameters to its arguments; here they only pass through.

    def call_soon(  # type: ignore[override]
        self, callback: Callback, *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        life = CURRENT.get() if context is None else _life_of(context)
        self._ready.append((life, handle))
        return handle

    def call_soon_threadsafe(  # type: ignore[override]
        self, callback: Callback, *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        return self.call_soon(callback, *args, context=context)

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Callback, *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self._now_s + delay, callback, *args, context=context)

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callback, *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        life = CURRENT.get() if context is None else _life_of(context)
        heapq.heappush(self._timers, (when, next(self._numbers), life, timer))
        return timer

    def resume(self, life: Life) -> None:
        """Let a paused program go on, with all that has come due meanwhile."""
        life.state = State.RUNNING
        held, life.held = life.held, []
        self._ready.extend((life, handle) for handle in held)

    def note(self, data: bytes) -> None:
        """Make something part of the trace."""
        self.trace = crc32(data, crc32(struct.pack("d", self._now_s), self.trace))

    # Tasks and threads

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(
        self,
        coro: Any,
        *,
        name: str | None = None,
        context: Context | None = None,
    ) -> asyncio.Task[Any]:
        task = Task(coro, loop=self, name=name, context=context)
        life = CURRENT.get() if context is None else _life_of(context)
        life.tasks.add(task)
        return task

    def run_in_executor(  # type: ignore[override]
        self, executor: object, func: Callable[..., Result], *args: Any
    ) -> asyncio.Future[Result]:
        assert executor is None, "the world has one pool of threads"
        done: asyncio.Future[Result] = self.create_future()

        def work() -> None:
            if done.done():
                return
            try:
                result = func(*args)
            except Exception as error:  # noqa: BLE001 - raised in the waiting caller
                done.set_exception(error)
            else:
                done.set_result(result)

        # Mostly quick and now and then much slower, like disks.
        delay_s = CURRENT.get().thread_delay_s * (0.2 + 2 * self._draw() ** 4)
        self.call_later(delay_s, work)
        return done

    # The network

    async def create_connection(  # type: ignore[override]
        self, protocol_factory: Callable[[], asyncio.BaseProtocol], host: str, port: int
    ) -> tuple[asyncio.Transport, asyncio.BaseProtocol]:
        return await self.network.connect(protocol_factory, host, port)

    async def connect_accepted_socket(  # type: ignore[override]
        self, protocol_factory: Callable[[], asyncio.BaseProtocol], sock: object
    ) -> tuple[asyncio.Transport, asyncio.BaseProtocol]:
        return await self.network.attach(protocol_factory, sock)

    def add_reader(  # type: ignore[override]
        self, fd: Any, callback: Callback, *args: Any
    ) -> None:
        self.network.watch(fd, callback, *args)

    def remove_reader(self, fd: Any) -> bool:
        return self.network.unwatch(fd)

    async def sendfile(  # type: ignore[override]
        self,
        transport: asyncio.Transport,
        file: Any,
        offset: int = 0,
        count: int | None = None,
        *,
        fallback: bool = True,  # noqa: ARG002 - asyncio's signature
    ) -> int:
        data: bytes = file.file.read(offset, count)
        transport.write(data)
        # Others get their turn, as they do while a real one waits for the socket.
        await asyncio.sleep(0)
        return len(data)

    # What asyncio asks of every loop

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return self._is_running

    def is_closed(self) -> bool:
        return self._is_closed

    def close(self) -> None:
        """Forget all that would still have happened."""
        self._is_closed = True
        self._ready.clear()
        self._timers.clear()

    async def shutdown_asyncgens(self) -> None:
        """Nothing to do: what has no references any more just goes."""

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if self._is_closed or self._life.is_over:
            return
        error = context.get("exception")
        self.problems.append(f"{self._now_s:.3f} s: {context.get('message')}: {error!r}")

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Cancelled timers go when their time comes."""


def context_of(life: Life) -> Context:
    """A context of its own for callbacks of a life."""
    context = copy_context()
    context.run(CURRENT.set, life)
    return context


def _life_of(context: Context) -> Life:
    return context.get(CURRENT, NOBODY)
