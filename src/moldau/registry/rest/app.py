"""The paths of the registry, and who may use them."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from moldau.registry.rest.answers import CONTENT_TYPE
from moldau.registry.rest.forwarding import Forwarding
from moldau.registry.rest.handlers import Handlers
from moldau.registry.service import RegistryService
from moldau.web.access import AccessControl, RequestRules, only_reads
from moldau.web.application import application
from moldau.web.errors import WebError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from moldau.web.users import Users

_VERSIONS = "/subjects/{subject}/versions"
Endpoint = Callable[[Request], Awaitable[Response]]


def registry_app(
    service: RegistryService,
    users: "Users | None" = None,
    *,
    is_loopback: bool = True,
    forwarding: Forwarding | None = None,
) -> "ASGIApp":
    """The application."""
    handlers = Handlers(service, forwarding or Forwarding())
    routes = [
        Route(path, endpoint, methods=[method])
        for (method, path), endpoint in _endpoints(handlers).items()
    ]
    routes.append(Route("/contexts/{context}/{rest:path}", handlers.no_context))
    app = application(routes, CONTENT_TYPE)
    rules = RequestRules(users, is_loopback=is_loopback, is_read=_is_read, realm="registry")
    return AccessControl(_RawPaths(app), rules)


def _endpoints(on: Handlers) -> dict[tuple[str, str], Endpoint]:
    return {
        ("GET", "/"): on.root,
        ("GET", "/schemas"): on.schemas,
        ("GET", "/schemas/types"): on.kinds,
        ("GET", "/schemas/ids/{id}"): on.schema,
        ("GET", "/schemas/ids/{id}/schema"): on.schema_text,
        ("GET", "/schemas/ids/{id}/subjects"): on.subjects_of_schema,
        ("GET", "/schemas/ids/{id}/versions"): on.versions_of_schema,
        ("GET", "/subjects"): on.subjects,
        ("POST", "/subjects/{subject}"): on.look_up,
        ("DELETE", "/subjects/{subject}"): on.delete_subject,
        ("GET", _VERSIONS): on.versions,
        ("POST", _VERSIONS): on.register,
        ("GET", f"{_VERSIONS}/{{version}}"): on.version,
        ("DELETE", f"{_VERSIONS}/{{version}}"): on.delete_version,
        ("GET", f"{_VERSIONS}/{{version}}/schema"): on.version_text,
        ("GET", f"{_VERSIONS}/{{version}}/referencedby"): on.referrers,
        ("POST", f"/compatibility{_VERSIONS}"): on.compatibility,
        ("POST", f"/compatibility{_VERSIONS}/{{version}}"): on.compatibility,
        ("GET", "/config"): on.config,
        ("PUT", "/config"): on.set_config,
        ("DELETE", "/config"): on.delete_config,
        ("GET", "/config/{subject}"): on.config,
        ("PUT", "/config/{subject}"): on.set_config,
        ("DELETE", "/config/{subject}"): on.delete_config,
        ("GET", "/mode"): on.mode,
        ("PUT", "/mode"): on.set_mode,
        ("DELETE", "/mode"): on.delete_mode,
        ("GET", "/mode/{subject}"): on.mode,
        ("PUT", "/mode/{subject}"): on.set_mode,
        ("DELETE", "/mode/{subject}"): on.delete_mode,
        ("GET", "/contexts"): on.contexts,
        ("GET", "/v1/metadata/id"): on.cluster,
    }


def _is_read(request: Request) -> bool:
    """Looking up and comparing change nothing, though a schema is sent for it."""
    path = request.scope["raw_path"].decode("ascii")
    is_look_up = path.startswith("/subjects/") and path.rstrip("/").count("/") == 2
    is_sent = request.method == "POST" and (path.startswith("/compatibility/") or is_look_up)
    return is_sent or only_reads(request)


class StartingApp:
    """Says that the registry starts, until it has read its topic and there is an application."""

    def __init__(self) -> None:
        self.app: ASGIApp | None = None

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer one request."""
        app = self.app
        if app is None:
            error = WebError(503, "the registry starts: its topic is being read", 50001)
            app = JSONResponse(error.body(), error.status, media_type=CONTENT_TYPE)
        await app(scope, receive, send)


class _RawPaths:
    """Has routes look at paths as they were sent: a subject may have a slash, as %2F."""

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        await self._app({**scope, "path": scope["raw_path"].decode("ascii")}, receive, send)
