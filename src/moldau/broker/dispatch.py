"""From a frame to its answer: the way of every request through the broker.

Errors end here. What cannot be decoded, or asks for something unknown, closes the
connection without an answer, as Kafka does; a `KafkaError` becomes the error response
of the API; any other exception becomes UNKNOWN_SERVER_ERROR and a log entry.
"""

import logging
import struct
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from moldau.broker.context import Client, Context
from moldau.broker.request_times import ApiTimes, RequestTimes, times_of_api
from moldau.broker.routes import Handle, Route
from moldau.coordination.tree import SessionError
from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.net.answer import CloseConnection, Later, Parked, Part, Promised
from moldau.protocol.apis import Api
from moldau.protocol.codec import Decoder, Encoder, decoder_of, encoder_of
from moldau.protocol.headers import decode_request_header, response_header_version
from moldau.protocol.schema import fields_of
from moldau.runtime import eager
from moldau.runtime.clock import Clock
from moldau.runtime.metrics import Counter, Metrics
from moldau.runtime.threads import in_thread

_log = logging.getLogger(__name__)

API_VERSIONS = 18


class PromisedAnswer(Promised):
    """What a shortcut promises."""

    __slots__ = ("client",)
    client: Client
    """Set by the dispatcher: an error may have to be told differently from client to client."""


Refuse = Callable[[Any, Context, KafkaError], object]
Shortcut = Callable[[memoryview], bytearray | list[Part] | Parked | PromisedAnswer | None]
MakeShortcut = Callable[[ApiTimes, dict[int, Counter]], Shortcut]
NO_SHORTCUTS: Mapping[int, MakeShortcut] = {}


# What stands before an answer: its size, the correlation id and, in flexible versions, the
# count of tagged fields, which is 0.
_PREFIX = struct.Struct(">ii")
_FLEXIBLE_PREFIX = struct.Struct(">iix")
_SIZE_BYTES = 4
# A larger request is decoded in a thread: a million partitions take seconds, in which nobody
# else would be served. Those of Produce are large for their records, which are not looked at.
_DECODED_ON_LOOP_BYTES = 262_144
_DECODED_QUICKLY = (0, API_VERSIONS)


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
    times: ApiTimes
    count_error: Callable[[ErrorCode], None]
    versions: dict[int, _Version]
    requests: dict[int, Counter]
    """The counters of the versions that are ready."""


@dataclass(slots=True)
class _Exchange:
    """A request that waits."""

    served: _Served
    version: _Version
    correlation_id: int
    local_ns: int
    times: RequestTimes


Ready = list[Part] | None
Answer = Ready | Later | Promised | Parked | Coroutine[Any, Any, Ready | Later]


