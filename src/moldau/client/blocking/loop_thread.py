"""An event loop in a thread of its own, for callers that block."""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")

_END_S = 1.0


class LoopThread:
    """Runs coroutines while other threads wait for them; Ctrl-C interrupts the waiting.

    The loop goes on while no caller waits, so heartbeats and batches do not depend on what the
    caller does meanwhile.
    """

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._process_id = os.getpid()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def is_closed(self) -> bool:
        """Whether nothing can run any more."""
        return self._loop.is_closed()

    def check(self) -> None:
        """RuntimeError if nothing can run here, which says why."""
        if self.is_closed:
            raise RuntimeError("the client is closed")
        if self._process_id != os.getpid():
            raise RuntimeError("a client cannot be used after a fork: make one in each process")

    def call(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Wait for a coroutine; if the waiting is interrupted, it is cancelled."""
        try:
            self.check()
        except RuntimeError:
            work.close()
            raise
        assert threading.current_thread() is not self._thread, "the loop cannot wait for itself"
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def call_function(self, function: Callable[[], Result]) -> Result:
        """Call a plain function in the loop's thread, and wait for it."""

        async def work() -> Result:
            return function()

        return self.call(work())

    def call_soon(self, function: Callable[[], object]) -> None:
        """Have a plain function called in the loop's thread, without waiting for it."""
        self._loop.call_soon_threadsafe(function)

    def close(self) -> None:
        """End the loop; to be called once everything in it is closed."""
        if self._loop.is_closed():
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(_end_rest())
        finally:
            self._loop.close()


async def _end_rest() -> None:
    """Let what was cancelled, as by Ctrl-C, come to its end: it may have to clean up."""
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    if rest:
        await asyncio.wait(rest, timeout=_END_S)
