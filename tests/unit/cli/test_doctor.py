"""Show what a client at an address receives, and what is wrong with it."""

import json
import time

import pytest

from moldau.cli import doctor
from moldau.testing.broker import EmbeddedBroker
from unit.cli.command import run


def test_a_cluster_that_is_well(bootstrap: str) -> None:
    done = run("doctor", bootstrap)
    assert done.code == 0
    assert all(line.startswith("ok   ") for line in done.stdout.splitlines())
    assert "broker 0 is the controller" in done.stdout
    found = json.loads(run("doctor", bootstrap, "--format", "json").stdout)
    assert all(each["is_well"] for each in found)


@pytest.mark.parametrize("form", [(), ("--format", "json")])
def test_without_an_address_the_usual_one_is_asked_and_said(
    broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch, form: tuple[str, ...]
) -> None:
    assert doctor.DEFAULT_SERVER == "localhost:9092"
    monkeypatch.setattr(doctor, "DEFAULT_SERVER", broker.bootstrap_servers)
    done = run("doctor", *form)
    assert done.code == 0
    assert done.stderr == (
        f"asking {broker.bootstrap_servers}; --bootstrap-server names another address\n"
    )
    assert f"{broker.bootstrap_servers} answers" in done.stdout


def test_the_time_of_a_record_that_a_broker_stamped_is_seen(bootstrap: str) -> None:
    setting = ("--config", "message.timestamp.type=LogAppendTime")
    run("topics", bootstrap, "--create", "--topic", "stamped", *setting)
    run("console-producer", bootstrap, "--topic", "stamped", stdin="now\n")
    before = time.monotonic()
    (line,) = (
        each for each in run("doctor", bootstrap).stdout.splitlines() if "stamped a record" in each
    )
    assert float(line.split("record ")[1].split()[0]) <= time.monotonic() - before + 1


def test_disks_and_groups_with_their_lag_are_shown(bootstrap: str) -> None:
    run("console-producer", bootstrap, "--topic", "read", stdin="one\ntwo\nthree\n")
    reading = ("--group", "billing", "--from-beginning", "--max-messages", "1")
    run("console-consumer", bootstrap, "--topic", "read", *reading)
    shown = run("doctor", bootstrap).stdout
    assert "ok   group billing: 0 members, 2 records behind\n     It has no members now." in shown
    assert "of broker 0: " in shown
    assert "all 1 brokers speak the same versions" in shown


def test_brokers_that_are_not_up_are_not_waited_for() -> None:
    done = run("doctor", "--bootstrap-server", "127.0.0.1:1,127.0.0.1:2")
    assert done.code == 1
    assert done.stdout.count("cannot be reached from here\n     Is the broker up?") == 2
