"""A service that answers what a test has prepared, and keeps what it was asked."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from moldau.web.server import Binding, serving


@dataclass(slots=True)
class AnsweringService:
    """Answers by method and path: a status and a value, or bytes as they are."""

    answers: Mapping[str, tuple[int, object]]
    asked: list[tuple[str, object]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    """Of the last request."""
    url: str = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        key = f"{request.method} {scope['raw_path'].decode()}"
        if scope["query_string"]:
            key += f"?{scope['query_string'].decode()}"
        body = await request.body()
        self.asked.append((key, json.loads(body) if body else None))
        self.headers = dict(request.headers)
        status, found = self.answers.get(key, (404, {"error_code": 404, "message": "not here"}))
        data = found if isinstance(found, bytes) else json.dumps(found).encode()
        headers = {"location": "/elsewhere"} if status == 302 else {}
        await Response(data, status, headers)(scope, receive, send)


@asynccontextmanager
async def answering(answers: Mapping[str, tuple[int, object]]) -> AsyncIterator[AnsweringService]:
    """One on a free port of the loopback address."""
    service = AnsweringService(answers)
    async with serving(service, Binding(0)) as url:
        service.url = url
        yield service
