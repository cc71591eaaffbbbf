"""Coroutines run without a task until they first have to wait.

Most requests never wait, and a task costs more than a small request itself. A
coroutine started here runs at once; only if it suspends is the rest of it handed
to a task. Until then there is no current task, so code that may run eagerly uses
`Waiters` for timed waits instead of `asyncio.timeout`.
"""

from collections.abc import Coroutine, Generator
from dataclasses import dataclass
from functools import partial
from types import coroutine
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


@dataclass(slots=True)
class Finished(Generic[Result]):
    """The coroutine came to its end."""

    value: Result


@dataclass(slots=True)
class Waiting(Generic[Result]):
    """The coroutine waits; `rest` must be run by a task, or closed."""

    rest: Coroutine[Any, Any, Result]


def start(work: Coroutine[Any, Any, Result]) -> Finished[Result] | Waiting[Result]:
    """Run `work` up to its first wait; what it raises is raised here."""
    try:
        awaited = work.send(None)
    except StopIteration as stop:
        return Finished(stop.value)
    return Waiting(_rest(work, awaited))


async def _rest(work: Coroutine[Any, Any, Result], awaited: object) -> Result:
    return await _resumed(work, awaited)


@coroutine
def _resumed(work: Coroutine[Any, Any, Result], awaited: object) -> Generator[object, Any, Result]:
    """Hand on what `work` awaits, beginning with what it already awaits."""
    while True:
        try:
            received = yield awaited
        except GeneratorExit:
            work.close()
            raise
        except BaseException as error:  # noqa: BLE001 - cancellation travels inwards too
            step = partial(work.throw, error)
        else:
            step = partial(work.send, received)
        # What fails in `step` has this frame in its traceback. If the frame led back to it,
        # the two would keep each other, and all that failed with them, in memory.
        del awaited
        try:
            awaited = step()
        except StopIteration as stop:
            result: Result = stop.value
            return result
        finally:
            del step
