"""How long records took."""

import re

import pytest

from moldau.cli.performance.latencies import LatencyReport


def test_windows_and_the_total_are_told_as_apache_tells_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now_s = 0.0
    latencies = LatencyReport(100, now_s=lambda: now_s)
    for number in range(100):
        now_s = number / 10
        latencies.record(number, 1_048_576)
    now_s = 10.0
    first, *_ = capsys.readouterr().out.splitlines()
    assert first == (
        "51 records sent, 10.2 records/sec (10.20 MB/sec), 25.0 ms avg latency, "
        "50.0 ms max latency."
    )
    assert latencies.total() == (
        "100 records sent, 10.000000 records/sec (10.00 MB/sec), 49.50 ms avg latency, "
        "99.00 ms max latency, 50 ms 50th, 95 ms 95th, 99 ms 99th, 99 ms 99.9th."
    )


def test_no_records_are_no_failure() -> None:
    assert re.match("0 records sent, 0.000000 records/sec", LatencyReport(0).total())


def test_samples_are_bounded() -> None:
    latencies = LatencyReport(2_000_000)
    for _ in range(40):
        latencies.record(1, 1)
    assert len(latencies.samples_ms) == 10
