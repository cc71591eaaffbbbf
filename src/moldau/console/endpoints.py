"""A path of the API: the role that it takes, and the one gate that all requests pass."""

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from moldau.console.access import Actor, ConsoleRights, Role
from moldau.console.audit import AuditTrail
from moldau.console.cluster import ConsoleCluster
from moldau.console.login.kafka import KafkaUser
from moldau.console.masking import Masks
from moldau.errors import ErrorCode, KafkaError
from moldau.web.bodies import read_json
from moldau.web.errors import WebError

if TYPE_CHECKING:
    from moldau.client.admin.admin import Admin
    from moldau.client.admin.outcomes import Outcomes
    from moldau.client.serdes.registered import RegisteredValues
    from moldau.console.login.sessions import BrowserLogins
    from moldau.console.masking import TopicMask
    from moldau.console.sampling import Sampler
    from moldau.console.services.rest import RestService

_log = logging.getLogger(__name__)

PREFIX = "/api/clusters/{cluster}"
_BESIDE = ("connect", "schemas", "streams")
_BODY_BYTES_MAX = 1 << 20
_READING = ("GET", "HEAD")
_FORBIDDEN, _NOT_FOUND, _UNAVAILABLE, _REFUSED = 403, 404, 503, 409
_STATUS = {
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: _FORBIDDEN,
    ErrorCode.GROUP_AUTHORIZATION_FAILED: _FORBIDDEN,
    ErrorCode.SASL_AUTHENTICATION_FAILED: _FORBIDDEN,
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: _FORBIDDEN,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: _NOT_FOUND,
    ErrorCode.GROUP_ID_NOT_FOUND: _NOT_FOUND,
    ErrorCode.RESOURCE_NOT_FOUND: _NOT_FOUND,
    ErrorCode.TRANSACTIONAL_ID_NOT_FOUND: _NOT_FOUND,
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: _FORBIDDEN,
    ErrorCode.NETWORK_EXCEPTION: _UNAVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT: _UNAVAILABLE,
    ErrorCode.COORDINATOR_NOT_AVAILABLE: _UNAVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: _UNAVAILABLE,
}


@dataclass(frozen=True, slots=True)
class Console:
    """What all requests share."""

    clusters: Mapping[str, ConsoleCluster]
    samplers: "Mapping[str, Sampler]"
    rights: ConsoleRights = field(default_factory=ConsoleRights)
    audit: AuditTrail = field(default_factory=AuditTrail)
    registered: "RegisteredValues | None" = None
    """Reads values of registered schemas, if there is a registry."""
    schemas: "RestService | None" = None
    """The registry itself."""
    connect: "Mapping[str, RestService]" = field(default_factory=dict)
    """Workers of Connect by their names."""
    streams: "Mapping[str, RestService]" = field(default_factory=dict)
    """Streams applications by their names."""
    masks: Masks = field(default_factory=Masks)
    sessions: "BrowserLogins | None" = None
    """Logins that another server has done, if there is one."""


@dataclass(frozen=True, slots=True)
class ApiCall:
    """One request, let through."""

    request: Request
    console: Console
    cluster: ConsoleCluster
    actor: Actor

    @property
    def mask(self) -> "TopicMask | None":
        """What is hidden of the records of the topic in the path."""
        return self.console.masks.of(self.path("topic"))

    def require(self, role: Role, topic: str) -> None:
        """Refuse those who have not this role on another topic than that of the path."""
        _require(self.actor, role, topic)

    def path(self, name: str) -> str:
        """A part of the path."""
        return unquote(self.request.path_params[name])

    def text(self, name: str, default: str = "") -> str:
        """A parameter of the query."""
        return self.request.query_params.get(name, default)

    def number(self, name: str, default: int, *, low: int, high: int) -> int:
        """A whole number of the query, within bounds."""
        given = self.text(name)
        if not given:
            return default
        try:
            return min(max(int(given), low), high)
        except ValueError:
            raise WebError(400, f"{name}={given} is no whole number") from None

    async def body(self) -> dict[str, object]:
        """The object that was sent."""
        found = await read_json(self.request, _BODY_BYTES_MAX)
        if not isinstance(found, dict):
            raise WebError(400, "the body is no JSON object")
        return found

    async def admin(self) -> "Admin":
        """The admin client of the cluster."""
        return await self.cluster.admin()


