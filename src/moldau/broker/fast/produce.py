"""The fast path of Produce: another codec in front of `requests/produce.py`, and nothing else.

It decides nothing. What the codec cannot read is left to the messages' codec and the handler, and
so is the encoding of errors. This file runs as it stands and is also compiled as `_produce`;
`_produce.pxd` then gives its variables C types, so that the parsed request and the answer are
handed over without Python's attributes.
"""

from typing import TYPE_CHECKING

from moldau.broker.context import Context
from moldau.net.answer import Later, Part, Promised
from moldau.protocol.codec import encoder_of
from moldau.protocol.messages.produce import ProduceResponse
from moldau.runtime.turns import Turns

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from moldau.runtime import uncompiled as cython

if not cython.compiled:
    from moldau.broker.fast.produce_frame import RequestFrame, encode
    from moldau.broker.quotas.client_sensors import ClientSensors, charge, sensors_of
    from moldau.broker.requests.produce import Produce

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator
    from typing import Any

    from moldau.broker.broker import Broker
    from moldau.broker.context import Client
    from moldau.broker.fast.produce_frame import PartitionRecords
    from moldau.broker.metrics.request_times import RequestTimes
    from moldau.runtime.metrics import Counter

    Counters = dict[int, Counter]
    Partitions = Iterator[PartitionRecords]

FLEXIBLE_FROM = 9
NS_PER_MS = 1_000_000


class FastProduce:
    """Answers the requests that the fast codec can read."""

    def __init__(self, broker: "Broker", times: "RequestTimes", counters: "Counters") -> None:
        """`counters` count the requests by version; one that has none is the handler's."""
        self.broker = broker
        self.quotas = broker.quotas
        self.times = times
        self.counters = counters
        self.turns = Turns()
        self.request = RequestFrame()

    def respond(
        self, client: "Client", frame: memoryview
    ) -> "list[Part] | PromisedProduce | Coroutine[Any, Any, list[Part] | Later] | None":
        """The framed answer, one that is to come, or None if the request is the handler's."""
        clock = self.broker.clock
        began_ns = clock.monotonic_ns()
        request = self.request
        if not request.read(frame):
            return None
        version = request.version
        requests = self.counters.get(version)
        if requests is None:
            return None
        produce = Produce(
            self.broker,
            self.context_of(client),
            request.acks,
            request.timeout_ms,
            request.transactional_id,
        )
        if self.broker.authorizer.is_enforcing:
            produce.require_right([records for _, _, records in request.partitions])
        produce.request_size = len(frame)
        requests.value += 1
        partitions = iter(request.partitions)
        for topic, index, records in partitions:
            if topic is not None:
                produce.begin_topic(topic)
            rest = produce.append(index, records)
            if rest is not None:
                return PendingAnswer(self, produce, client, began_ns).after(rest, partitions)
        if produce.waiting:
            return PromisedProduce(PendingAnswer(self, produce, client, began_ns))
        now_ns = clock.monotonic_ns()
        local_ns = now_ns - began_ns
        self.times.record_at_once(local_ns)
        throttle_ms = 0
        if self.quotas.is_set:
            sensors = sensors_of(self.quotas, client, request.client_id)
            throttle_ms = self.throttle(produce, client, sensors, local_ns, now_ns)
        return parts(produce, version, request.correlation_id, throttle_ms)

    def throttle(
        self,
        produce: Produce,
        client: "Client",
        sensors: ClientSensors,
        spent_ns: int,
        now_ns: int,
    ) -> int:
        """Have a client wait that uses more than it may; for how many milliseconds."""
        now_ms = now_ns // NS_PER_MS
        wait_ms = sensors.produced(produce.request_size, now_ms)
        throttle_ms = charge(client, sensors, spent_ns, now_ms, wait_ms)
        if throttle_ms:
            self.times.record_throttled(throttle_ms)
        return throttle_ms

    def context_of(self, client: "Client") -> Context:
        """The context of the request at hand."""
        request = self.request
        context: Context | None = client.context
        if (
            context is None
            or context.api_version != request.version
            or context.client_id != request.client_id
        ):
            context = Context(request.version, request.client_id, client, self.turns, "Produce")
            client.context = context
        return context


def parts(produce: Produce, version: int, correlation_id: int, throttle_ms: int) -> list[Part]:
    """The framed response; with the message codec if it has errors."""
    if not produce.has_failed:
        return [encode(produce.topics, version, correlation_id, throttle_ms)]
    responding = produce.responding()
    try:
        while True:
            next(responding)
    except StopIteration as stop:
        response = stop.value
    response.throttle_time_ms = throttle_ms
    body = b"".join(encoder_of(ProduceResponse, version)(response))
    tags = b"\0" if version >= FLEXIBLE_FROM else b""
    answer = correlation_id.to_bytes(4, "big", signed=True) + tags + body
    return [len(answer).to_bytes(4, "big") + answer]


class PendingAnswer:
    """An answer that takes longer."""

    __slots__ = (
        "_began_ns", "_client", "_client_id", "_correlation_id", "_fast", "_version",
        "_waiting_ns", "produce",
    )  # fmt: skip

    def __init__(
        self, fast: FastProduce, produce: Produce, client: "Client", began_ns: int
    ) -> None:
        self.produce = produce
        self._fast = fast
        self._client = client
        self._client_id = fast.request.client_id
        self._version = fast.request.version
        self._correlation_id = fast.request.correlation_id
        self._began_ns = began_ns
        self._waiting_ns = fast.broker.clock.monotonic_ns()

    def finish(self) -> list[Part]:
        """The wait is over: record how long the request has taken."""
        now_ns = self._fast.broker.clock.monotonic_ns()
        local_ns = self._waiting_ns - self._began_ns
        fast = self._fast
        fast.times.record_waited(local_ns, now_ns - self._waiting_ns)
        throttle_ms = 0
        if fast.quotas.is_set:
            sensors = sensors_of(fast.quotas, self._client, self._client_id)
            throttle_ms = fast.throttle(self.produce, self._client, sensors, local_ns, now_ns)
        return parts(self.produce, self._version, self._correlation_id, throttle_ms)

    async def after(
        self, rest: "Coroutine[Any, Any, None]", partitions: "Partitions"
    ) -> list[Part] | Later:
        """The answer to a request of which an append takes longer, before the other partitions."""
        produce = self.produce
        await rest
        for topic, index, records in partitions:
            if topic is not None:
                produce.begin_topic(topic)
            other = produce.append(index, records)
            if other is not None:
                await other
        if produce.waiting:
            return Later(self._after_replicas())
        return self.finish()

    async def _after_replicas(self) -> list[Part]:
        await self.produce.until_replicas()
        return self.finish()


class PromisedProduce(Promised):
    """An answer that waits until the other replicas have the records, or its time is up."""

    __slots__ = ("_answer", "_wait")

    def __init__(self, answer: PendingAnswer) -> None:
        super().__init__()
        self._answer = answer
        self._wait = answer.produce.wait(self.keep)

    def keep(self) -> None:
        """The wait is over."""
        try:
            self.outcome = self._answer.finish()
        except Exception as failure:  # noqa: BLE001 - not for the caller that wakes this
            self.outcome = failure
        self.notify(self)

    def cancel(self) -> None:
        """Wait no more."""
        self._wait.cancel()
