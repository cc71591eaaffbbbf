"""A console for tests in a browser, what all its pages keep to, and the pictures that are kept."""

import asyncio
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest

from browser import Page
from conformance.apache.broker import ApacheBroker, apache_broker
from conformance.apache.marks import needs_apache
from conformance.clients.programs import node_program
from moldau.console.running import ConsoleOptions, running_console
from moldau.testing.broker import running_broker
from moldau.web.server import Binding

EVERY_KAFKA = ("moldau", pytest.param("apache", marks=needs_apache("kafka-3.9")))
"""Whose brokers a console is shown with: it is a client of any."""
HOSTILE = '"><img src=x onerror="document.title=1337"><script>document.title=1337</script>'
LONG_NAME = "orders_with_payments_and_shipments_of_every_region_of_the_world_by_customer"
"""A name without a place to break it; repeated, it is as long as names may be."""
PICTURES = os.environ.get("MOLDAU_PICTURES")
"""A folder for pictures of the pages, as in docs/pictures; none are kept without it."""


class Kafka(Protocol):
    """A broker, whoever made it."""

    @property
    def bootstrap_servers(self) -> str:
        """What clients call the setting of this name."""

    def start(self) -> None:
        """Start again, with the same data."""

    def stop(self) -> None:
        """Stop cleanly."""


@dataclass(frozen=True, slots=True)
class ApacheKafka:
    """Apache's broker, by the names of ours."""

    broker: ApacheBroker

    @property
    def bootstrap_servers(self) -> str:
        return self.broker.bootstrap

    def start(self) -> None:
        self.broker.start()

    def stop(self) -> None:
        self.broker.stop()


@contextmanager
def running_kafka(kind: str, settings: Mapping[str, str], folder: Path) -> Iterator[Kafka]:
    """A broker of one of EVERY_KAFKA."""
    settings = {"group.initial.rebalance.delay.ms": "0", **settings}
    if kind == "moldau":
        with running_broker(settings) as ours:
            yield ours
        return
    with apache_broker(folder, {"auto.create.topics.enable": "true", **settings}) as apache:
        apache.start()
        yield ApacheKafka(apache)


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


STRETCH = """((width) => {
  const texts = "h1, h2, p, li, li > span, dt, dd, td, td *, pre, code, summary, figcaption";
  const fixed = ":not(.badge, button, option, .mark)";
  for (const each of document.querySelectorAll(`main :is(${texts})${fixed}`))
    for (const node of each.childNodes)
      if (node.nodeType === Node.TEXT_NODE && node.data.trim()) node.data = "long".repeat(100);
  if (document.documentElement.scrollWidth <= width) return [];
  return [...document.querySelectorAll("main *")]
    .filter((each) => each.getBoundingClientRect().right > width && !each.closest(".table, .tabs"))
    .map((each) => each.outerHTML.slice(0, 200));
})(%d)"""


def too_wide(page: Page, width: int) -> list[str]:
    """What does not fit into a page of this width if its texts are long; they are lost by it."""
    page.wait(f"document.documentElement.scrollWidth <= {width}", "a page that is narrow")
    found: list[str] = page.run(STRETCH % width)
    return found


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