Said = TypeVar("Said")
Handle = Callable[[ApiCall], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class ApiEndpoint:
    """A method and a path; what it returns is JSON unless it is a response."""

    method: str
    path: str
    role: Role
    summary: str
    handle: Handle
    query: Mapping[str, str] = field(default_factory=dict)
    """Parameters by their names, and what they mean."""
    body: Mapping[str, str] = field(default_factory=dict)
    """Fields of the object that is sent."""
    is_audited_read: bool = False
    """Whether a look is noted as well: records are."""
    is_masked: bool = False
    """Whether it keeps to the masks of its topic, or shows no records. Readers and operators may
    not use others on a topic that has masks, so none is forgotten."""

    @property
    def is_beside(self) -> bool:
        """Whether it is about what the cluster's own access rules do not cover."""
        return self.path.startswith(tuple(f"{PREFIX}/{name}" for name in _BESIDE))

    @property
    def is_audited(self) -> bool:
        """Whether its use is noted."""
        return self.is_audited_read or self.method not in _READING


def route(endpoint: ApiEndpoint, console: Console) -> Route:
    """The way of a request to an endpoint, with the gate before it."""

    async def answer(request: Request) -> Response:
        user = getattr(request.state, "user", None)
        own = console
        if isinstance(user, KafkaUser):
            own = replace(console, clusters=user.clusters, samplers=user.samplers)
        actor = console.rights.actor(user, is_ruled_by_cluster=own is not console)
        status = 500
        try:
            response = await _answer(endpoint, request, own, actor)
            status = response.status_code
        except WebError as error:
            status = error.status
            raise
        finally:
            if endpoint.is_audited:
                action = f"{endpoint.method} {unquote(request.url.path)}"
                console.audit.note(actor.name, action, status, {"query": str(request.url.query)})
        return response

    return Route(endpoint.path, answer, methods=[endpoint.method])


async def _answer(
    endpoint: ApiEndpoint, request: Request, console: Console, actor: Actor
) -> Response:
    _refuse_other_pages(request)
    topic = request.path_params.get("topic")
    if endpoint.is_beside:
        actor = replace(actor, role=actor.role_beside)
    _require(actor, endpoint.role, None if topic is None else unquote(topic))
    if topic is not None and not _keeps_to_masks(endpoint, console.masks.of(unquote(topic))):
        raise WebError(_FORBIDDEN, "parts of these records are hidden, which this cannot do")
    named = unquote(request.path_params.get("cluster", next(iter(console.clusters))))
    cluster = console.clusters.get(named)
    if cluster is None:
        raise WebError(_NOT_FOUND, f"there is no cluster {named}")
    try:
        found = await endpoint.handle(ApiCall(request, console, cluster, actor))
    except KafkaError as error:
        raise web_error(error) from error
    except TimeoutError as error:
        raise WebError(_UNAVAILABLE, "the cluster did not answer in time") from error
    return found if isinstance(found, Response) else JSONResponse(found)


def _refuse_other_pages(request: Request) -> None:
    """403 for what a page of another site asks for: it gets no answer, but looks are work too.

    Browsers say where a request comes from, and that it is a link somebody has followed.
    """
    headers = request.headers
    is_own = headers.get("sec-fetch-site", "none") in ("same-origin", "none")
    if not is_own and headers.get("sec-fetch-mode") != "navigate":
        raise WebError(_FORBIDDEN, "pages of other sites may not ask here")


def _require(actor: Actor, needed: Role, topic: str | None) -> None:
    role = actor.role if topic is None else actor.role_on(topic)
    if role < needed:
        where = "" if topic is None else f" on {topic}"
        message = f"{actor.name} is {role.name.lower()}{where}: this takes {needed.name.lower()}"
        raise WebError(_FORBIDDEN, message)


def _keeps_to_masks(endpoint: ApiEndpoint, mask: "TopicMask | None") -> bool:
    is_about_records = endpoint.role in (Role.READER, Role.OPERATOR)
    return mask is None or endpoint.is_masked or not is_about_records


def web_error(error: KafkaError) -> WebError:
    """An error of the cluster as one of HTTP, with Kafka's code in it."""
    message = f"{error.code.name}: {error.message or error}"
    return WebError(_STATUS.get(error.code, _REFUSED), message, int(error.code))


def described(error: KafkaError) -> dict[str, object]:
    """An error beside results that are there: the rest of the page is shown."""
    return {"error": error.code.name, "message": error.message or str(error)}


def answered(found: "Outcomes[int, Said]") -> "dict[int, Said]":
    """What brokers said; if none said anything, the error of one of them."""
    if found.errors and not found.succeeded:
        found.check()
    return found.succeeded


def silent(found: "Outcomes[int, Said]") -> list[dict[str, object]]:
    """The brokers that said nothing, and why: a page marks that it is not whole."""
    return [{"broker": broker, **described(error)} for broker, error in found.errors.items()]


def to_json(value: object) -> str:
    """Compact, for streams."""
    return json.dumps(value, separators=(",", ":"), default=str)
