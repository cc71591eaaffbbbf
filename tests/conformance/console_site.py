"""A console for tests in a browser, what all its pages keep to, and the pictures that are kept."""

import asyncio
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from browser import Page
from conformance.clients.programs import node_program
from moldau.console.running import ConsoleOptions, running_console
from moldau.web.server import Binding

HOSTILE = '"><img src=x onerror="document.title=1337"><script>document.title=1337</script>'
PICTURES = os.environ.get("MOLDAU_PICTURES")
"""A folder for pictures of the pages, as in docs/pictures; none are kept without it."""


@contextmanager
def served(bootstrap_servers: str, **options: Any) -> Iterator[str]:
    """A console in a thread of its own, with further options of ConsoleOptions."""
    loop = asyncio.new_event_loop()
    begun, stop = threading.Event(), asyncio.Event()
    addresses: list[str] = []

    async def serve() -> None:
        clusters = {"local": {"bootstrap.servers": bootstrap_servers}}
        given = ConsoleOptions(clusters, options.pop("binding", Binding(0)), **options)
        async with running_console(given) as url:
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


def violations(page: Page, urls: Iterable[str], theme: str) -> list[str]:
    """What axe finds against WCAG 2.2 AA."""
    axe = Path(node_program("axe", "node_modules/axe-core/axe.min.js")[1]).read_text()
    found: list[str] = []
    for url in urls:
        page.run(f"localStorage.setItem('theme', '{theme}')")
        page.open(url)
        page.wait("document.querySelector('h1') && !document.body.innerText.includes('Loading')")
        page.run(axe + "; 1")
        listed = page.run(
            "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa']})"
            ".then(found => found.violations.map(each => each.id + ': ' +"
            " each.nodes.map(node => node.html + node.failureSummary).slice(0, 3).join(' | ')))"
        )
        found += [f"{url}: {each}" for each in listed]
    page.run("localStorage.removeItem('theme')")
    return found


def keep(page: Page, name: str) -> None:
    """A picture for the documentation."""
    if PICTURES:
        page.screenshot(Path(PICTURES) / f"console-{name}.png")
