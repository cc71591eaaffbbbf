"""Print the first, last or timed offsets of partitions; layouts are in the transcripts."""

import json

import pytest

from moldau.cli.get_offsets import OPTIONS, parse_time, partition_filter
from moldau.cli.terminal.failure import CommandFailed
from moldau.model import TopicPartition
from unit.cli.command import run

EVERY = [TopicPartition(topic, number) for topic in ("a", "ab", "c") for number in range(4)]


def chosen(*options: str) -> str:
    is_wanted = partition_filter(OPTIONS.parse(options))
    return " ".join(str(each) for each in EVERY if is_wanted(each))


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("a:1", "a-1"),
        ("a:1-3,c:0", "a-1 a-2 c-0"),
        ("a:2-", "a-2 a-3"),
        ("a:-1", "a-0"),
        (":3", "a-3 ab-3 c-3"),
        ("ab.*", "ab-0 ab-1 ab-2 ab-3"),
    ],
)
def test_rules_choose_partitions(rules: str, expected: str) -> None:
    assert chosen("--topic-partitions", rules) == expected


def test_topics_and_partitions_choose_too() -> None:
    assert chosen("--topic", "a,c", "--partitions", "0,3") == "a-0 a-3 c-0 c-3"


def test_a_rule_that_is_none_is_refused() -> None:
    with pytest.raises(CommandFailed, match="Invalid rule specification: a:b"):
        chosen("--topic-partitions", "a:b")
    done = run("get-offsets", "--topic-partitions", "a", "--topic", "a")
    assert "cannot be used with" in done.stderr


def test_times_have_names() -> None:
    assert [parse_time(each) for each in ("latest", "EARLIEST", "-3", "17")] == [-1, -2, -3, 17]


def test_json_has_what_the_lines_have(bootstrap: str) -> None:
    run("console-producer", bootstrap, "--topic", "j", stdin="x\n")
    done = run("get-offsets", bootstrap, "--topic", "j", "--format", "json")
    assert json.loads(done.stdout) == [{"topic": "j", "partition": 0, "offset": 1}]
