"""Read a topic in a group and tell of all that happens in JSON."""

import json

from moldau.cli.verifiable_consumer import OPTIONS, settings
from unit.cli.command import run


def test_all_that_happens_is_told(bootstrap: str) -> None:
    run("console-producer", bootstrap, "--topic", "a", stdin="x\ny\nz\n")
    options = ("--group-id", "g", "--max-messages", "3", "--verbose")
    done = run("verifiable-consumer", bootstrap, "--topic", "a", *options)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["name"] for event in events[:3]] == [
        "startup_complete",
        "partitions_assigned",
        "records_consumed",
    ]
    assert events[2]["partitions"] == [
        {"topic": "a", "partition": 0, "count": 3, "minOffset": 0, "maxOffset": 2}
    ]
    assert [event["value"] for event in events if event["name"] == "record_data"] == list("xyz")
    (commit,) = (event for event in events if event["name"] == "offsets_committed")
    assert commit["offsets"] == [{"topic": "a", "partition": 0, "offset": 3}]
    assert events[-1]["name"] == "shutdown_complete"


def test_options_become_settings() -> None:
    given = OPTIONS.parse(
        [
            *("--broker-list", "b:1", "--group-id", "g", "--enable-autocommit"),
            *("--assignment-strategy", "org.apache.kafka.clients.consumer.StickyAssignor"),
        ]
    )
    found = settings(given)
    assert (found["enable.auto.commit"], found["partition.assignment.strategy"]) == (
        "true",
        "sticky",
    )
    assert found["allow.auto.create.topics"] == "false"
    done = run("verifiable-consumer", "--topic", "t", "--group-id", "g")
    assert done.stderr == 'Missing required argument "[broker-list]"\n'
