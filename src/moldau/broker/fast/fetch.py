"""The fast path of Fetch: its own codec around the same operation that the handler runs.

What the codec cannot parse, what is refused as a whole and what is long enough to be worked
through in turns is left to the handler, before anything has changed.
"""

import struct
from typing import TYPE_CHECKING

from moldau.broker.requests.fetch_response import ResponseBuilder
from moldau.errors import KafkaError
from moldau.net.answer import Parked, Part
from moldau.protocol.codec import encoder_of
from moldau.protocol.messages.fetch import FetchResponse
from moldau.runtime import native

if TYPE_CHECKING:
    from moldau.broker.broker import Broker
    from moldau.broker.context import Client
    from moldau.broker.fast import fetch_answer, fetch_frame
    from moldau.broker.metrics.request_times import ApiTimes, RequestTimes
    from moldau.broker.requests.fetch import FetchOperation, is_long
    from moldau.runtime.metrics import Counter
else:
    _requests = native.kernel("moldau.broker.requests._fetch", "moldau.broker.requests.fetch")
    FetchOperation, is_long = _requests.FetchOperation, _requests.is_long
    fetch_answer = native.kernel(
        "moldau.broker.fast._fetch_answer", "moldau.broker.fast.fetch_answer"
    )
    fetch_frame = native.kernel("moldau.broker.fast._fetch_frame", "moldau.broker.fast.fetch_frame")

_PREFIX = struct.Struct(">ii")
_FLEXIBLE_PREFIX = struct.Struct(">iix")
_SIZE_BYTES = 4


class FastFetch:
    """Answers requests at once, or when there is something to read."""

    def __init__(self, broker: "Broker", times: "ApiTimes", counters: "dict[int, Counter]") -> None:
        """`counters` count the requests by version; one that has none is the handler's."""
        self.broker = broker
        self._times = times
        self._counters = counters

    def respond(self, client: "Client", frame: memoryview) -> "list[Part] | ParkedFetch | None":
        """The framed answer, one that is to come, or None if it is the handler's."""
        broker = self.broker
        began_ns = broker.clock.monotonic_ns()
        parsed = fetch_frame.parse(client, frame)
        if parsed is None:
            return None
        request, correlation_id = parsed
        counter = self._counters.get(request.version)
        if counter is None or is_long(broker, request):
            return None
        try:
            operation = FetchOperation(broker, request)
        except KafkaError:
            return None  # refused again, and answered, by way of the handler
        counter.value += 1
        times = (self._times.followers if request.is_follower else None) or self._times.usual
        if operation.start():
            local_ns = broker.clock.monotonic_ns() - began_ns
            answer = _answer(operation, correlation_id, times, local_ns)
            times.record_at_once(broker.clock.monotonic_ns() - began_ns)
            return answer
        return ParkedFetch(operation, correlation_id, times, began_ns)


class ParkedFetch(Parked):
    """A request that waits until there is enough to read, or its time is up."""

    __slots__ = ("_correlation_id", "_error", "_local_ns", "_operation", "_parked_ns", "_times")

    def __init__(
        self,
        operation: FetchOperation,
        correlation_id: int,
        times: "RequestTimes",
        began_ns: int,
    ) -> None:
        self._operation = operation
        self._correlation_id = correlation_id
        self._times = times
        self._error: Exception | None = None
        operation.watch(self.look)
        self._parked_ns = operation.broker.clock.monotonic_ns()
        self._local_ns = self._parked_ns - began_ns

    def look(self) -> None:
        """Something happened, or the time is up: see whether the wait is over."""
        try:
            is_over = self._operation.look()
        except Exception as error:  # noqa: BLE001 - raised again where the connection asks
            self._error = error
            is_over = True
        if is_over:
            self._operation.cancel()
            self.unpark()

    def cancel(self) -> None:
        """Wait no more."""
        self._operation.cancel()

    def answer(self) -> list[Part]:
        """The answer after the wait; an error that ended it is raised here."""
        if self._error is not None:
            raise self._error
        answer = _answer(self._operation, self._correlation_id, self._times, self._local_ns)
        now_ns = self._operation.broker.clock.monotonic_ns()
        self._times.record_waited(self._local_ns, now_ns - self._parked_ns)
        return answer


def _answer(
    operation: FetchOperation, correlation_id: int, times: "RequestTimes", spent_ns: int
) -> list[Part]:
    request, outcomes = operation.request, operation.outcomes()
    version, session_id = request.version, operation.session_id
    throttle_ms = 0
    if operation.broker.quotas.is_set:
        throttle_ms = operation.charge(spent_ns)
        if throttle_ms:
            times.record_throttled(throttle_ms)
    if not fetch_answer.needs_message(version, outcomes):
        return fetch_answer.encode(version, correlation_id, session_id, throttle_ms, outcomes)
    broker = operation.broker
    building = ResponseBuilder(
        session_id,
        version,
        image=broker.metadata.image,
        client=request.client,
        find_replica=broker.replicas.find,
    )
    for outcome in outcomes:
        building.add(outcome)
    response = building.finish()
    response.throttle_time_ms = throttle_ms
    parts = encoder_of(FetchResponse, version)(response)
    size = sum(map(len, parts))
    prefix = _FLEXIBLE_PREFIX if version >= fetch_frame.FLEXIBLE_FROM else _PREFIX
    return [prefix.pack(size + prefix.size - _SIZE_BYTES, correlation_id), *parts]
