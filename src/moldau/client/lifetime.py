"""The life of a client: it connects, is used by one process, and hangs up."""

import asyncio
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Self

from moldau.client.connection.cluster import Cluster

Work = Callable[[], Coroutine[Any, Any, None]]


class Managed(ABC):
    """A client that an `async with` block starts and closes."""

    @abstractmethod
    async def start(self) -> None:
        """Connect."""

    @abstractmethod
    async def close(self) -> None:
        """End what was begun, and hang up."""

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


class Lifetime:
    """From the start of a client to its end, with what works for it meanwhile.

    A client is *new*, *started* or *closed*; each step is taken once.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._process_id: int | None = None
        self._thread_id = 0
        self._working: asyncio.Task[None] | None = None
        self.is_closed = False
        self.cluster: Cluster

    async def begin(self, cluster: Cluster, work: Work | None = None) -> None:
        """Connect, then let `work` run; fails if no broker can be reached in time."""
        if self._process_id is not None:
            raise RuntimeError(f"the {self._kind} was started before: make a new one")
        self.cluster = cluster
        try:
            await cluster.connect()
        except BaseException:
            cluster.close()
            raise
        self._process_id = os.getpid()
        self._thread_id = threading.get_ident()
        if work is not None:
            self._working = asyncio.create_task(work(), name=f"moldau-{self._kind}")

    def close(self) -> bool:
        """Begin the end; False if there is nothing to end."""
        if self._process_id is None or self.is_closed:
            return False
        self.is_closed = True
        return True

    async def stop_working(self) -> None:
        """End the work, and return when it has ended."""
        if self._working is not None:
            self._working.cancel()
            await asyncio.wait([self._working])

    @property
    def is_working(self) -> bool:
        """Whether what works in the background still does."""
        return self._working is not None and not self._working.done()

    def when_work_ends(self, call: Callable[[], None]) -> None:
        """Call this when the work ends, however it does."""
        assert self._working is not None, "something works"
        self._working.add_done_callback(lambda _: call())

    def check_thread(self) -> None:
        """As `check`, for what only the thread of the event loop may do."""
        self.check()
        if threading.get_ident() != self._thread_id:
            reason = "belongs to the thread of its event loop: make the listener an `async def`"
            raise RuntimeError(f"the {self._kind} {reason}")

    def check(self) -> None:
        """RuntimeError if the client cannot be used, which says why."""
        if self._process_id is None or self.is_closed:
            state = "closed" if self.is_closed else "not started"
            raise RuntimeError(f"the {self._kind} is {state}: use it within `async with`")
        if self._working is not None and self._working.done():
            raise RuntimeError(f"the {self._kind} has stopped") from self._working.exception()
        if self._process_id != os.getpid():
            reason = f"a {self._kind} cannot be used after a fork: make one in each process"
            raise RuntimeError(reason)
