"""A Connect worker in the test process, in a thread of its own."""

import asyncio
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from moldau.connect.worker.running import running_worker
from moldau.connect.worker.settings import WorkerSettings
from moldau.web.server import Binding
from moldau.web.users import Users

_DEADLINE_S = 120
_STRINGS = "org.apache.kafka.connect.storage.StringConverter"


@dataclass(slots=True)
class StartedWorker:
    """What tests ask."""

    url: str

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, object]:
        """The status and the answer."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=_DEADLINE_S) as answer:
                return answer.status, _parsed(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, _parsed(error.read())

    def text(self, path: str) -> str:
        """An answer that is no JSON."""
        with urllib.request.urlopen(f"{self.url}{path}", timeout=_DEADLINE_S) as answer:
            found: str = answer.read().decode()
        return found

    def put(self, name: str, config: Mapping[str, str]) -> None:
        """Make a connector."""
        status, answer = self.ask("PUT", f"/connectors/{name}/config", config)
        assert status in (200, 201), answer

    def states(self, name: str) -> list[str]:
        """Of the connector and its tasks."""
        status, found = self.ask("GET", f"/connectors/{name}/status")
        if status != 200:
            return []
        assert isinstance(found, dict)
        return [each["state"] for each in (found["connector"], *found["tasks"])]


def until(is_so: Callable[[], bool], what: Callable[[], object] = lambda: "") -> None:
    """Wait for something that another thread does."""
    deadline = time.monotonic() + _DEADLINE_S
    never = threading.Event()
    while not is_so():
        assert time.monotonic() < deadline, what()
        never.wait(0.02)  # leaves the processor to the threads of the worker


@contextmanager
def started_worker(
    servers: str,
    settings: Mapping[str, str] | None = None,
    *,
    leads: bool = True,
    users: Users | None = None,
) -> Iterator[StartedWorker]:
    """A worker that leads, if it is to."""
    properties = {
        "bootstrap.servers": servers,
        "group.id": "workers",
        "offset.storage.partitions": "1",
        "status.storage.partitions": "1",
        "key.converter": _STRINGS,
        "value.converter": _STRINGS,
        **(settings or {}),
    }
    ready, found = threading.Event(), []
    stop, loops = asyncio.Event(), []

    async def serve() -> None:
        loops.append(asyncio.get_running_loop())
        given = WorkerSettings(properties)
        binding = Binding(0, "127.0.0.1", given.certificate)
        async with running_worker(given, binding, users) as (url, worker):
            if leads:
                await asyncio.wait_for(worker.leads.wait(), _DEADLINE_S)
            found.append(url)
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        assert ready.wait(_DEADLINE_S), "the worker has not started"
        yield StartedWorker(found[0])
    finally:
        loops[0].call_soon_threadsafe(stop.set)
        thread.join(_DEADLINE_S)


def _parsed(data: bytes) -> object:
    return json.loads(data) if data else None
