"""How long a coroutine keeps the event loop: its steps, without the waits between them."""

from collections.abc import Coroutine, Generator
from functools import partial
from types import coroutine
from typing import Any, TypeVar

from moldau.runtime.clock import Clock

Result = TypeVar("Result")


class LoopUse:
    """Adds up the steps of the coroutines that are awaited through it."""

    __slots__ = ("_clock", "spent_ns")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.spent_ns = 0

    async def of(self, work: Coroutine[Any, Any, Result]) -> Result:
        """What `work` comes to."""
        return await self._stepped(work)

    @coroutine
    def _stepped(self, work: Coroutine[Any, Any, Result]) -> Generator[object, Any, Result]:
        step = partial(work.send, None)
        while True:
            began_ns = self._clock.monotonic_ns()
            # As in `eager`: a frame that led to what failed in it would keep both in memory.
            try:
                awaited = step()
            except StopIteration as stop:
                result: Result = stop.value
                return result
            finally:
                self.spent_ns += self._clock.monotonic_ns() - began_ns
                del step
            try:
                received = yield awaited
            except GeneratorExit:
                work.close()
                raise
            except BaseException as error:  # noqa: BLE001 - cancellation travels inwards too
                step = partial(work.throw, error)
            else:
                step = partial(work.send, received)
            del awaited
