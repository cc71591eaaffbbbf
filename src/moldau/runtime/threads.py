"""Work off the event loop: what blocks on the disk, or computes for long."""

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


def run_all(works: Iterable[Callable[[], None]], *, at_once: int) -> None:
    """Do pieces of work that wait for the disk, some at once; raises what the first one raised.

    One at a time needs no thread.
    """
    if at_once == 1:
        for work in works:
            work()
        return
    with ThreadPoolExecutor(at_once) as pool:
        for running in [pool.submit(work) for work in works]:
            running.result()


async def in_thread(
    work: Callable[[], Result], *, on_cancel: Callable[[], object] = lambda: None
) -> Result:
    """Run `work` in a thread of the loop's pool and wait for it.

    A thread cannot be stopped, and what it uses must not be taken away under it. So a
    cancelled caller resumes only when the work has ended; `on_cancel` may hurry it.
    """
    running = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        on_cancel()
        while not running.done():
            try:
                await asyncio.wait([running])
            except asyncio.CancelledError:
                continue
        # Whatever came of it, no caller waits for it any more.
        if not running.cancelled():
            running.exception()
        raise
