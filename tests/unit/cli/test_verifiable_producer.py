"""Write numbers to a topic and tell of each in JSON."""

import json

from moldau.cli.verifiable_producer import OPTIONS, settings
from moldau.errors import ErrorCode
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Fail
from unit.cli.command import run


def events(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_every_number_is_told(broker: EmbeddedBroker, bootstrap: str) -> None:
    options = ("--max-messages", "3", "--value-prefix", "7", "--repeating-keys", "2")
    done = run("verifiable-producer", bootstrap, "--topic", "a", *options)
    found = events(done.stdout)
    assert [event["name"] for event in found] == [
        "startup_complete",
        *["producer_send_success"] * 3,
        "shutdown_complete",
        "tool_data",
    ]
    assert [(event["key"], event["value"], event["offset"]) for event in found[1:4]] == [
        ("0", "7.0", 0),
        ("1", "7.1", 1),
        ("0", "7.2", 2),
    ]
    assert (found[-1]["sent"], found[-1]["acked"]) == (3, 3)


def test_a_failure_is_told(broker: EmbeddedBroker, bootstrap: str) -> None:
    run("topics", bootstrap, "--create", "--topic", "b")
    end = broker.control("Produce", lambda _: Fail(ErrorCode.TOPIC_AUTHORIZATION_FAILED))
    try:
        done = run("verifiable-producer", bootstrap, "--topic", "b", "--max-messages", "1")
    finally:
        end()
    failed = events(done.stdout)[1]
    assert failed["name"] == "producer_send_error"
    assert failed["exception"] == "TOPIC_AUTHORIZATION_FAILED"


def test_fewer_acknowledgements_go_without_idempotence() -> None:
    found = settings(OPTIONS.parse(["--broker-list", "b:1", "--acks", "1"]))
    assert (found["acks"], found["enable.idempotence"]) == ("1", "false")
    done = run("verifiable-producer", "--topic", "t")
    assert done.stderr == 'Missing required argument "[broker-list]"\n'
