"""What goes in and out, per topic, for the metrics that every dashboard begins with."""

from dataclasses import dataclass

from moldau.runtime.metrics import Counter, Metrics

_PREFIX = "kafka_server_brokertopicmetrics_"


@dataclass(slots=True)
class TopicTraffic:
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
        self.replication_bytes_in = metrics.counter(
            f"{_PREFIX}replicationbytesin_total", "Bytes that were fetched from leaders."
        )
        self.replication_bytes_out = metrics.counter(
            f"{_PREFIX}replicationbytesout_total", "Bytes that followers fetched from here."
        )

    def of(self, topic: str) -> TopicTraffic:
        """The counters of one topic."""
        found = self._topics.get(topic)
        if found is None:
            found = self._topics[topic] = _counters(self._metrics, {"topic": topic})
        return found

    def note_produced(self, topic: str, size: int, record_count: int) -> None:
        """Records were appended for a producer."""
        of_topic, of_all = self.of(topic), self.all
        of_topic.produce_requests.value += 1
        of_topic.bytes_in.value += size
        of_topic.messages_in.value += record_count
        of_all.bytes_in.value += size
        of_all.messages_in.value += record_count

    def forget(self, topic: str) -> None:
        """The topic is gone."""
        self._topics.pop(topic, None)
        self._metrics.forget(topic=topic)


_ABOUT = {
    "bytesin": "Bytes of records that producers sent.",
    "messagesin": "Records that producers sent.",
    "bytesout": "Bytes of records that consumers fetched.",
    "totalproducerequests": "Parts of Produce requests, one for each partition.",
    "totalfetchrequests": "Parts of Fetch requests, one for each partition.",
    "failedproducerequests": "Parts of Produce requests that were answered with an error.",
    "failedfetchrequests": "Parts of Fetch requests that were answered with an error.",
}


def _counters(metrics: Metrics, labels: dict[str, str]) -> TopicTraffic:
    def counter(name: str) -> Counter:
        about = f"{_ABOUT[name]} Without a label: of all topics together."
        return metrics.counter(f"{_PREFIX}{name}_total", about, **labels)

    return TopicTraffic(
        bytes_in=counter("bytesin"),
        messages_in=counter("messagesin"),
        bytes_out=counter("bytesout"),
        produce_requests=counter("totalproducerequests"),
        fetch_requests=counter("totalfetchrequests"),
        failed_produce_requests=counter("failedproducerequests"),
        failed_fetch_requests=counter("failedfetchrequests"),
    )
