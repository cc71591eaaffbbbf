"""Counters per topic."""

from moldau.broker.metrics.traffic import Traffic
from moldau.runtime.metrics import Metrics


def test_topics_have_counters_of_their_own() -> None:
    metrics = Metrics()
    traffic = Traffic(metrics)
    traffic.of("t").bytes_in.add(5)
    assert traffic.of("t") is traffic.of("t")
    traffic.all.bytes_in.add(7)
    text = metrics.text()
    assert 'kafka_server_brokertopicmetrics_bytesin_total{topic="t"} 5' in text
    assert "kafka_server_brokertopicmetrics_bytesin_total 7" in text


def test_a_topic_that_is_gone_leaves_no_counters() -> None:
    metrics = Metrics()
    traffic = Traffic(metrics)
    traffic.of("t").messages_in.add(5)
    traffic.forget("t")
    assert 'topic="t"' not in metrics.text()
    assert traffic.of("t").messages_in.value == 0


def test_what_replicas_get_from_each_other_is_counted_apart() -> None:
    metrics = Metrics()
    traffic = Traffic(metrics)
    traffic.replication_bytes_in.add(3)
    traffic.replication_bytes_out.add(4)
    text = metrics.text()
    assert "kafka_server_brokertopicmetrics_replicationbytesin_total 3" in text
    assert "kafka_server_brokertopicmetrics_replicationbytesout_total 4" in text
