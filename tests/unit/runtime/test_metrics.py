"""Metrics: what is counted comes out as Prometheus text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.runtime.metrics import Durations, Metrics


def test_counters_are_written_with_their_labels() -> None:
    metrics = Metrics()
    metrics.counter("kafka_server_brokertopicmetrics_bytesin_total", "Bytes.", topic="a").add(5)
    metrics.counter("kafka_server_brokertopicmetrics_bytesin_total", "Bytes.", topic="a").add()
    metrics.counter("kafka_server_brokertopicmetrics_bytesin_total", "Bytes.", topic="b").add(2)
    assert metrics.text() == (
        "# HELP kafka_server_brokertopicmetrics_bytesin_total Bytes.\n"
        "# TYPE kafka_server_brokertopicmetrics_bytesin_total counter\n"
        'kafka_server_brokertopicmetrics_bytesin_total{topic="a"} 6\n'
        'kafka_server_brokertopicmetrics_bytesin_total{topic="b"} 2\n'
    )


def test_every_metric_says_what_it_is() -> None:
    metrics = Metrics()
    metrics.counter("a_total", "Things that came.", topic="x")
    metrics.gauge("b", "Things that are there.", lambda: 1)
    metrics.durations("c", "How long things take.")
    metrics.summary("d", "How long others take.", Durations)
    heads = [line for line in metrics.text().splitlines() if line.startswith("#")]
    assert heads == [
        *("# HELP a_total Things that came.", "# TYPE a_total counter"),
        *("# HELP b Things that are there.", "# TYPE b gauge"),
        *("# HELP c How long things take.", "# TYPE c summary"),
        *("# HELP d How long others take.", "# TYPE d summary"),
    ]


def test_a_number_kept_elsewhere_that_only_grows_is_a_counter() -> None:
    metrics = Metrics()
    metrics.gauge("process_cpu_seconds_total", "Processor time.", lambda: 1)
    assert "# TYPE process_cpu_seconds_total counter\n" in metrics.text()


def test_what_comes_and_goes_between_two_lines_disturbs_nobody() -> None:
    metrics = Metrics()
    for topic in ("a", "b", "c"):
        metrics.counter("in", "Records.", topic=topic).add()
        metrics.durations("took", "Times.", topic=topic).record(1)
        metrics.summary("both", "Times.", Durations, topic=topic)
    lines = []
    for number, line in enumerate(metrics.lines()):
        lines.append(line)
        metrics.counter("in", "Records.", topic=f"new {number}")
        metrics.durations("took", "Times.", topic=f"new {number}")
        metrics.summary("both", "Times.", Durations, topic=f"new {number}")
        metrics.counter(f"new_{number}", "Others.")
    assert [line for line in lines if line.startswith("in{")][:3] == [
        'in{topic="a"} 1\n',
        'in{topic="b"} 1\n',
        'in{topic="c"} 1\n',
    ]
    assert not [line for line in lines if "new_" in line]


def test_gauges_are_read_when_somebody_looks() -> None:
    metrics = Metrics()
    values = {"x": 1.0}
    metrics.gauge("one", "A value.", lambda: values["x"])
    metrics.gauges("many", "Values.", lambda: [((("name", 'a"b\\c\n'),), 2.5)])
    values["x"] = 3
    assert "one 3\n" in metrics.text()
    assert 'many{name="a\\"b\\\\c\\n"} 2.5\n' in metrics.text()


def test_durations_are_written_as_a_summary_in_milliseconds() -> None:
    metrics = Metrics()
    timed = metrics.durations("kafka_network_requestmetrics_totaltimems", "Times.", request="Fetch")
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
    metrics.counter("in", "Records.", topic="gone").add()
    metrics.counter("in", "Records.", topic="kept").add()
    metrics.durations("took", "Times.", topic="gone").record(1)
    metrics.forget(topic="gone")
    assert "gone" not in metrics.text()
    assert 'in{topic="kept"} 1' in metrics.text()
