"""A console for tests in a browser, and the pictures that they keep."""

import asyncio
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from browser import Page
from moldau.console.running import ConsoleOptions, running_console
from moldau.web.server import Binding

HOSTILE = '"><img src=x onerror="document.title=1337"><script>document.title=1337</script>'
PICTURES = os.environ.get("MOLDAU_PICTURES")
"""A folder for pictures of the pages, as in docs/pictures; none are kept without it."""


@contextmanager
def served(bootstrap_servers: str) -> Iterator[str]:
    """A console in a thread of its own."""
    loop = asyncio.new_event_loop()
    begun, stop = threading.Event(), asyncio.Event()
    addresses: list[str] = []

    async def serve() -> None:
        options = ConsoleOptions({"local": {"bootstrap.servers": bootstrap_servers}}, Binding(0))
        async with running_console(options) as url:
            addresses.append(url)
            begun.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    assert begun.wait(30)
    try:
        yield addresses[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(30)
        loop.close()


def keep(page: Page, name: str) -> None:
    """A picture for the documentation."""
    if PICTURES:
        page.screenshot(Path(PICTURES) / f"{name}.png")
