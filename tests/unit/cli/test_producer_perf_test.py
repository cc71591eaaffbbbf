"""Measure how fast records are written."""

import re
from pathlib import Path

import pytest

from moldau.cli.producer_perf_test import OPTIONS, payloads, settings, spread
from moldau.cli.terminal.failure import CommandFailed
from moldau.testing.broker import EmbeddedBroker
from unit.cli.command import run

TOTAL = re.compile(
    r"\d+ records sent, [\d.]+ records/sec \([\d.]+ MB/sec\), [\d.]+ ms avg latency, "
    r"[\d.]+ ms max latency, \d+ ms 50th, \d+ ms 95th, \d+ ms 99th, \d+ ms 99\.9th\.\n"
)


def test_records_are_written_and_measured(broker: EmbeddedBroker) -> None:
    done = run(
        *("kafka-producer-perf-test.sh", "--topic", "a", "--num-records", "500"),
        *("--record-size", "100", "--throughput", "-1", "--producer-props"),
        *(f"bootstrap.servers={broker.bootstrap_servers}", "acks=1"),
    )
    assert TOTAL.fullmatch(done.stdout), done
    (records,) = broker.wait_for_records("a", 500).values()
    assert {len(record.value or b"") for record in records} == {100}


def test_transactions_are_written_too(broker: EmbeddedBroker, bootstrap: str) -> None:
    done = run(
        *("producer-perf-test", bootstrap, "--topic", "b", "--num-records", "20"),
        *("--payload-monotonic", "--throughput", "1000", "--transaction-duration-ms", "5"),
    )
    assert done.stdout.startswith("20 records sent")
    (records,) = broker.wait_for_records("b", 20).values()
    values = [record.value for record in records]
    assert [b"%d" % number for number in range(20)] == [v for v in values if v and v.isdigit()]


def test_what_the_producer_counted_is_printed(bootstrap: str) -> None:
    done = run(
        *("producer-perf-test", bootstrap, "--topic", "c", "--num-records", "7"),
        *("--record-size", "10", "--throughput", "-1", "--print-metrics"),
    )
    _, empty, header, *metrics = done.stdout.splitlines()
    assert not empty
    assert re.fullmatch(r"Metric Name +Value", header)
    name = "producer-metrics:record-send-total:{client-id=perf-producer-client}"
    (sent,) = [line for line in metrics if line.startswith(name)]
    assert sent.endswith(" : 7.000")


def test_payloads_come_from_a_file_or_a_size(tmp_path: Path) -> None:
    file = tmp_path / "payloads.txt"
    file.write_text("one\ntwo\n")
    chosen = payloads(OPTIONS.parse(["--payload-file", str(file)]))
    assert {chosen(number) for number in range(50)} == {b"one", b"two"}
    file.write_text("")
    with pytest.raises(CommandFailed, match="Payload file is empty"):
        payloads(OPTIONS.parse(["--payload-file", str(file)]))
    with pytest.raises(CommandFailed, match="greater than zero"):
        payloads(OPTIONS.parse(["--record-size", "0"]))
    with pytest.raises(CommandFailed, match="No such file"):
        payloads(OPTIONS.parse(["--payload-file", str(tmp_path / "missing")]))


def test_several_settings_may_follow_one_option() -> None:
    assert spread(["--producer-props", "a=1", "b=2", "--topic", "t"]) == [
        *("--producer-props", "a=1", "--producer-props", "b=2", "--topic", "t"),
    ]
    with pytest.raises(CommandFailed, match=r"bootstrap\.servers"):
        settings(OPTIONS.parse([]))
    done = run("producer-perf-test", "--topic", "t", "--num-records", "1", "--throughput", "-1")
    assert "one of the arguments --record-size" in done.stderr
