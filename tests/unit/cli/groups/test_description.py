"""How far groups are, and who is in them."""

import json

import pytest

from moldau.cli.groups.description import assignment_text, print_members, state_row
from moldau.client.admin.groups import GroupDescription, MemberDescription
from moldau.client.blocking import Consumer
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker
from unit.cli.command import run


def test_members_are_shown_with_what_they_read(broker: EmbeddedBroker, bootstrap: str) -> None:
    run("console-producer", bootstrap, "--topic", "t", stdin="x\ny\n")
    with Consumer[bytes, bytes](
        bootstrap_servers=broker.bootstrap_servers, group_id="g", auto_offset_reset="earliest"
    ) as consumer:
        consumer.subscribe(["t"])
        while not consumer.poll(0.1, max_records=1):
            pass
        consumer.commit()
        offsets = run("consumer-groups", bootstrap, "--describe", "--group", "g").stdout
        members = ("--describe", "--group", "g", "--members", "--verbose")
        verbose = run("consumer-groups", bootstrap, *members).stdout
        data = run("consumer-groups", bootstrap, "--describe", "--group", "g", "--format", "json")
        refused = run(
            *("consumer-groups", bootstrap, "--reset-offsets", "--group", "g"),
            *("--to-latest", "--topic", "t", "--execute"),
        )
    header, row = offsets.split("\n")[1:3]
    assert header.startswith("GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-")
    assert row.split()[:6] == ["g", "t", "0", "1", "2", "1"]
    assert row.split()[7] == "/127.0.0.1"
    assert verbose.split("\n")[2].split()[-2:] == ["1", "t(0)"]
    (group,) = json.loads(data.stdout)
    assert (group["state"], group["offsets"][0]["lag"]) == ("Stable", 1)
    assert group["members"][0]["partitions"] == [["t", 0]]
    assert "'g' is inactive, but the current state is Stable." in refused.stdout


def test_partitions_are_shown_by_topic() -> None:
    partitions = [TopicPartition("b", 2), TopicPartition("a", 1), TopicPartition("a", 0)]
    assert assignment_text(partitions) == "a(0,1), b(2)"
    assert assignment_text([]) == "-"


def test_static_members_have_a_column(capsys: pytest.CaptureFixture[str]) -> None:
    member = MemberDescription("m", "static", "c", "/h", [])
    group = GroupDescription("g", "classic", "consumer", "Stable", "range", 1, [member], None)
    print_members(group, is_verbose=False)
    _, header, row = capsys.readouterr().out.splitlines()
    assert header.split()[2] == "GROUP-INSTANCE-ID"
    assert row.split() == ["g", "m", "static", "/h", "c", "0"]
    assert state_row(group, {1: "h:9"}) == ["g", "h:9  (1)", "range", "Stable", "1"]
