"""Produce on the short way, waiting for other replicas: without coroutine, task and future.

The answer is written before the wait, since nearly always everything goes well. What goes wrong is
told as the handler of Produce tells it.
"""

import asyncio
from collections.abc import Hashable
from typing import TYPE_CHECKING, Protocol

from moldau.broker.context import Context
from moldau.broker.dispatch import PromisedAnswer
from moldau.broker.handlers.produce import refuse_appended
from moldau.errors import ErrorCode, KafkaError
from moldau.net.answer import Part
from moldau.protocol.codec import decoder_of, encoder_of
from moldau.protocol.messages.produce import ProduceResponse

if TYPE_CHECKING:
    from moldau.broker.broker import Broker
    from moldau.broker.metrics.request_times import RequestTimes
    from moldau.replication.partition import Partition

OPERATION = "Produce"
FLEXIBLE_FROM = 9
_SIZE_BYTES = 4
_PREFIX_SIZE = 8


class Way(Protocol):
    """The short way that a request has come."""

    @property
    def broker(self) -> "Broker": ...
    @property
    def times(self) -> "RequestTimes": ...


def framed(response: ProduceResponse, version: int, correlation_id: bytes) -> bytes:
    """A whole answer."""
    tags = b"\0" if version >= FLEXIBLE_FROM else b""
    answer = correlation_id + tags + b"".join(encoder_of(ProduceResponse, version)(response))
    return len(answer).to_bytes(_SIZE_BYTES, "big") + answer


class PromisedProduce(PromisedAnswer):
    """An answer that waits until the other replicas have the records, or its time is up."""

    __slots__ = (
        "_answer",
        "_end_offset",
        "_local_ns",
        "_partition",
        "_state",
        "_timer",
        "_version",
        "_waiting_ns",
        "_way",
    )

    def __init__(self, way: Way, version: int, answer: bytearray) -> None:
        """`answer` is that of a request that goes well."""
        self.outcome = None
        self._way = way
        self._version = version
        self._answer = answer
        self._timer: asyncio.TimerHandle | None = None

    def wait_for(
        self, partition: "Partition", end_offset: int, timeout_ms: int, began_ns: int
    ) -> None:
        """Begin to wait until everything before an offset is committed."""
        broker = self._way.broker
        self._partition = partition
        self._state = partition.state
        self._end_offset = end_offset
        broker.waiters.enlist(partition.topic_partition, self)
        broker.waiters.counts[OPERATION] += 1
        self._timer = asyncio.get_running_loop().call_later(timeout_ms / 1000, self.expire)
        self._waiting_ns = broker.clock.monotonic_ns()
        self._local_ns = self._waiting_ns - began_ns

    def note(self, key: Hashable) -> None:  # noqa: ARG002 - as a watcher has it
        """Something happened to the partition: mostly, another append."""
        partition = self._partition
        # Who leads, and with whom, is part of the state, which is never changed but replaced.
        if partition.log.high_watermark >= self._end_offset or partition.state is not self._state:
            self._look()

    def expire(self) -> None:
        """The time is up."""
        self._look(KafkaError(ErrorCode.REQUEST_TIMED_OUT))

    def cancel(self) -> None:
        """Wait no more."""
        if self._timer is not None:
            waiters = self._way.broker.waiters
            self._timer.cancel()
            self._timer = None
            waiters.counts[OPERATION] -= 1
            waiters.dismiss(self._partition.topic_partition, self)

    def _look(self, otherwise: KafkaError | None = None) -> None:
        """Keep the promise if the wait is over, or else with an error if there is one."""
        if self._timer is None:
            return
        error = otherwise
        try:
            if self._partition.is_committed(self._end_offset):
                error = None
            elif otherwise is None:
                return
        except KafkaError as reason:
            error = reason
        self.cancel()
        self.outcome = [self._answer] if error is None else self._refusal(error)
        now_ns = self._way.broker.clock.monotonic_ns()
        self._way.times.record_waited(self._local_ns, now_ns - self._waiting_ns)
        self.tell(self)

    def _refusal(self, error: KafkaError) -> list[Part] | Exception:
        """The answer with an error in it."""
        version, answer = self._version, self._answer
        start = _PREFIX_SIZE + (version >= FLEXIBLE_FROM)
        try:
            context = Context(version, "", self.client)
            response, _ = decoder_of(ProduceResponse, version)(memoryview(answer), start)
            refused = refuse_appended(response, context, self._way.broker, error)
            return [framed(refused, version, bytes(answer[_SIZE_BYTES:_PREFIX_SIZE]))]
        except Exception as failure:  # noqa: BLE001 - who wakes this has nothing to do with it
            return failure
