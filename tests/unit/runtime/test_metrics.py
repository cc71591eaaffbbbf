"""Metrics: what is counted comes out as Prometheus text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.runtime.metrics import Durations, Metrics


def test_counters_are_written_with_their_labels() -> None:
    metrics = Metrics()
    metrics.counter("kafka_server_brokertopicmetrics_bytesin_total", topic="a").add(5)
    metrics.counter("kafka_server_brokertopicmetrics_bytesin_total", topic="a").add()
    metrics.counter("kafka_server_brokertopicmetrics_bytesin_total", topic="b").add(2)
    assert metrics.text() == (
        "# TYPE kafka_server_brokertopicmetrics_bytesin_total counter\n"
        'kafka_server_brokertopicmetrics_bytesin_total{topic="a"} 6\n'
        'kafka_server_brokertopicmetrics_bytesin_total{topic="b"} 2\n'
    )


def test_gauges_are_read_when_somebody_looks() -> None:
    metrics = Metrics()
    values = {"x": 1.0}
    metrics.gauge("one", lambda: values["x"])
    metrics.gauges("many", lambda: [((("name", 'a"b\\c\n'),), 2.5)])
    values["x"] = 3
    assert "one 3\n" in metrics.text()
    assert 'many{name="a\\"b\\\\c\\n"} 2.5\n' in metrics.text()


def test_durations_are_written_as_a_summary_in_milliseconds() -> None:
    metrics = Metrics()
    timed = metrics.durations("kafka_network_requestmetrics_totaltimems", request="Fetch")
    for _ in range(99):
        timed.record(1_000_000)
    timed.record(1_000_000_000)
    text = metrics.text()
    assert 'totaltimems_count{request="Fetch"} 100\n' in text
    assert 'totaltimems_sum{request="Fetch"} 1099.000000\n' in text
    assert timed.quantile_ms(0.5) == pytest.approx(1, rel=0.25)
    assert timed.quantile_ms(0.999) == pytest.approx(1_000, rel=0.25)
    assert 'totaltimems{request="Fetch",quantile="0.999"}' in text


@given(st.integers(min_value=0, max_value=2**62))
def test_a_quantile_is_never_below_and_at_most_a_quarter_above(duration_ns: int) -> None:
    durations = Durations()
    durations.record(duration_ns)
    bound_ns = durations.quantile_ms(0.5) * 1e6
    assert duration_ns * 0.999999 <= bound_ns <= max(duration_ns * 1.2501, 4)


def test_nothing_recorded_is_zero() -> None:
    assert Durations().quantile_ms(0.99) == 0


def test_a_negative_duration_of_a_stepped_clock_counts_as_nothing() -> None:
    durations = Durations()
    durations.record(-5)
    assert durations.quantile_ms(0.99) == 0


def test_forgetting_a_label_drops_its_counters_only() -> None:
    metrics = Metrics()
    metrics.counter("in", topic="gone").add()
    metrics.counter("in", topic="kept").add()
    metrics.durations("took", topic="gone").record(1)
    metrics.forget(topic="gone")
    assert "gone" not in metrics.text()
    assert 'in{topic="kept"} 1' in metrics.text()
