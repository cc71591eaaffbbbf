"""How long the requests of one API take, divided as Kafka divides it."""

from typing import Any, NamedTuple

from moldau.runtime.metrics import Durations, Metrics

_PREFIX = "kafka_network_requestmetrics_"


FETCH = "Fetch"
_TIMES = {
    "totaltimems": "Milliseconds from the arrival of a request to its answer.",
    "requestqueuetimems": "Milliseconds before a request was begun: 0, none has to queue.",
    "localtimems": "Milliseconds of a request until it was done, or had to wait for others.",
    "remotetimems": "Milliseconds that a request waited for followers, records or members.",
    "responsequeuetimems": "Milliseconds before an answer was sent: 0, none has to queue.",
    "responsesendtimems": "Milliseconds of sending answers: 0, part of the total time here.",
    "throttletimems": "Milliseconds that clients were to wait after their answers: quotas.",
}


class ApiTimes(NamedTuple):
    """The times of an API's requests; those of followers are apart where there are any."""

    usual: "RequestTimes"
    followers: "RequestTimes | None" = None

    def of(self, request: Any) -> "RequestTimes":
        """Where a request belongs."""
        if self.followers is None:
            return self.usual
        state = request.replica_state
        replica_id = request.replica_id if state is None else state.replica_id
        return self.usual if replica_id < 0 else self.followers


def times_of_api(metrics: Metrics, api: str) -> ApiTimes:
    """The times of an API. As in Kafka, fetches are counted together and by sender."""
    if api != FETCH:
        return ApiTimes(RequestTimes(metrics, api))
    consumers = RequestTimes(metrics, "FetchConsumer")
    followers = RequestTimes(metrics, "FetchFollower")
    RequestTimes(metrics, FETCH, consumers, followers)
    return ApiTimes(consumers, followers)


class RequestTimes:
    """Local time ends where a request has to wait for others; remote time is the rest.

    Most requests never wait and are recorded once. Nothing queues between reading a request
    and handling it, nor between its answer and the socket, so these times are always 0.
    """

    def __init__(self, metrics: Metrics, api: str, *parts: "RequestTimes") -> None:
        """`parts` are counted elsewhere, under names of their own, and belong to these too."""
        self._parts = parts
        self._at_once = Durations()
        self.record_at_once = self._at_once.record
        """A request was answered without a wait."""
        self._local = Durations()
        self._remote = Durations()
        self._waited = Durations()
        self._throttled = Durations()
        queues = (self.queue, self.queue)
        reads = (self.total, self.queue, self.local, self.remote, *queues, self.throttle)
        for (name, about), read in zip(_TIMES.items(), reads, strict=True):
            metrics.summary(_PREFIX + name, about, read, request=api)

    def record_waited(self, local_ns: int, remote_ns: int) -> None:
        """A request was answered after a wait."""
        self._local.record(local_ns)
        self._remote.record(remote_ns)
        self._waited.record(local_ns + remote_ns)

    def record_throttled(self, throttle_ms: int) -> None:
        """A client that was answered is to wait before its next request is read."""
        self._throttled.record(throttle_ms * 1_000_000)

    def total(self) -> Durations:
        return sum((part.total() for part in self._parts), self._at_once + self._waited)

    def queue(self) -> Durations:
        return Durations.of_zeros(self.total().count)

    def local(self) -> Durations:
        return sum((part.local() for part in self._parts), self._at_once + self._local)

    def remote(self) -> Durations:
        own = Durations.of_zeros(self._at_once.count) + self._remote
        return sum((part.remote() for part in self._parts), own)

    def throttle(self) -> Durations:
        unthrottled = self._at_once.count + self._waited.count - self._throttled.count
        own = Durations.of_zeros(unthrottled) + self._throttled
        return sum((part.throttle() for part in self._parts), own)
