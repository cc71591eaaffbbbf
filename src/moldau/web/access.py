"""Lets requests through to an application, or answers 401, 403 or 421 in its place."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
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


class PasswordLogins(Protocol):
    """Says who a name and a password belong to, by asking somebody else."""

    async def authenticate(self, header: str) -> "User | None":
        """Who sent this `Authorization`; None if nobody is known by it."""


Recognise = Callable[[Request], "User | None"]
"""Whom a request is from; None if this way does not say."""


@dataclass(frozen=True, slots=True)
class RequestRules:
    """Who may ask what."""

    users: "Users | None" = None
    """None, and no other way to log in: everybody may do everything, as on a loopback address."""
    is_loopback: bool = True
    """Then only this machine's own names are answered to: a page of another site that has its
    name point to 127.0.0.1 would otherwise be let in by the browser of its reader."""
    is_read: Callable[[Request], bool] = only_reads
    """Which requests a read-only user may make."""
    realm: str = "moldau"
    recognisers: "tuple[Recognise, ...]" = ()
    """Other ways than a password: a session, or a proxy that vouches for somebody."""
    logins: PasswordLogins | None = None
    """In place of users: passwords that another server knows."""
    hosts: tuple[str, ...] = ()
    """Names, with their ports, that it is asked by; any where there are none."""

    @property
    def has_logins(self) -> bool:
        """Whether it matters who asks."""
        return self.takes_passwords or bool(self.recognisers)

    @property
    def takes_passwords(self) -> bool:
        """Whether somebody may log in with a name and a password."""
        return self.users is not None or self.logins is not None


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
        _check_origin(request, is_loopback=rules.is_loopback and not rules.has_logins)
        if rules.hosts and request.headers.get("host", "").lower() not in rules.hosts:
            raise WebError(_MISDIRECTED, "it is not served under this name")
        if not rules.has_logins:
            return None
        user = next((found for each in rules.recognisers if (found := each(request))), None)
        header = request.headers.get("authorization", "")
        if user is None and header:
            user = await self._recognise(header)
        if user is None:
            raise WebError(_UNAUTHORIZED, "Unauthorized")
        if user.is_read_only and not rules.is_read(request):
            raise WebError(_FORBIDDEN, f"{user.name} may only read")
        return user

    async def _recognise(self, header: str) -> "User | None":
        rules = self._rules
        if rules.logins is not None:
            return await rules.logins.authenticate(header)
        if rules.users is None:
            return None
        async with self._checking:  # each may take 16 MB and some time: in a thread, few at once
            return await asyncio.to_thread(rules.users.authenticate, header)

    def _challenge(self, error: WebError) -> dict[str, str]:
        if error.status != _UNAUTHORIZED or not self._rules.takes_passwords:
            return {}
        return {"WWW-Authenticate": f'Basic realm="{self._rules.realm}"'}


def _check_origin(request: Request, *, is_loopback: bool) -> None:
    host = request.headers.get("host", "")
    if is_loopback and urlsplit(f"//{host}").hostname not in _LOOPBACK_HOSTS:
        raise WebError(_MISDIRECTED, f"this is not {host}: only this machine is served")
    origin = request.headers.get("origin")
    if origin and request.method not in _READING and urlsplit(origin).netloc != host:
        raise WebError(_FORBIDDEN, f"pages of {origin} may not write here")
