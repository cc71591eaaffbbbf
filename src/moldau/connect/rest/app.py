"""The paths of Connect's REST interface, and who may use them."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from moldau.connect.rest.handlers import ConnectHandlers
from moldau.web.access import AccessControl, RequestRules
from moldau.web.application import application

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from moldau.web.users import Users

Endpoint = Callable[[Request], Awaitable[Response]]
_ONE = "/connectors/{name}"
_TASK = f"{_ONE}/tasks/{{task}}"
_PLUGIN = "/connector-plugins/{plugin}/config"
_UNAVAILABLE = 503


def connect_app(
    handlers: ConnectHandlers, users: "Users | None" = None, *, is_loopback: bool = True
) -> "ASGIApp":
    """The application."""
    routes: dict[str, dict[str, Endpoint]] = {}
    for (method, path), endpoint in _endpoints(handlers).items():
        routes.setdefault(path, {})[method] = endpoint
    app = application([Route(path, _Methods(known)) for path, known in routes.items()])
    rules = RequestRules(users, is_loopback=is_loopback, realm="connect")
    return AccessControl(_RawPaths(app), rules)


def _endpoints(on: ConnectHandlers) -> dict[tuple[str, str], Endpoint]:
    return {
        ("GET", "/"): on.root,
        ("GET", "/health"): on.health,
        ("GET", "/metrics"): on.metrics,
        ("GET", "/connectors"): on.connectors,
        ("POST", "/connectors"): on.create,
        ("GET", _ONE): on.info,
        ("DELETE", _ONE): on.delete,
        ("GET", f"{_ONE}/config"): on.config,
        ("PUT", f"{_ONE}/config"): on.put_config,
        ("PATCH", f"{_ONE}/config"): on.patch_config,
        ("GET", f"{_ONE}/status"): on.status,
        ("POST", f"{_ONE}/restart"): on.restart,
        ("PUT", f"{_ONE}/pause"): on.pause,
        ("PUT", f"{_ONE}/resume"): on.resume,
        ("PUT", f"{_ONE}/stop"): on.stop,
        ("GET", f"{_ONE}/tasks"): on.tasks,
        ("GET", f"{_ONE}/tasks-config"): on.task_configs,
        ("GET", f"{_TASK}/status"): on.task_status,
        ("POST", f"{_TASK}/restart"): on.restart_task,
        ("GET", f"{_ONE}/offsets"): on.offsets,
        ("PATCH", f"{_ONE}/offsets"): on.alter_offsets,
        ("DELETE", f"{_ONE}/offsets"): on.reset_offsets,
        ("GET", f"{_ONE}/topics"): on.topics,
        ("PUT", f"{_ONE}/topics/reset"): on.reset_topics,
        ("GET", "/connector-plugins"): on.plugins,
        ("GET", _PLUGIN): on.plugin_config,
        ("PUT", f"{_PLUGIN}/validate"): on.validate,
        ("GET", "/admin/loggers"): on.loggers,
        ("GET", "/admin/loggers/{logger}"): on.logger,
        ("PUT", "/admin/loggers/{logger}"): on.set_logger,
    }


class _Methods:
    """One path's endpoints; others are not allowed, in Connect's words."""

    def __init__(self, known: dict[str, Endpoint]) -> None:
        self._known = known

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        request = Request(scope, receive)
        endpoint = self._known.get("GET" if request.method == "HEAD" else request.method)
        if endpoint is None:
            body = {"error_code": 405, "message": "HTTP 405 Method Not Allowed"}
            answer: Response = JSONResponse(body, 405)
        else:
            answer = await endpoint(request)
        await answer(scope, receive, send)


class StandByApp:
    """Says why there is no worker here as yet, until there is one."""

    def __init__(self) -> None:
        self.app: ASGIApp | None = None
        self.why = "Worker is still starting up."

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer one request."""
        if self.app is not None:
            await self.app(scope, receive, send)
            return
        body: dict[str, object] = {"error_code": _UNAVAILABLE, "message": self.why}
        if scope.get("path") == "/health":
            body = {"status": "starting", "message": self.why}
        await JSONResponse(body, _UNAVAILABLE)(scope, receive, send)


class _RawPaths:
    """Has routes look at paths as they were sent: a connector's name may have a slash, as %2F.

    A slash at the end says nothing, as to Apache's: kcctl asks for `/connectors/`.
    """

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        path = scope["raw_path"].decode("ascii")
        await self._app({**scope, "path": path.rstrip("/") or "/"}, receive, send)
