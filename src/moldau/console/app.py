"""The console as an application: its API, its pages, and the headers that keep them apart."""

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from moldau.console import events
from moldau.console.api import (
    acls,
    clusters,
    connect,
    deletions,
    exports,
    group_parts,
    groups,
    live,
    messages,
    producing,
    queries,
    quotas,
    reassignments,
    schemas,
    spreading,
    streams,
    topics,
    transactions,
    transfers,
    users,
    versions,
    why,
)
from moldau.console.assets import Asset, Assets
from moldau.console.endpoints import Console, route
from moldau.console.login.pages import LoginPages
from moldau.console.openapi import document
from moldau.web.access import AccessControl, RequestRules
from moldau.web.application import application
from moldau.web.errors import WebError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from moldau.console.login.oidc import OidcProvider
    from moldau.web.access import PasswordLogins
    from moldau.web.proxies import TrustedProxy
    from moldau.web.users import Users

ENDPOINTS = (
    *clusters.ENDPOINTS,
    *versions.ENDPOINTS,
    *topics.ENDPOINTS,
    *deletions.ENDPOINTS,
    *messages.ENDPOINTS,
    *exports.ENDPOINTS,
    *producing.ENDPOINTS,
    *live.ENDPOINTS,
    *queries.ENDPOINTS,
    *transfers.ENDPOINTS,
    *groups.ENDPOINTS,
    *group_parts.ENDPOINTS,
    *events.ENDPOINTS,
    *acls.ENDPOINTS,
    *users.ENDPOINTS,
    *quotas.ENDPOINTS,
    *transactions.ENDPOINTS,
    *reassignments.ENDPOINTS,
    *spreading.ENDPOINTS,
    *schemas.ENDPOINTS,
    *connect.ENDPOINTS,
    *streams.ENDPOINTS,
    *why.ENDPOINTS,
)


def console_app(
    console: Console,
    users: "Users | None" = None,
    *,
    is_loopback: bool = True,
    proxy: "TrustedProxy | None" = None,
    provider: "OidcProvider | None" = None,
    logins: "PasswordLogins | None" = None,
) -> "ASGIApp":
    """The application; who asks is checked before anything else."""
    assets = Assets()

    async def openapi(_: Request) -> Response:
        return JSONResponse(document(ENDPOINTS))

    async def file(request: Request) -> Response:
        found = assets.find(request.path_params["path"])
        if found is None:
            raise WebError(404, "there is no such file")
        return _file(request, found)

    async def page(request: Request) -> Response:
        return _file(request, assets.page)

    async def no_endpoint(request: Request) -> Response:
        raise WebError(404, f"there is no {request.method} {request.url.path}")

    routes = [
        Route("/api/openapi.json", openapi),
        *(route(each, console) for each in ENDPOINTS),
        Route("/api/{rest:path}", no_endpoint, methods=["GET", "POST", "PUT", "PATCH", "DELETE"]),
        Route("/static/{path:path}", file),
        Route("/{rest:path}", page),
    ]
    ways = [each.recognise for each in (proxy, console.sessions) if each is not None]
    hosts = () if provider is None else (urlsplit(provider.options.url).netloc.lower(),)
    rules = RequestRules(
        users,
        is_loopback=is_loopback,
        is_read=_by_role,
        realm="console",
        recognisers=tuple(ways),
        logins=logins,
        hosts=hosts,
    )
    app: ASGIApp = AccessControl(application(routes), rules)
    if provider is not None:
        assert console.sessions is not None, "made with the provider"
        app = LoginPages(app, provider, console.sessions)
    return _Guarded(app, assets.policy)


def _by_role(_: Request) -> bool:
    """Endpoints look at roles themselves."""
    return True


def _file(request: Request, asset: Asset) -> Response:
    headers = {"ETag": asset.tag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    if request.headers.get("if-none-match") == asset.tag:
        return Response(status_code=304, headers=headers)
    content = asset.content
    if asset.compressed is not None and "gzip" in request.headers.get("accept-encoding", ""):
        content = asset.compressed
        headers["Content-Encoding"] = "gzip"
    return Response(content, headers=headers, media_type=asset.media_type)


class _Guarded:
    """Puts the same headers on every answer, and has routes see paths as they were sent.

    A group may have a slash in its name, as %2F.
    """

    def __init__(self, app: "ASGIApp", policy: str) -> None:
        self._app = app
        self._headers = {
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
        }

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http":
            return

        async def send_guarded(message: "Message") -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        path = scope["raw_path"].decode("ascii")
        await self._app({**scope, "path": path}, receive, send_guarded)
