"""Requests to an application without a server in between."""

import asyncio

from starlette.types import ASGIApp, Message


class Asked:
    """What an application answered."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.cookies: dict[str, str] = {}
        self.body = b""

    async def take(self, message: Message) -> None:
        """The application's `send`."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
            for name, value in message["headers"]:
                if name == b"set-cookie":
                    key, _, text = value.decode().partition(";")[0].partition("=")
                    self.cookies[key] = text
        else:
            self.body += message.get("body", b"")


async def ask(
    app: ASGIApp,
    method: str,
    path: str,
    *,
    body: bytes = b"",
    headers: dict[str, str] | None = None,
) -> Asked:
    """Send one request, in pieces of a thousand bytes."""
    pieces = [body[at : at + 1000] for at in range(0, len(body), 1000)] or [b""]

    async def receive() -> Message:
        if not pieces:  # the client stays, and has nothing more to say
            await asyncio.Event().wait()
        piece = pieces.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

    given = {"host": "localhost:8081", **(headers or {})}
    route, _, query = path.partition("?")
    scope = {
        "type": "http",
        "method": method,
        "path": route,
        "raw_path": route.encode(),
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
        "scheme": "http",
        "server": ("localhost", 8081),
        "client": ("127.0.0.1", 1),
        "root_path": "",
    }
    asked = Asked()
    await app(scope, receive, asked.take)
    return asked
