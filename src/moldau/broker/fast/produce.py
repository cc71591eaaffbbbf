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
    from collections.abc import Coroutine, Generator
    from typing import Any

    from moldau.broker.broker import Broker
    from moldau.broker.context import Client
    from moldau.broker.fast import produce_frame
    from moldau.broker.metrics.request_times import RequestTimes
    from moldau.broker.requests import produce as produces
    from moldau.broker.requests.produce import Produce
    from moldau.runtime.metrics import Counter

    Counters = dict[int, Counter]
    Appends = Generator[Coroutine[Any, Any, None] | None, None, None]
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
        self.frame = produce_frame.RequestFrame()

    def respond(
        self, client: "Client", frame: memoryview
    ) -> "list[Part] | PromisedProduce | Coroutine[Any, Any, list[Part] | Later] | None":
        """The framed answer, one that is to come, or None if the request is the handler's."""
        clock = self.broker.clock
        began_ns = clock.monotonic_ns()
        request = self.frame.read(frame)
        if request is None:
            return None
        version = self.frame.version
        requests = self.counters.get(version)
        if requests is None:
            return None
        context = Context(version, self.frame.client_id, client, self.turns)
        answer = Answer(self, version, self.frame.correlation_id, began_ns)
        produce: Produce = produces.Produce(request, context, self.broker)
        requests.value += 1
        appends = produce.appends()
        for rest in appends:
            if rest is not None:
                return answer.after(rest, appends, produce)
        if produce.waiting:
            return PromisedProduce(answer, produce)
        self.times.record_at_once(clock.monotonic_ns() - began_ns)
        return answer.parts(produce)


class Answer:
    """What the answer to one request needs beside the outcome of its appends."""

    __slots__ = ("_began_ns", "_correlation_id", "_fast", "_version", "_waiting_ns")

    def __init__(self, fast: FastProduce, version: int, correlation_id: int, began_ns: int) -> None:
        self._fast = fast
        self._version = version
        self._correlation_id = correlation_id
        self._began_ns = began_ns
        self._waiting_ns = 0

    def parts(self, produce: "Produce") -> list[Part]:
        """The framed answer; with the message codec if it tells of errors."""
        version, correlation_id = self._version, self._correlation_id
        if not produce.has_failed:
            return [produce_frame.encode(produce.response, version, correlation_id)]
        for _ in produce.hinting():
            pass
        body = b"".join(encoder_of(ProduceResponse, version)(produce.response))
        tags = b"\0" if version >= FLEXIBLE_FROM else b""
        answer = correlation_id.to_bytes(4, "big", signed=True) + tags + body
        return [len(answer).to_bytes(4, "big") + answer]

    def begin_wait(self) -> None:
        """From now on others are waited for."""
        self._waiting_ns = self._fast.broker.clock.monotonic_ns()

    def end_wait(self) -> None:
        """Record how long the request has taken."""
        now_ns = self._fast.broker.clock.monotonic_ns()
        local_ns = self._waiting_ns - self._began_ns
        self._fast.times.record_waited(local_ns, now_ns - self._waiting_ns)

    async def after(
        self, rest: "Coroutine[Any, Any, None]", appends: "Appends", produce: "Produce"
    ) -> list[Part] | Later:
        """The answer to a request of which an append takes longer."""
        self.begin_wait()
        await rest
        for other in appends:
            if other is not None:
                await other
        if produce.waiting:
            return Later(self._after_replicas(produce))
        self.end_wait()
        return self.parts(produce)

    async def _after_replicas(self, produce: "Produce") -> list[Part]:
        await produce.until_replicas()
        self.end_wait()
        return self.parts(produce)


class PromisedProduce(Promised):
    """An answer that waits until the other replicas have the records, or its time is up."""

    __slots__ = ("_answer", "_produce", "_wait")

    def __init__(self, answer: Answer, produce: "Produce") -> None:
        super().__init__()
        self._answer = answer
        self._produce = produce
        answer.begin_wait()
        self._wait = produce.wait(self.keep)

    def keep(self) -> None:
        """The wait is over."""
        self._answer.end_wait()
        try:
            self.outcome = self._answer.parts(self._produce)
        except Exception as failure:  # noqa: BLE001 - who wakes this has nothing to do with it
            self.outcome = failure
        self.tell(self)

    def cancel(self) -> None:
        """Wait no more."""
        self._wait.cancel()
