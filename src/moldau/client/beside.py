"""Calls what may block in a thread beside the event loop, which goes on meanwhile.

Unlike for the executor of the loop, nothing waits for such a thread to end: neither a client
that is closed nor the interpreter. A name server that does not answer would hold up both.
"""

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


async def call_beside(
    function: Callable[Parameters, Result],
    *arguments: Parameters.args,
    **options: Parameters.kwargs,
) -> Result:
    """What the function returns; a caller that is cancelled does not stop it."""
    loop = asyncio.get_running_loop()
    context = contextvars.copy_context()
    outcome: list[Result] = []
    failure: list[BaseException] = []
    is_over = loop.create_future()

    def work() -> None:
        try:
            outcome.append(context.run(function, *arguments, **options))
        except BaseException as error:  # noqa: BLE001 - raised in the caller
            failure.append(error)
        with suppress(RuntimeError):  # the loop is closed: no caller waits
            loop.call_soon_threadsafe(_finish, is_over)

    threading.Thread(target=work, name="moldau-beside", daemon=True).start()
    await is_over
    if failure:
        raise failure.pop()  # it must not hold itself alive by this frame
    return outcome[0]


async def call_or_await(
    function: Callable[Parameters, object],
    *arguments: Parameters.args,
    **options: Parameters.kwargs,
) -> object:
    """Call a function of the user: an asynchronous one here, a plain one beside the loop."""
    answer: object
    if inspect.iscoroutinefunction(function):
        answer = function(*arguments, **options)
    else:
        plain: Callable[Parameters, object] = function
        answer = await call_beside(plain, *arguments, **options)
    return await answer if inspect.isawaitable(answer) else answer


def _finish(is_over: asyncio.Future[None]) -> None:
    if not is_over.done():
        is_over.set_result(None)