class Dispatcher:
    """Answers the frames of all connections of one broker."""

    def __init__(
        self,
        routes: Iterable[Route],
        broker: object,
        *,
        clock: Clock,
        metrics: Metrics,
        shortcuts: Mapping[int, MakeShortcut] = NO_SHORTCUTS,
    ) -> None:
        """`shortcuts`, by API key, answer what they can before anything is decoded."""
        self._routes = {route.api.key: route for route in routes}
        self._broker = broker
        self._clock = clock
        self._metrics = metrics
        self._served: dict[int, _Served] = {}
        self._shortcuts = dict(shortcuts)
        # Those of the APIs that were asked for, by the lower byte of the key: the upper is 0.
        self._ready: dict[int, Shortcut] = {}

    def respond(self, client: Client, frame: memoryview) -> Answer:
        """The parts of the framed answer, or None if the client expects none.

        What has to wait is returned as a coroutine, which comes to the same in the end, or as
        `Later` or `Promised` if the work is done and only the answer waits.
        """
        shortcut = self._ready.get(frame[1]) if len(frame) > 1 else None
        if shortcut is not None:
            try:
                answer = shortcut(frame)
            except Exception as error:  # nobody knows how far it came
                _log.exception("a request from %s failed", client.host)
                raise CloseConnection("a request failed") from error
            if isinstance(answer, bytearray):
                return [answer]
            if isinstance(answer, PromisedAnswer):
                answer.client = client
            elif isinstance(answer, Parked):
                answer.otherwise = partial(self._handle, client, frame)
            if answer is not None:
                return answer
        return self._handle(client, frame)

    def _handle(self, client: Client, frame: memoryview) -> Answer:
        """Have a request decoded and handled."""
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
        if len(frame) > _DECODED_ON_LOOP_BYTES and header.api_key not in _DECODED_QUICKLY:
            exchange = _Exchange(served, version, header.correlation_id, 0, served.times.usual)
            return self._respond_large(partial(version.decode, frame, position), exchange, context)
        if header.api_version in served.range:
            try:
                request, _ = version.decode(frame, position)
            except ProtocolError as error:
                message = f"{served.api.name} version {header.api_version}: {error}"
                raise CloseConnection(message) from error
        else:
            request = served.api.request()
        version.requests.value += 1
        try:
            outcome = eager.start(served.handle(request, context, self._broker))
        except Exception as error:  # noqa: BLE001 - the one place where anything becomes an answer
            outcome = eager.Finished(_refusal(error, served, request, context))
        local_ns = self._clock.monotonic_ns() - began_ns
        times = served.times.of(request)
        if isinstance(outcome, eager.Finished) and not isinstance(outcome.value, Later):
            times.record_at_once(local_ns)
            return _framed(outcome.value, version, header.correlation_id)
        exchange = _Exchange(served, version, header.correlation_id, local_ns, times)
        if isinstance(outcome, eager.Finished):
            rest = _answer_of(outcome.value.rest, served, request, context)
            return Later(self._finish(rest, exchange))
        return self._finish(_answer_of(outcome.rest, served, request, context), exchange)

    async def _respond_large(
        self, decode: Callable[[], tuple[Any, int]], exchange: _Exchange, context: Context
    ) -> list[Part] | Later | None:
        """Answer a request that takes long to decode; its frame stays until it is answered."""
        served = exchange.served
        try:
            request, _ = await in_thread(decode)
        except ProtocolError as error:
            message = f"{served.api.name} version {context.api_version}: {error}"
            raise CloseConnection(message) from error
        exchange.version.requests.value += 1
        exchange.times = served.times.of(request)
        work = served.handle(request, context, self._broker)
        return await self._finish(_answer_of(work, served, request, context), exchange)

    async def _finish(
        self, answer: Awaitable[Any], exchange: _Exchange
    ) -> list[Part] | Later | None:
        waiting_ns = self._clock.monotonic_ns()
        response = await answer
        if isinstance(response, Later):
            return Later(self._finish(response.rest, exchange))
        remote_ns = self._clock.monotonic_ns() - waiting_ns
        exchange.times.record_waited(exchange.local_ns, remote_ns)
        return _framed(response, exchange.version, exchange.correlation_id)

    async def answer(self, api_key: int, request: object, context: Context) -> object:
        """The answer to a request that needs no frame, since it comes from this process."""
        served = self._served.get(api_key) or self._serve(api_key)
        work = served.handle(request, context, self._broker)
        response = await _answer_of(work, served, request, context)
        if isinstance(response, Later):
            return await _answer_of(response.rest, served, request, context)
        return response

    def wrap(self, api_key: int, wrapper: Callable[[Handle], Handle]) -> None:
        """Let tests come between the requests of an API and its handler."""
        self._shortcuts.pop(api_key, None)
        self._ready.pop(api_key, None)
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
            times=times_of_api(self._metrics, api.name),
            count_error=partial(self._count_error, api.name),
            versions={},
            requests={},
        )
        if api_key in self._shortcuts:
            self._ready[api_key] = self._shortcuts[api_key](served.times, served.requests)
        return served

    def _count_error(self, api: str, code: ErrorCode) -> None:
        name = "kafka_network_requestmetrics_errors_total"
        self._metrics.counter(name, request=api, error=code.name).add()

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
            served.requests[api_version] = version.requests
        return version


async def _answer_of(work: Awaitable[Any], served: _Served, request: Any, context: Context) -> Any:
    try:
        return await work
    except Exception as error:  # noqa: BLE001 - the one place where anything becomes an answer
        return _refusal(error, served, request, context)


def _refusal(error: Exception, served: _Served, request: Any, context: Context) -> Any:
    """The answer that tells of an error; raises if there is none but to hang up."""
    if isinstance(error, CloseConnection):
        raise error
    if isinstance(error, SessionError):
        # Whether it took effect in the tree is not known: the client may ask again.
        message = f"the coordination tree cannot be reached: {error}"
        error = KafkaError(ErrorCode.REQUEST_TIMED_OUT, message)
    if not isinstance(error, KafkaError):
        where = context.client.host
        _log.error("%s from %s failed", served.api.name, where, exc_info=error)
        error = KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    served.count_error(error.code)
    return served.refuse(request, context, error)


def _framed(response: Any, version: _Version, correlation_id: int) -> list[Part] | None:
    if response is None:
        return None
    parts = version.encode(response)
    prefix = version.prefix
    size = prefix.size - _SIZE_BYTES
    for part in parts:
        size += len(part)
    return [prefix.pack(size, correlation_id), *parts]


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
