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

from moldau.broker.bounded import within
from moldau.broker.context import Client, Context
from moldau.broker.metrics.request_times import ApiTimes, RequestTimes, times_of_api
from moldau.broker.quotas.enforcement import Enforcement
from moldau.broker.refusals import Refuse, refuser_of
from moldau.broker.routes import Handle, Route
from moldau.config.broker.quotas import QuotaConfig
from moldau.coordination.tree import SessionError
from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.net.answer import CloseConnection, Later, Parked, Part, Promised
from moldau.protocol.apis import Api
from moldau.protocol.codec import (
    Decoder,
    Encoder,
    PausingDecoder,
    PausingEncoder,
    decoder_of,
    encoder_of,
    pausing_decoder_of,
    pausing_encoder_of,
)
from moldau.protocol.elements import has_more_elements
from moldau.protocol.headers import decode_request_header, response_header_version
from moldau.runtime import eager
from moldau.runtime.clock import Clock
from moldau.runtime.loop_use import LoopUse
from moldau.runtime.metrics import Counter, Metrics
from moldau.runtime.turns import Turns

_log = logging.getLogger(__name__)

PRODUCE = 0
API_VERSIONS = 18

Failure = Exception | None
Shortcut = Callable[[Client, memoryview], "Answer"]
MakeShortcut = Callable[[ApiTimes, dict[int, Counter]], Shortcut]
NO_SHORTCUTS: Mapping[int, MakeShortcut] = {}


# What stands before an answer: its size, the correlation id and, in flexible versions, the
# count of tagged fields, which is 0.
_PREFIX = struct.Struct(">ii")
_FLEXIBLE_PREFIX = struct.Struct(">iix")
_SIZE_BYTES = 4
# What is longer is decoded and encoded in turns with the other work of the loop: a hundred
# thousand elements take a good part of a second.
_DECODED_AT_ONCE_BYTES = 16_384
_ENCODED_AT_ONCE_ELEMENTS = 1_000
# Decoded, the smallest elements take fifty times their bytes. No client has as many partitions
# to write or read; only the requests of a controller may name all of a cluster.
ELEMENTS_MAX = 100_000
_NOT_A_BROKER = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
ANSWER_BYTES_MAX = 104_857_600


@dataclass(slots=True)
class _Version:
    """One version of an API made ready: its codec and its counter at hand."""

    decode: Decoder[Any]
    decode_in_turns: Callable[[], PausingDecoder[Any]]
    encode: Encoder
    encode_in_turns: Callable[[], PausingEncoder]
    prefix: struct.Struct
    requests: Counter


@dataclass(slots=True)
class _Served:
    """A route made ready: its handler loaded, its metrics at hand."""

    api: Api
    range: range
    elements_max: int | None
    is_of_brokers: bool
    handle: Handle
    refuse: Refuse
    times: ApiTimes
    count_error: Callable[[ErrorCode], None]
    versions: dict[int, _Version]
    requests: dict[int, Counter]
    """The counters of the versions that are ready."""


@dataclass(slots=True)
class _Exchange:
    """A request that is handled."""

    served: _Served
    version: _Version
    correlation_id: int
    context: Context
    began_ns: int
    failure: Failure
    times: RequestTimes
    local_ns: int = 0
    """How long it took until it was done, or had to wait."""
    spent_ns: int = 0
    """The loop's time that it has had in all."""


