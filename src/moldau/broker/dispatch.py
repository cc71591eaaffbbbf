"""From a frame to its answer: the way of every request through the broker.

Errors end here. What cannot be decoded, or asks for something unknown, closes the
connection without an answer, as Kafka does; a `KafkaError` becomes the error response
of the API; any other exception becomes UNKNOWN_SERVER_ERROR and a log entry.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from moldau.broker.context import Client, Context
from moldau.broker.routes import Handle, Route
from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.net.connection import CloseConnection, Part
from moldau.protocol.apis import Api
from moldau.protocol.codec import decode, encode_parts
from moldau.protocol.headers import RequestHeader, decode_request_header, encode_response_header
from moldau.protocol.schema import fields_of
from moldau.runtime.clock import Clock
from moldau.runtime.metrics import Counter, Durations, Metrics

_log = logging.getLogger(__name__)

API_VERSIONS = 18

Refuse = Callable[[Any, Context, KafkaError], object]


@dataclass(slots=True)
class _Served:
    """A route made ready: its handler loaded, its counters at hand."""

    api: Api
    versions: range
    handle: Handle
    refuse: Refuse
    request: type
    total_time: Durations
    requests: dict[int, Counter]


class Dispatcher:
    """Answers the frames of all connections of one broker."""

    def __init__(
        self, routes: Iterable[Route], broker: object, *, clock: Clock, metrics: Metrics
    ) -> None:
        self._routes = {route.api.key: route for route in routes}
        self._broker = broker
        self._clock = clock
        self._metrics = metrics
        self._served: dict[int, _Served] = {}

    async def respond(self, client: Client, frame: memoryview) -> list[Part] | None:
        """The parts of the framed answer, or None if the client expects none."""
        began_ns = self._clock.monotonic_ns()
        try:
            header, position = decode_request_header(frame)
        except ProtocolError as error:
            raise CloseConnection(str(error)) from error
        served = self._served.get(header.api_key) or self._serve(header.api_key)
        version = header.api_version
        if version not in served.versions:
            if header.api_key != API_VERSIONS:
                raise CloseConnection(f"{served.api.name} version {version} is not served")
            # The client cannot know which version would have been right: the oldest is.
            version = 0
            request: Any = served.request()
        else:
            try:
                request, _ = decode(served.request, version, frame, position)
            except ProtocolError as error:
                message = f"{served.api.name} version {version}: {error}"
                raise CloseConnection(message) from error
        context = Context(header.api_version, header.client_id or "", client)
        response = await self._answer(served, request, context)
        self._count(served, version, began_ns)
        return None if response is None else _framed(response, header, version)

    async def answer(self, api_key: int, request: object, context: Context) -> object:
        """The answer to a request that needs no frame, since it comes from this process."""
        served = self._served.get(api_key) or self._serve(api_key)
        return await self._answer(served, request, context)

    def wrap(self, api_key: int, wrapper: Callable[[Handle], Handle]) -> None:
        """Let tests come between the requests of an API and its handler."""
        served = self._served.get(api_key) or self._serve(api_key)
        served.handle = wrapper(served.handle)

    def _serve(self, api_key: int) -> _Served:
        route = self._routes.get(api_key)
        if route is None:
            raise CloseConnection(f"API key {api_key} is not served")
        handler = route.handler
        api = route.api
        served = self._served[api_key] = _Served(
            api=api,
            versions=route.versions,
            handle=handler.handle,
            refuse=getattr(handler, "refuse", None) or _refuser(api),
            request=api.request,
            total_time=self._metrics.durations(
                "kafka_network_requestmetrics_totaltimems", request=api.name
            ),
            requests={},
        )
        return served

    async def _answer(self, served: _Served, request: Any, context: Context) -> Any:
        try:
            return await served.handle(request, context, self._broker)
        except KafkaError as error:
            return served.refuse(request, context, error)
        except CloseConnection:
            raise
        except Exception:  # noqa: BLE001 - the one place where anything becomes an answer
            _log.exception("%s from %s failed", served.api.name, context.client.host)
            unknown = KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
            return served.refuse(request, context, unknown)

    def _count(self, served: _Served, version: int, began_ns: int) -> None:
        served.total_time.record(self._clock.monotonic_ns() - began_ns)
        counter = served.requests.get(version)
        if counter is None:
            counter = served.requests[version] = self._metrics.counter(
                "kafka_network_requestmetrics_requests_total",
                request=served.api.name,
                version=str(version),
            )
        counter.value += 1


def _framed(response: object, header: RequestHeader, version: int) -> list[Part]:
    parts = encode_parts(response, version)
    prefix = encode_response_header(header.correlation_id, header.api_key, version)
    size = len(prefix) + sum(map(len, parts))
    return [size.to_bytes(4, "big") + prefix, *parts]


def _refuser(api: Api) -> Refuse:
    """For the many APIs whose response has one error code for all of it."""
    fields = {field.name: field for field in fields_of(api.response)}

    def refuse(_request: Any, _context: Context, error: KafkaError) -> object:
        if "error_code" not in fields:
            raise CloseConnection(f"{api.name} failed: {error.code.name}")
        values = {name: [] if field.is_array else field.default for name, field in fields.items()}
        values["error_code"] = error.code
        if "error_message" in fields:
            values["error_message"] = str(error)
        return api.response(**values)

    return refuse
