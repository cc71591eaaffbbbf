"""Requests to a console without a server in between."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from starlette.types import ASGIApp, Message

from moldau.console.access import ConsoleRights
from moldau.console.app import console_app
from moldau.console.audit import AuditTrail
from moldau.console.cluster import ConsoleCluster
from moldau.console.endpoints import Console
from moldau.console.sampling import Sampler
from moldau.web.users import Users
from unit.web.requests import Asked, ask

API = "/api/clusters/local"


class Asking:
    """A console, and requests to it."""

    def __init__(self, console: Console, app: ASGIApp) -> None:
        self.console = console
        self.app = app

    async def ask(
        self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> Asked:
        """One request as it is answered."""
        data = b"" if body is None else json.dumps(body).encode()
        given = {"content-type": "application/json"} if body is not None else {}
        return await ask(self.app, method, path, body=data, headers={**given, **(headers or {})})

    async def get(self, path: str) -> Any:
        """What a path of the cluster `local` has."""
        return await self.send("GET", path)

    async def send(self, method: str, path: str, body: object = None) -> Any:
        """The JSON that is answered; refusals fail."""
        answer = await self.ask(method, API + path, body)
        assert answer.status == 200, answer.body
        return json.loads(answer.body)

    async def refused(self, method: str, path: str, body: object = None) -> tuple[int, str]:
        """The status and the message of a refusal."""
        answer = await self.ask(method, API + path, body)
        assert answer.status >= 400, answer.body
        return answer.status, json.loads(answer.body)["message"]


class Stream:
    """An answer that does not end by itself, as a tab takes it."""

    def __init__(self) -> None:
        self._pieces: asyncio.Queue[str] = asyncio.Queue()
        self._gone = asyncio.Event()

    async def receive(self) -> Message:
        """The application's `receive`: nothing, until the tab goes away."""
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """The application's `send`."""
        await self._pieces.put(message.get("body", b"").decode())

    async def event(self, kind: str) -> tuple[str, Any]:
        """The next event of a kind: its id, and what it says."""
        while True:
            lines = (await self._pieces.get()).splitlines()
            if f"event: {kind}" in lines:
                found = dict(each.split(": ", 1) for each in lines if each)
                return found.get("id", ""), json.loads(found["data"])

    def leave(self) -> None:
        """The tab goes away."""
        self._gone.set()


@asynccontextmanager
async def streaming(
    app: ASGIApp, path: str, headers: Mapping[str, str] | None = None
) -> AsyncIterator[Stream]:
    """A stream that a tab has open; it ends with the block, and is waited for."""
    stream = Stream()
    route, _, query = (API + path).partition("?")
    given = {"host": "localhost", **(headers or {})}
    scope = {
        "type": "http",
        "method": "GET",
        "path": route,
        "raw_path": route.encode(),
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
        "root_path": "",
    }

    async def serve() -> None:
        await app(scope, stream.receive, stream.send)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(serve())
        try:
            yield stream
        finally:
            stream.leave()


@asynccontextmanager
async def asking(
    clusters: Mapping[str, Mapping[str, object]],
    rights: ConsoleRights | None = None,
    audit: str | None = None,
    users: Users | None = None,
    beside: Mapping[str, Any] | None = None,
) -> AsyncIterator[Asking]:
    """A console while the block lasts; beside are services, by the fields of Console."""
    known = {name: ConsoleCluster(name, settings) for name, settings in clusters.items()}
    samplers = {name: Sampler(each) for name, each in known.items()}
    console = Console(
        known, samplers, rights or ConsoleRights(), AuditTrail(audit), **(beside or {})
    )
    try:
        yield Asking(console, console_app(console, users))
    finally:
        for each in known.values():
            await each.close()