Ready = list[Part] | None
Handled = Ready | Later | Coroutine[Any, Any, Ready | Later]
Answer = Handled | Promised | Parked


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
        self.quotas = Enforcement(QuotaConfig(), clock)
        """Without any quota, unless it is replaced by those of a broker."""
        self._turns = Turns()
        self._served: dict[int, _Served] = {}
        self._shortcuts = dict(shortcuts)
        # Those of the APIs that were asked for, by the lower byte of the key: the upper is 0.
        self._ready: dict[int, Shortcut] = {}

    def respond(self, client: Client, frame: memoryview) -> Answer:
        """The parts of the framed answer, or what comes to them; None if the client expects none.

        It is `Later` or `Promised` if the work is done and only the answer waits.
        """
        shortcut = self._ready.get(frame[1]) if len(frame) > 1 else None
        if shortcut is not None:
            try:
                answer = shortcut(client, frame)
            except Exception as error:  # noqa: BLE001 - it becomes an answer, as a handler's does
                return self.handle(client, frame, failure=error)
            if isinstance(answer, list):
                return answer
            if isinstance(answer, Parked):
                answer.otherwise = partial(self.handle, client, frame)
            elif isinstance(answer, Coroutine):
                return self._or_refused(answer, client, frame)
            if answer is not None:
                return answer
        return self.handle(client, frame)

    async def _or_refused(
        self, work: Coroutine[Any, Any, Ready | Later], client: Client, frame: memoryview
    ) -> Ready | Later:
        """The answer of a shortcut that took longer, or a refusal if that failed."""
        try:
            return await work
        except Exception as error:  # noqa: BLE001 - it becomes an answer, as a handler's does
            refusal = self.handle(client, frame, failure=error)
        return await refusal if isinstance(refusal, Coroutine) else refusal

    def handle(self, client: Client, frame: memoryview, failure: Failure = None) -> Handled:
        """Have a request handled, or refused if it failed: how far it came is unknown."""
        began_ns = self._clock.monotonic_ns()
        try:
            header, position = decode_request_header(frame)
        except ProtocolError as error:
            raise CloseConnection(str(error)) from error
        served, version = self.prepare(header.api_key, header.api_version)
        client_id, name = header.client_id or "", served.api.name
        context = Context(header.api_version, client_id, client, self._turns, name, len(frame))
        exchange = _Exchange(
            served, version, header.correlation_id, context, began_ns, failure, served.times.usual
        )
        if header.api_version not in served.range:
            return self._begin(served.api.request(), exchange)
        if len(frame) > _DECODED_AT_ONCE_BYTES:
            return self._handle_long(frame, position, exchange)
        try:
            request, _ = version.decode(frame, position)
        except ProtocolError as error:
            raise _undecodable(exchange, error) from error
        return self._begin(request, exchange)

    async def _handle_long(
        self, frame: memoryview, position: int, exchange: _Exchange
    ) -> Ready | Later:
        """Have a request handled that may take long to decode; its frame stays until then."""
        served, turns = exchange.served, self._turns
        if turns.is_busy and served.api.key != PRODUCE:
            await turns.next()  # however many begin at once
        reading = exchange.version.decode_in_turns()(frame, position)
        reason = f"{served.api.name} names more than {served.elements_max} things"
        try:
            request, _ = await turns.finish(within(served.elements_max, reading, reason))
        except ProtocolError as error:
            raise _undecodable(exchange, error) from error
        answer = self._begin(request, exchange)
        if isinstance(answer, Coroutine):
            return await answer
        return answer

    def _begin(self, request: Any, exchange: _Exchange) -> Handled:
        served, context = exchange.served, exchange.context
        exchange.version.requests.value += 1
        if exchange.failure is not None:
            outcome = eager.start(_refusal(exchange.failure, served, request, context))
        else:
            try:
                outcome = eager.start(served.handle(request, context, self._broker))
            # The one place where it becomes an answer. To keep it would keep this frame as well.
            except Exception as error:  # noqa: BLE001
                outcome = eager.start(_refusal(error, served, request, context))
        local_ns = self._clock.monotonic_ns() - exchange.began_ns
        exchange.local_ns = exchange.spent_ns = local_ns
        exchange.times = served.times.of(request)
        if isinstance(outcome, eager.Finished) and not isinstance(outcome.value, Later):
            exchange.times.record_at_once(local_ns)
            return self._framed(outcome.value, exchange)
        if isinstance(outcome, eager.Finished):
            rest = _answer_of(outcome.value.rest, served, request, context)
            return Later(self._finish(rest, exchange))
        return self._finish(_answer_of(outcome.rest, served, request, context), exchange)

    async def _finish(self, answer: Coroutine[Any, Any, Any], exchange: _Exchange) -> Ready | Later:
        waiting_ns = self._clock.monotonic_ns()
        if self.quotas.is_set:
            steps = LoopUse(self._clock)
            response = await steps.of(answer)
            exchange.spent_ns += steps.spent_ns
        else:
            response = await answer
        if isinstance(response, Later):
            return Later(self._finish(response.rest, exchange))
        remote_ns = self._clock.monotonic_ns() - waiting_ns
        exchange.times.record_waited(exchange.local_ns, remote_ns)
        framed = self._framed(response, exchange)
        return await framed if isinstance(framed, Coroutine) else framed

    def _framed(self, response: Any, exchange: _Exchange) -> Ready | Coroutine[Any, Any, Ready]:
        if self.quotas.is_set:
            self._charge(response, exchange)
        if response is None:
            return None
        if has_more_elements(response, _ENCODED_AT_ONCE_ELEMENTS):
            return self._framed_in_turns(response, exchange)
        return _with_prefix(exchange.version.encode(response), exchange)

    async def _framed_in_turns(self, response: Any, exchange: _Exchange) -> Ready:
        writing = exchange.version.encode_in_turns()(response)
        name = exchange.served.api.name
        bounded = within(ANSWER_BYTES_MAX, writing, f"the answer to {name} is too long")
        return _with_prefix(await self._turns.finish(bounded), exchange)

    def _charge(self, response: Any, exchange: _Exchange) -> None:
        """Have a client wait if it uses more than it may, and say so in the answer."""
        served, context = exchange.served, exchange.context
        is_exempt = served.is_of_brokers or exchange.times is served.times.followers
        # Without acks there is no answer; who is no broker is not exempt.
        if response is None or (is_exempt and getattr(response, "error_code", 0) != _NOT_A_BROKER):
            self.quotas.note_exempt(exchange.spent_ns)
            return
        stated_ms = getattr(response, "throttle_time_ms", 0)
        client, client_id = context.client, context.client_id
        throttle_ms = self.quotas.charge(client, client_id, exchange.spent_ns, stated_ms)
        if throttle_ms:
            exchange.times.record_throttled(throttle_ms)
            if hasattr(response, "throttle_time_ms"):
                response.throttle_time_ms = throttle_ms

    async def answer(self, api_key: int, request: object, context: Context) -> object:
        """The answer to a request that needs no frame, since it comes from this process."""
        served = self._served.get(api_key) or self._serve(api_key)
        work = served.handle(request, context, self._broker)
        response = await _answer_of(work, served, request, context)
        if isinstance(response, Later):
            return await _answer_of(response.rest, served, request, context)
        return response

    def prepare(self, api_key: int, api_version: int) -> tuple[_Served, _Version]:
        """Make a version of an API ready, and the API's shortcut, unless they are."""
        served = self._served.get(api_key) or self._serve(api_key)
        return served, served.versions.get(api_version) or self._version(served, api_version)

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
            elements_max=None if route.is_of_brokers else ELEMENTS_MAX,
            is_of_brokers=route.is_of_brokers,
            handle=handler.handle,
            refuse=getattr(handler, "refuse", None) or refuser_of(api),
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
        about = "Requests that were answered with an error, by kind of request and error."
        self._metrics.counter(name, about, request=api, error=code.name).add()

    def _version(self, served: _Served, api_version: int) -> _Version:
        """Make a version ready; closes the connection if the version is not served.

        A client that sends ApiVersions in a version that is not served cannot know which would
        have been right, and gets the oldest.
        """
        api = served.api
        is_served = api_version in served.range
        if not is_served and api.key != API_VERSIONS:
            raise CloseConnection(f"{api.name} version {api_version} is not served")
        answered_version = api_version if is_served else 0
        is_flexible = response_header_version(api.key, answered_version) > 0
        version = _Version(
            decode=decoder_of(api.request, answered_version),
            decode_in_turns=partial(pausing_decoder_of, api.request, answered_version),
            encode=encoder_of(api.response, answered_version),
            encode_in_turns=partial(pausing_encoder_of, api.response, answered_version),
            prefix=_FLEXIBLE_PREFIX if is_flexible else _PREFIX,
            requests=self._metrics.counter(
                "kafka_network_requestmetrics_requests_total",
                "Requests that were received, by kind and version.",
                request=api.name,
                version=str(answered_version),
            ),
        )
        if is_served:  # or there would be one for every number that clients send
            served.versions[api_version] = version
            served.requests[api_version] = version.requests
        return version


async def _answer_of(work: Awaitable[Any], served: _Served, request: Any, context: Context) -> Any:
    try:
        return await work
    except Exception as error:  # noqa: BLE001 - the one place where anything becomes an answer
        return await _refusal(error, served, request, context)


async def _refusal(error: Exception, served: _Served, request: Any, context: Context) -> Any:
    """The response with an error; raises if the connection can only be closed."""
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
    return await served.refuse(request, context, error)


def _undecodable(exchange: _Exchange, error: ProtocolError) -> CloseConnection:
    name, version = exchange.served.api.name, exchange.context.api_version
    return CloseConnection(f"{name} version {version}: {error}")


def _with_prefix(parts: list[Part], exchange: _Exchange) -> list[Part]:
    prefix = exchange.version.prefix
    size = prefix.size - _SIZE_BYTES
    for part in parts:
        size += len(part)
    return [prefix.pack(size, exchange.correlation_id), *parts]
