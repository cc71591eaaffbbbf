"""Print which requests each broker understands."""

import json

from moldau.cli.broker_api_versions import label, lines
from moldau.client.admin.description import BrokerDescription
from moldau.protocol.apis import APIS
from unit.cli.command import run


def test_every_request_has_its_line(bootstrap: str) -> None:
    done = run("kafka-broker-api-versions.sh", bootstrap)
    assert done.code == 0
    first, *rows, last = done.stdout.splitlines()
    assert first.endswith("(id: 0 rack: null) -> (")
    assert rows[0] == "\tProduce(0): 0 to 11 [usable: 11],"
    assert len(rows) == len(APIS)
    assert not rows[-1].endswith(",")
    assert last == ")"


def test_json_has_the_ranges(bootstrap: str) -> None:
    found = json.loads(run("broker-api-versions", bootstrap, "--format", "json").stdout)
    assert found["0"]["0"] == [0, 11]


def test_what_one_side_does_not_know_is_said() -> None:
    broker = BrokerDescription(3, "h", 1, "r")
    assert label(broker) == "h:1 (id: 3 rack: r)"
    text = "\n".join(lines(broker, {0: range(90, 95), 1: range(1), 999: range(2)}))
    assert "\tProduce(0): 90 to 94 [usable: none],\n" in text
    assert "\tFetch(1): 0 [usable: 0],\n" in text
    assert "\tMetadata(3): UNSUPPORTED,\n" in text
    assert text.endswith("\tUNKNOWN(999): 0 to 1\n)")


def test_the_address_must_be_said() -> None:
    assert run("broker-api-versions").stderr == 'Missing required argument "[bootstrap-server]"\n'
