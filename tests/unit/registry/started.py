"""A registry in this process, in a thread of its own, and requests to it."""

import asyncio
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from moldau.registry.running import RegistryFrontage, running_registry
from moldau.registry.service import RegistryOptions, RegistryService
from moldau.web.server import Binding

Result = TypeVar("Result")

KAFKA = {"group.initial.rebalance.delay.ms": "0"}


class Answered(NamedTuple):
    """What was answered."""

    status: int
    body: Any


class StartedRegistry:
    """A registry that runs."""

    url: str
    service: RegistryService

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.stop = asyncio.Event()

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Answered:
        """One request."""
        return request(self.url, method, path, body, **headers)

    def call(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run something in the registry's event loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60)


def request(url: str, method: str, path: str, body: object = None, **headers: str) -> Answered:
    """One request to an address."""
    data = None if body is None else json.dumps(body).encode()
    named = {"Content-Type": "application/vnd.schemaregistry.v1+json", **headers}
    asked = urllib.request.Request(url + path, data, named, method=method)
    try:
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return Answered(answer.status, json.load(answer))
    except urllib.error.HTTPError as error:
        with error:
            return Answered(error.code, json.load(error))


@contextmanager
def started_registry(
    bootstrap_servers: str,
    frontage: RegistryFrontage | None = None,
    topic: str = "_schemas",
) -> Iterator[StartedRegistry]:
    """A registry on a free port."""
    client = {"bootstrap.servers": bootstrap_servers}
    options = RegistryOptions(client, topic=topic, group=f"group-of-{topic}")
    registry = StartedRegistry()
    begun = threading.Event()
    failed: list[BaseException] = []

    async def serve() -> None:
        async with running_registry(options, frontage or RegistryFrontage(Binding(0))) as started:
            registry.url, registry.service = started
            begun.set()
            await registry.stop.wait()

    def run() -> None:
        try:
            registry.loop.run_until_complete(serve())
            registry.loop.run_until_complete(registry.loop.shutdown_default_executor())
        except BaseException as error:  # noqa: BLE001 - raised by the thread that waits
            failed.append(error)
        finally:
            begun.set()

    thread = threading.Thread(target=run)
    thread.start()
    begun.wait()
    try:
        if not failed:
            yield registry
    finally:
        registry.loop.call_soon_threadsafe(registry.stop.set)
        thread.join()
        registry.loop.close()
        if failed:
            raise failed[0]
