"""What a client has done and how it does, as a mapping with Kafka's names of metrics."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields

from moldau.client.beside import call_or_await

_log = logging.getLogger(__name__)

Metrics = dict[str, float]
Listener = Callable[[Mapping[str, float]], object]
"""Is called with the metrics at times: a plain function in its own thread, or one to await."""


@dataclass(slots=True)
class Latencies:
    """How long answers took."""

    count: int = 0
    total_s: float = 0.0
    max_s: float = 0.0

    def note(self, seconds: float) -> None:
        """One more answer came."""
        self.count += 1
        self.total_s += seconds
        self.max_s = max(self.max_s, seconds)

    def metrics(self, name: str) -> Metrics:
        """Mean and maximum, in milliseconds."""
        mean_s = self.total_s / self.count if self.count else 0.0
        return {f"{name}-latency-avg": mean_s * 1000, f"{name}-latency-max": self.max_s * 1000}


@dataclass(slots=True)
class ConnectionTraffic:
    """What went over connections; each is counted by one thread at a time."""

    connections: int = 0
    requests: int = 0
    responses: int = 0
    sent_bytes: int = 0
    received_bytes: int = 0

    def __add__(self, other: "ConnectionTraffic") -> "ConnectionTraffic":
        return ConnectionTraffic(
            *(getattr(self, each.name) + getattr(other, each.name) for each in fields(self))
        )

    def metrics(self) -> Metrics:
        """By Kafka's names."""
        return {
            "connection-creation-total": self.connections,
            "request-total": self.requests,
            "response-total": self.responses,
            "outgoing-byte-total": self.sent_bytes,
            "incoming-byte-total": self.received_bytes,
        }


@dataclass(slots=True)
class Sent:
    """What became of the records of a producer."""

    records: int = 0
    bytes: int = 0
    batches: int = 0
    retries: int = 0
    errors: int = 0

    def metrics(self) -> Metrics:
        """By Kafka's names."""
        batches = max(self.batches, 1)
        return {
            "record-send-total": self.records,
            "byte-total": self.bytes,
            "record-retry-total": self.retries,
            "record-error-total": self.errors,
            "batch-size-avg": self.bytes / batches,
            "records-per-batch-avg": self.records / batches,
        }


class Reporter:
    """Calls a listener with the metrics of a client, again and again."""

    def __init__(self, read: Callable[[], Metrics], listener: Listener, interval_ms: int) -> None:
        self._read = read
        self._listener = listener
        self._interval_s = interval_ms / 1000

    async def run(self) -> None:
        """Report until cancelled; what the listener raises is logged."""
        while True:
            await asyncio.sleep(self._interval_s)
            try:
                await call_or_await(self._listener, self._read())
            except Exception:  # noqa: BLE001 - the user's code
                _log.exception("the listener for metrics failed")
