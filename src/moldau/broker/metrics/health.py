"""Whether a broker serves, and if not, why."""

from collections.abc import Iterable, Iterator

from moldau.broker.broker import Broker
from moldau.broker.membership.state import BrokerState
from moldau.net.metrics_page import Page

_NOT_SERVING = {
    BrokerState.STARTING: "the broker is starting",
    BrokerState.HANDING_OVER: "the broker is stopping: others take over what it leads",
    BrokerState.STOPPING: "the broker is stopping",
}


class Health:
    """Of one broker, which need not be there yet: a start may take long."""

    def __init__(self) -> None:
        self.broker: Broker | None = None

    def pages(self) -> dict[str, Page]:
        """What is served over HTTP: metrics, whether to send clients here, whether it is alive."""
        metrics = Page(self._metrics, self._before_metrics)
        ready = Page(lambda: ["ok\n"], self.reason)
        alive = Page(lambda: ["ok\n"])
        return {
            "/": metrics,
            "/metrics": metrics,
            "/readyz": ready,
            "/healthz": alive,
            "/health": ready,
            "/health/ready": ready,
            "/health/live": alive,
        }

    def _metrics(self) -> Iterable[str]:
        assert self.broker is not None
        return self.broker.metrics.lines()

    def _before_metrics(self) -> str:
        return self.reason() if self.broker is None else ""

    def reason(self) -> str:
        """Why clients should not be sent here, in one line; empty: they may come."""
        return "; ".join(self._reasons())

    def _reasons(self) -> Iterator[str]:
        broker = self.broker
        if broker is None:
            yield _NOT_SERVING[BrokerState.STARTING]
            return
        if broker.state in _NOT_SERVING:
            yield _NOT_SERVING[broker.state]
            return
        if not broker.registration.is_current:
            yield f"broker {broker.id} is not registered: its session with ZooKeeper was lost"
        elif broker.id not in broker.metadata.image.brokers:
            yield f"broker {broker.id} is registered, but the controller does not count it in yet"
        for directory in broker.logs.directories:
            volume = directory.volume
            if not volume.is_online:
                yield f"log directory {volume.path} is offline: {volume.failure}"
