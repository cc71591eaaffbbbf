"""From a frame to its answer: the way of every request through the broker.

Errors end here. What cannot be decoded, or asks for something unknown, closes the
connection without an answer, as Kafka does; a `KafkaError` becomes the error response
of the API; any other exception becomes UNKNOWN_SERVER_ERROR and a log entry.
"""

import logging
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from moldau.broker.context import Client, Context
from moldau.broker.routes import Handle, Route
from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.net.connection import CloseConnection, Part
from moldau.protocol.apis import Api
from moldau.protocol.codec import Decoder, Encoder, decoder_of, encoder_of
from moldau.protocol.headers import decode_request_header, response_header_version
from moldau.protocol.schema import fields_of
from moldau.runtime.clock import Clock
from moldau.runtime.metrics import Counter, Durations, Metrics

_log = logging.getLogger(__name__)

API_VERSIONS = 18

Refuse = Callable[[Any, Context, KafkaError], object]


# What stands before an answer: its size, the correlation id and, in flexible versions, the
# count of tagged fields, which is 0.
_PREFIX = struct.Struct(">ii")
_FLEXIBLE_PREFIX = struct.Struct(">iix")
_SIZE_BYTES = 4


@dataclass(slots=True)
class _Version:
    """One version of an API made ready: its codec and its counter at hand."""

    decode: Decoder[Any]
    encode: Encoder
    prefix: struct.Struct
    requests: Counter


@dataclass(slots=True)
class _Served:
    """A route made ready: its handler loaded, its metrics at hand."""

    api: Api
    range: range
    handle: Handle
    refuse: Refuse
    total_time: Durations
    versions: dict[int, _Version]


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
        version = served.versions.get(header.api_version)
        if version is None:
            version = self._version(served, header.api_version)
        context = Context(header.api_version, header.client_id or "", client)
        if header.api_version in served.range:
            try:
                request, _ = version.decode(frame, position)
            except ProtocolError as error:
                message = f"{served.api.name} version {header.api_version}: {error}"
                raise CloseConnection(message) from error
        else:
            request = served.api.request()
        response = await self._answer(served, request, context)
        served.total_time.record(self._clock.monotonic_ns() - began_ns)
        version.requests.value += 1
        if response is None:
            return None
        parts = version.encode(response)
        size = version.prefix.size - _SIZE_BYTES + sum(map(len, parts))
        return [version.prefix.pack(size, header.correlation_id), *parts]

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
            range=route.versions,
            handle=handler.handle,
            refuse=getattr(handler, "refuse", None) or _refuser(api),
            total_time=self._metrics.durations(
                "kafka_network_requestmetrics_totaltimems", request=api.name
            ),
            versions={},
        )
        return served

    def _version(self, served: _Served, api_version: int) -> _Version:
        """Make a version ready; closes the connection of whoever asks for one too many.

        Who asks for a version of ApiVersions that is not served cannot know which would have
        been right, and gets the oldest.
        """
        api = served.api
        is_served = api_version in served.range
        if not is_served and api.key != API_VERSIONS:
            raise CloseConnection(f"{api.name} version {api_version} is not served")
        told = api_version if is_served else 0
        is_flexible = response_header_version(api.key, told) > 0
        version = _Version(
            decode=decoder_of(api.request, told),
            encode=encoder_of(api.response, told),
            prefix=_FLEXIBLE_PREFIX if is_flexible else _PREFIX,
            requests=self._metrics.counter(
                "kafka_network_requestmetrics_requests_total", request=api.name, version=str(told)
            ),
        )
        if is_served:  # or there would be one for every number that anyone thinks of
            served.versions[api_version] = version
        return version

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
