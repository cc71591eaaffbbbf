"""How long the requests of one API take, divided as Kafka divides it."""

from moldau.runtime.metrics import Durations, Metrics

_PREFIX = "kafka_network_requestmetrics_"


class RequestTimes:
    """Local time ends where a request has to wait for others; remote time is the rest.

    Most requests never wait and are recorded once. Nothing queues between reading a request
    and handling it, so that the time in the queue is always 0.
    """

    def __init__(self, metrics: Metrics, api: str) -> None:
        self._at_once = Durations()
        self._local = Durations()
        self._remote = Durations()
        self._waited = Durations()
        for name, read in (
            ("totaltimems", self.total),
            ("requestqueuetimems", self.queue),
            ("localtimems", self.local),
            ("remotetimems", self.remote),
        ):
            metrics.summary(_PREFIX + name, read, request=api)

    def record_at_once(self, duration_ns: int) -> None:
        """A request was answered without a wait."""
        self._at_once.record(duration_ns)

    def record_waited(self, local_ns: int, remote_ns: int) -> None:
        """A request was answered after a wait."""
        self._local.record(local_ns)
        self._remote.record(remote_ns)
        self._waited.record(local_ns + remote_ns)

    def total(self) -> Durations:
        return self._at_once + self._waited

    def queue(self) -> Durations:
        return Durations.of_zeros(self._at_once.count + self._waited.count)

    def local(self) -> Durations:
        return self._at_once + self._local

    def remote(self) -> Durations:
        return Durations.of_zeros(self._at_once.count) + self._remote
