"""The fast path of Produce: another codec in front of `requests/produce.py`, and nothing else.

It decides nothing. What the codec cannot read is left to the messages' codec and the handler, and
so is the encoding of errors. This file runs as it stands and is also compiled as `_produce`.
"""

from typing import TYPE_CHECKING

from moldau.broker.context import Context
from moldau.net.answer import Later, Part, Promised
from moldau.protocol.codec import encoder_of
from moldau.protocol.messages.produce import ProduceResponse
from moldau.runtime import native
from moldau.runtime.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator
    from typing import Any

    from moldau.broker.broker import Broker
    from moldau.broker.context import Client
    from moldau.broker.fast import produce_frame
    from moldau.broker.metrics.request_times import RequestTimes
    from moldau.broker.requests import produce as produces
    from moldau.broker.requests.produce import Produce
    from moldau.runtime.metrics import Counter

    Counters = dict[int, Counter]
    Partitions = Iterator[produce_frame.PartitionRecords]
else:
    produces = native.kernel("moldau.broker.requests._produce", "moldau.broker.requests.produce")
    produce_frame = native.kernel(
        "moldau.broker.fast._produce_frame", "moldau.broker.fast.produce_frame"
    )

FLEXIBLE_FROM = 9


class FastProduce:
    """Answers the requests that the fast codec can read."""

    def __init__(self, broker: "Broker", times: "RequestTimes", counters: "Counters") -> None:
        """`counters` count the requests by version; one that has none is the handler's."""
        self.broker = broker
        self.times = times
        self.counters = counters
        self.turns = Turns()
        self.request = produce_frame.RequestFrame()

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
        context = Context(version, request.client_id, client, self.turns)
        produce: Produce = produces.Produce(
            self.broker, context, request.acks, request.timeout_ms, request.transactional_id
        )
        requests.value += 1
        partitions = iter(request.partitions)
        for topic, index, records in partitions:
            if topic is not None:
                produce.begin_topic(topic)
            rest = produce.append(index, records)
            if rest is not None:
                return PendingAnswer(self, produce, began_ns).after(rest, partitions)
        if produce.waiting:
            return PromisedProduce(PendingAnswer(self, produce, began_ns))
        self.times.record_at_once(clock.monotonic_ns() - began_ns)
        return parts(produce, version, request.correlation_id)


def parts(produce: "Produce", version: int, correlation_id: int) -> list[Part]:
    """The framed response; with the message codec if it has errors."""
    if not produce.has_failed:
        return [produce_frame.encode(produce.topics, version, correlation_id)]
    responding = produce.responding()
    try:
        while True:
            next(responding)
    except StopIteration as stop:
        body = b"".join(encoder_of(ProduceResponse, version)(stop.value))
    tags = b"\0" if version >= FLEXIBLE_FROM else b""
    answer = correlation_id.to_bytes(4, "big", signed=True) + tags + body
    return [len(answer).to_bytes(4, "big") + answer]


class PendingAnswer:
    """An answer that takes longer."""

    __slots__ = (
        "_began_ns", "_correlation_id", "_fast", "_version", "_waiting_ns", "produce",
    )  # fmt: skip

    def __init__(self, fast: FastProduce, produce: "Produce", began_ns: int) -> None:
        self.produce = produce
        self._fast = fast
        self._version = fast.request.version
        self._correlation_id = fast.request.correlation_id
        self._began_ns = began_ns
        self._waiting_ns = fast.broker.clock.monotonic_ns()

    def finish(self) -> list[Part]:
        """The wait is over: record how long the request has taken."""
        now_ns = self._fast.broker.clock.monotonic_ns()
        local_ns = self._waiting_ns - self._began_ns
        self._fast.times.record_waited(local_ns, now_ns - self._waiting_ns)
        return parts(self.produce, self._version, self._correlation_id)

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
        self.tell(self)

    def cancel(self) -> None:
        """Wait no more."""
        self._wait.cancel()
