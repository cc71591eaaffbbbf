"""What goes in and out, per topic, for the metrics that every dashboard begins with."""

from typing import NamedTuple

from moldau.runtime.metrics import Counter, Metrics

_PREFIX = "kafka_server_brokertopicmetrics_"


class TopicTraffic(NamedTuple):
    """The counters of one topic."""

    bytes_in: Counter
    messages_in: Counter
    bytes_out: Counter
    produce_requests: Counter
    fetch_requests: Counter
    failed_produce_requests: Counter
    failed_fetch_requests: Counter


class Traffic:
    """Counters by topic, and over all topics; made when a topic is first used."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._topics: dict[str, TopicTraffic] = {}
        self.all = _counters(metrics, {})
        self.replication_bytes_in = metrics.counter(f"{_PREFIX}replicationbytesin_total")
        self.replication_bytes_out = metrics.counter(f"{_PREFIX}replicationbytesout_total")

    def of(self, topic: str) -> TopicTraffic:
        """The counters of one topic."""
        found = self._topics.get(topic)
        if found is None:
            found = self._topics[topic] = _counters(self._metrics, {"topic": topic})
        return found

    def forget(self, topic: str) -> None:
        """The topic is gone."""
        self._topics.pop(topic, None)
        self._metrics.forget(topic=topic)


def _counters(metrics: Metrics, labels: dict[str, str]) -> TopicTraffic:
    def counter(name: str) -> Counter:
        return metrics.counter(f"{_PREFIX}{name}_total", **labels)

    return TopicTraffic(
        bytes_in=counter("bytesin"),
        messages_in=counter("messagesin"),
        bytes_out=counter("bytesout"),
        produce_requests=counter("totalproducerequests"),
        fetch_requests=counter("totalfetchrequests"),
        failed_produce_requests=counter("failedproducerequests"),
        failed_fetch_requests=counter("failedfetchrequests"),
    )
