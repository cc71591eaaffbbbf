"""Lets requests through to an application, or answers 401, 403 or 421 in its place."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse

from moldau.web.errors import WebError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from moldau.web.users import User, Users

_UNAUTHORIZED, _FORBIDDEN, _MISDIRECTED = 401, 403, 421
_READING = ("GET", "HEAD", "OPTIONS")
_LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")
_MISTAKES_AT_ONCE_MAX = 4


def only_reads(request: Request) -> bool:
    """Whether a request changes nothing, by its method."""
    return request.method in _READING


@dataclass(frozen=True, slots=True)
class RequestRules:
    """Who may ask what."""

    users: "Users | None" = None
    """None: everybody may do everything, as on a loopback address."""
    is_loopback: bool = True
    """Then only this machine's own names are answered to: a page of another site that has its
    name point to 127.0.0.1 would otherwise be let in by the browser of whoever reads it."""
    is_read: Callable[[Request], bool] = only_reads
    """Which requests a read-only user may make."""
    realm: str = "moldau"


class AccessControl:
    """Stands before an application; whom it has recognised is `request.state.user`."""

    def __init__(self, app: "ASGIApp", rules: RequestRules) -> None:
        self._app = app
        self._rules = rules
        self._checking = asyncio.Semaphore(_MISTAKES_AT_ONCE_MAX)

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        request = Request(scope)
        try:
            user = await self._admit(request)
        except WebError as error:
            await JSONResponse(error.body(), error.status, self._challenge(error))(
                scope, receive, send
            )
            return
        request.state.user = user
        await self._app(scope, receive, send)

    async def _admit(self, request: Request) -> "User | None":
        rules = self._rules
        _check_origin(request, is_loopback=rules.is_loopback and rules.users is None)
        if rules.users is None:
            return None
        header = request.headers.get("authorization", "")
        user = await self._recognise(rules.users, header) if header else None
        if user is None:
            raise WebError(_UNAUTHORIZED, "Unauthorized")
        if user.is_read_only and not rules.is_read(request):
            raise WebError(_FORBIDDEN, f"{user.name} may only read")
        return user

    async def _recognise(self, users: "Users", header: str) -> "User | None":
        async with self._checking:  # each may take 16 MB and some time: in a thread, few at once
            return await asyncio.to_thread(users.authenticate, header)

    def _challenge(self, error: WebError) -> dict[str, str]:
        if error.status != _UNAUTHORIZED:
            return {}
        return {"WWW-Authenticate": f'Basic realm="{self._rules.realm}"'}


def _check_origin(request: Request, *, is_loopback: bool) -> None:
    host = request.headers.get("host", "")
    if is_loopback and urlsplit(f"//{host}").hostname not in _LOOPBACK_HOSTS:
        raise WebError(_MISDIRECTED, f"this is not {host}: only this machine is served")
    origin = request.headers.get("origin")
    if origin and request.method not in _READING and urlsplit(origin).netloc != host:
        raise WebError(_FORBIDDEN, f"pages of {origin} may not write here")
