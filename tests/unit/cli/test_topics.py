"""Create, list, describe, change and delete topics; layouts are in the transcripts."""

import json
from pathlib import Path

import pytest

from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.topics import assignment, described_lines, is_selected, matching
from moldau.client.admin.configs import ConfigEntry, ConfigSource
from moldau.client.admin.topics import PartitionDescription, TopicDescription
from moldau.model import TopicPartition
from moldau.testing.broker import running_broker
from unit.cli.command import run


def partition(leader: int, replicas: list[int], isr: list[int]) -> PartitionDescription:
    return PartitionDescription(0, leader, 0, replicas, isr, [])


def setting(name: str, value: str, source: ConfigSource) -> ConfigEntry:
    return ConfigEntry(
        name,
        value,
        source,
        is_read_only=False,
        is_sensitive=False,
        synonyms=[],
        documentation=None,
    )


def test_json_has_what_the_lines_have(bootstrap: str) -> None:
    run("topics", bootstrap, "--create", "--topic", "a", "--partitions", "2")
    (topic,) = json.loads(
        run("topics", bootstrap, "--describe", "--topic", "a", "--format", "json").stdout
    )
    assert (topic["topic"], topic["replication_factor"], topic["configs"]) == ("a", 1, {})
    assert topic["partitions"][1] == {"partition": 1, "leader": 0, "replicas": [0], "isr": [0]}
    assert "a" in json.loads(run("topics", bootstrap, "--list", "--format", "json").stdout)


def test_a_broker_that_cannot_be_reached_is_one_line(tmp_path: Path) -> None:
    impatient = tmp_path / "client.properties"
    impatient.write_text("default.api.timeout.ms=1\n")
    where = ("--bootstrap-server", "127.0.0.1:1", "--command-config", str(impatient))
    done = run("topics", "--list", *where)
    assert done.code == 1
    assert done.stdout.startswith("Error while executing topic command : no broker could be")
    assert (done.stdout.count("\n"), done.stderr) == (1, "")


@pytest.mark.parametrize(
    ("name", "described", "is_wanted"),
    [
        ("under-replicated-partitions", partition(1, [1, 2], [1]), True),
        ("under-replicated-partitions", partition(1, [1, 2], [1, 2]), False),
        ("unavailable-partitions", partition(-1, [1, 2], [1]), True),
        ("under-min-isr-partitions", partition(1, [1, 2, 3], [1]), True),
        ("under-min-isr-partitions", partition(1, [1, 2, 3], [1, 2]), False),
        ("at-min-isr-partitions", partition(1, [1, 2, 3], [1, 2]), True),
    ],
)
def test_filters_choose_partitions(
    name: str, described: PartitionDescription, is_wanted: bool
) -> None:
    assert is_selected(described, [name], 2, is_moving=False) is is_wanted


def test_a_partition_that_moves_is_not_called_a_fault() -> None:
    behind = partition(1, [1, 2], [1])
    assert not is_selected(behind, ["under-replicated-partitions"], 2, is_moving=True)


def test_a_partition_without_a_leader_has_none() -> None:
    topic = TopicDescription("t", "ID", False, [partition(-1, [1, 2], [])], None)
    (line,) = described_lines([(topic, {})], ["unavailable-partitions"], {TopicPartition("t", 9)})
    assert line == (
        "\tTopic: t\tPartition: 0\tLeader: none\tReplicas: 1,2\tIsr: \tElr: N/A\tLastKnownElr: N/A"
    )


def test_only_settings_that_somebody_has_set_are_shown() -> None:
    topic = TopicDescription("t", "ID", False, [partition(1, [1], [1])], None)
    configs = {
        "segment.bytes": setting("segment.bytes", "7", ConfigSource.TOPIC),
        "retention.ms": setting("retention.ms", "9", ConfigSource.DEFAULT),
    }
    first, _ = described_lines([(topic, configs)], [])
    assert first.endswith("Configs: segment.bytes=7")
    assert list(described_lines([(topic, {})], ["topics-with-overrides"])) == []


def test_a_pattern_may_be_a_list() -> None:
    assert matching(["b", "a", "ab"], "a, b") == ["a", "b"]
    assert matching(["b", "a"], "") == ["a", "b"]


def test_replicas_are_read_by_partition() -> None:
    assert assignment("1:2,2:3") == [[1, 2], [2, 3]]
    with pytest.raises(CommandFailed, match="different replication factor"):
        assignment("1:2,3")
    with pytest.raises(CommandFailed, match="broker numbers are expected"):
        assignment("a")


def test_partitions_may_be_placed_when_a_topic_grows(bootstrap: str) -> None:
    run("topics", bootstrap, "--create", "--topic", "g")
    grow = ("--alter", "--topic", "g", "--partitions", "2", "--replica-assignment", "0,0")
    assert run("topics", bootstrap, *grow).code == 0
    assert "PartitionCount: 2" in run("topics", bootstrap, "--describe", "--topic", "g").stdout


def test_filters_count_for_programs_too() -> None:
    with running_broker({}) as empty:
        where = f"--bootstrap-server={empty.bootstrap_servers}"
        assert run("topics", where, "--list", "--format=json").stdout == "[]\n"
        assert run("topics", where, "--list").stdout == ""
        run("topics", where, "--create", "--topic", "plain")
        run("topics", where, "--create", "--topic", "own", "--config", "retention.ms=7")

        def names(*filters: str) -> list[str]:
            done = run("topics", where, "--describe", "--format=json", *filters)
            return [each["topic"] for each in json.loads(done.stdout)]

        assert names() == ["own", "plain"]
        assert names("--topics-with-overrides") == ["own"]
        assert names("--under-replicated-partitions") == []
        assert names("--at-min-isr-partitions") == ["own", "plain"]
    done = run("topics", "--zookeeper=z", "--list", "--format=json")
    assert done.stderr == "--format json is not there with --zookeeper\n"
