"""Requests to a console without a server in between."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from starlette.types import ASGIApp

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


@asynccontextmanager
async def asking(
    clusters: Mapping[str, Mapping[str, object]],
    rights: ConsoleRights | None = None,
    audit: str | None = None,
    users: Users | None = None,
) -> AsyncIterator[Asking]:
    """A console while the block lasts."""
    known = {name: ConsoleCluster(name, settings) for name, settings in clusters.items()}
    samplers = {name: Sampler(each) for name, each in known.items()}
    console = Console(known, samplers, rights or ConsoleRights(), AuditTrail(audit))
    try:
        yield Asking(console, console_app(console, users))
    finally:
        for each in known.values():
            await each.close()
