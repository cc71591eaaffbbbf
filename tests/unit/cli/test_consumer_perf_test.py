"""Measure how fast records are read."""

import re

from moldau.cli.consumer_perf_test import Consumption
from moldau.testing.broker import EmbeddedBroker
from unit.cli.command import run


def test_records_are_read_and_measured(bootstrap: str) -> None:
    run("console-producer", bootstrap, "--topic", "a", stdin="line\n" * 500)
    done = run("consumer-perf-test", bootstrap, "--topic", "a", "--messages", "500")
    header, row = done.stdout.splitlines()
    assert header == (
        "start.time, end.time, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, "
        "rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec"
    )
    assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{3}, \d{4}-", row)
    assert row.split(", ")[4] == "500"


def test_it_ends_when_nothing_comes(bootstrap: str) -> None:
    run("console-producer", bootstrap, "--topic", "b", stdin="line\n")
    options = ("--messages", "5", "--timeout", "500", "--hide-header", "--show-detailed-stats")
    done = run("consumer-perf-test", bootstrap, "--topic", "b", *options)
    assert done.code == 0
    assert "Exiting before consuming the expected number" in done.stdout


def test_reading_creates_no_topic(broker: EmbeddedBroker, bootstrap: str) -> None:
    run("consumer-perf-test", bootstrap, "--topic", "typo", "--messages", "1", "--timeout", "200")
    assert "typo" not in broker.look(lambda inside: set(inside.metadata.image.topics))


def test_a_window_is_what_came_since_the_last() -> None:
    seen = Consumption(0, count=100, size_bytes=1_048_576, window_start_ms=0)
    assert seen.window(1000).split(", ")[1:6] == ["0", "1.0000", "1.0000", "100", "100.0000"]
    seen.count += 10
    assert seen.window(2000).split(", ")[4] == "10"


def test_dates_and_metrics_are_printed_as_asked(bootstrap: str) -> None:
    run("console-producer", bootstrap, "--topic", "c", stdin="line\n" * 3)
    options = (
        "--messages",
        "3",
        "--hide-header",
        "--date-format",
        "'on' dd.MM.yy",
        "--print-metrics",
    )
    row, empty, header, *metrics = run(
        "consumer-perf-test", bootstrap, "--topic", "c", *options
    ).stdout.splitlines()
    assert re.match(r"on \d\d\.\d\d\.\d\d, on \d\d\.\d\d\.\d\d, ", row)
    assert not empty
    assert re.fullmatch(r"Metric Name +Value", header)
    name = "consumer-fetch-manager-metrics:fetch-total:{client-id=perf-consumer-client}"
    assert any(line.startswith(name) for line in metrics)


def test_a_date_format_that_means_nothing_is_one_line(bootstrap: str) -> None:
    options = ("--topic", "c", "--messages", "1", "--date-format", "jj")
    done = run("consumer-perf-test", bootstrap, *options)
    assert (done.code, done.stdout) == (1, "")
    assert done.stderr == "Illegal pattern character 'j'\n"


def test_the_brokers_must_be_named() -> None:
    done = run("consumer-perf-test", "--topic", "t", "--messages", "1", "--hide-header")
    assert done.stderr == 'Missing required argument "[broker-list]"\n'
